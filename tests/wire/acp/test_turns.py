import pytest

from avatar_actors.model.events import DiagnosticEvent, TextEvent, ThinkingEvent, UnrecognisedEvent
from avatar_actors.model.values import CostSource, Level, Outcome, Usage
from avatar_actors.wire.acp.profile import AcpProfile
from avatar_actors.wire.commands import Cancel, Close, Open, Prompt, Steer
from avatar_actors.wire.facts import Fact, TurnOver
from avatar_actors.wire.json_values import RAW_LENGTH
from tests.wire.acp.digest import words
from tests.wire.acp.replay import (
    MAX_LINE,
    in_turn,
    line_of,
    opened,
    refusal,
    reply,
    sent,
    text,
    thought,
    update,
    update_of,
)

END = reply(2, {"stopReason": "end_turn"})


def over_in(facts: list[Fact]) -> TurnOver:
    [over] = [fact for fact in facts if isinstance(fact, TurnOver)]
    return over


@pytest.mark.parametrize(
    ("stop_reason", "outcome"),
    [
        ("end_turn", Outcome.COMPLETED),
        ("max_tokens", Outcome.COMPLETED),
        ("max_turn_requests", Outcome.COMPLETED),
        ("refusal", Outcome.REFUSED),
        ("cancelled", Outcome.CANCELLED),
        ("something_new", Outcome.COMPLETED),
    ],
)
def test_stop_reason_decides_the_outcome(stop_reason: str, outcome: Outcome) -> None:
    over = over_in(in_turn().receive(reply(2, {"stopReason": stop_reason})))
    assert (over.turn_id, over.outcome, over.stop_reason) == (1, outcome, stop_reason)


@pytest.mark.parametrize("result", [None, {}, [], "end_turn", {"stopReason": 7}])
def test_answer_without_a_stop_reason_is_a_failure(result: object) -> None:
    over = over_in(in_turn().receive(reply(2, result)))
    assert over.outcome is Outcome.FAILED
    assert over.error == "the agent answered without a stop reason"


def test_error_answer_is_a_failure_with_its_words() -> None:
    error = {"code": -32603, "message": "Internal error", "data": {"details": "why"}}
    over = over_in(in_turn().receive(line_of({"jsonrpc": "2.0", "id": 2, "error": error})))
    assert (over.outcome, over.error) == (Outcome.FAILED, "Internal error: why")


def test_error_that_is_no_object_is_kept_as_text() -> None:
    over = over_in(in_turn().receive(b'{"jsonrpc":"2.0","id":2,"error":"boom"}\n'))
    assert (over.outcome, over.error) == (Outcome.FAILED, '"boom"')


def test_all_text_of_one_write_comes_before_its_outcome() -> None:
    wire = in_turn()
    facts = wire.receive(text("a") * 1000 + END + text("late"))
    assert [type(fact) for fact in facts[:1000]] == [TextEvent] * 1000
    assert isinstance(facts[1000], TurnOver)
    assert isinstance(facts[1001], DiagnosticEvent)
    assert len(facts) == 1002


def test_late_updates_are_told_of_once_and_never_in_the_next_turn() -> None:
    wire = in_turn()
    wire.receive(END)
    late = text("x") + thought("y") + update("tool_call", toolCallId="t", title="z")
    assert len(wire.receive(late * 3)) == 1
    wire.command(Prompt(2, "next"))
    assert words(wire.receive(text("new"))) == ["text new"]


def test_text_of_a_message_of_the_last_turn_is_not_told_in_the_next() -> None:
    wire = in_turn()
    wire.receive(text("one", messageId="m1") + END)
    wire.command(Prompt(2, "next"))
    facts = wire.receive(text("late", messageId="m1") + text("two", messageId="m2"))
    assert [type(fact) for fact in facts] == [DiagnosticEvent, TextEvent]
    assert words(facts)[1] == "text two"


def test_duplicate_and_unknown_answers_end_no_turn() -> None:
    wire = in_turn()
    assert isinstance(wire.receive(END)[-1], TurnOver)
    wire.command(Prompt(2, "next"))
    for answer in (END, reply(99, {"stopReason": "end_turn"}), reply("3", {}), reply(None, {})):
        [fact] = wire.receive(answer)
        assert isinstance(fact, DiagnosticEvent)
    assert over_in(wire.receive(reply(3, {"stopReason": "end_turn"}))).turn_id == 2


def test_updates_of_another_session_are_left_out() -> None:
    wire = in_turn()
    chunk = {"type": "text", "text": "x"}
    [fact] = wire.receive(update_of("other", "agent_message_chunk", content=chunk) * 2)
    assert isinstance(fact, DiagnosticEvent)


def test_thought_is_closed_by_what_follows_it() -> None:
    wire = in_turn()
    facts = wire.receive(thought("I ") + thought("think") + text("answer") + text("!") + END)
    assert words(facts) == ["thought 11 I think", "text answer!", "over 1 completed end_turn"]


def test_thought_left_open_is_closed_before_the_outcome() -> None:
    facts = in_turn().receive(thought("hm") + END)
    last = [fact for fact in facts if isinstance(fact, ThinkingEvent)][-1]
    assert last.is_complete
    assert isinstance(facts[-1], TurnOver)


def test_each_message_id_is_a_block_of_thoughts() -> None:
    facts = in_turn().receive(thought("a", messageId="r1") + thought("b", messageId="r2"))
    thoughts = [fact for fact in facts if isinstance(fact, ThinkingEvent)]
    assert [(each.block_id, each.is_start, each.is_complete) for each in thoughts] == [
        ("r1", True, False),
        ("r1", False, True),
        ("r2", True, False),
    ]


def test_thoughts_never_become_text() -> None:
    facts = in_turn().receive((thought("secret") + text("open")) * 5 + END)
    told = "".join(fact.text for fact in facts if isinstance(fact, TextEvent))
    assert told == "open" * 5


def test_empty_chunks_and_the_prompt_told_back_say_nothing() -> None:
    wire = in_turn()
    echo = update("user_message_chunk", content={"type": "text", "text": "hello"})
    assert wire.receive(text("") + thought("") + echo) == []


def test_other_content_is_shown_as_far_as_it_is_text() -> None:
    link = {"type": "resource_link", "uri": "http://x", "name": "X"}
    note = {"type": "resource", "resource": {"uri": "a:b", "text": "note"}}
    image = {"type": "image", "mimeType": "image/png", "data": ""}
    lines = b"".join(update("agent_message_chunk", content=each) for each in (link, note, image))
    assert words(in_turn().receive(lines)) == [
        "text [X](http://x)note",
        "info the agent sent image/png content; left out",
    ]


def test_what_a_sub_agent_says_is_no_answer() -> None:
    meta = {"claudeCode": {"parentToolUseId": "toolu_1"}}
    facts = in_turn().receive(text("inner", _meta=meta) + text("outer"))
    assert words(facts) == ["agent sub-agent running  | inner", "text outer"]


def test_mode_notice_is_no_text() -> None:
    profile = AcpProfile(mode_notice="[MODE_UPDATE] ")
    wire = in_turn(profile)
    assert words(wire.receive(text("[MODE_UPDATE] plan") + text("x"))) == [
        "session mode plan",
        "text x",
    ]
    wire.receive(END)
    assert words(wire.receive(text("[MODE_UPDATE] yolo"))) == ["session mode yolo"]


def test_session_changes_may_come_at_any_time() -> None:
    wire = opened()
    commands = [{"name": "help", "description": "Helps"}]
    option = {"id": "model", "currentValue": "big", "options": [{"value": "big"}]}
    lines = (
        update("available_commands_update", availableCommands=commands)
        + update("current_mode_update", currentModeId="plan")
        + update("config_option_update", configOptions=[option])
        + update("session_info_update", title="A title")
        + update("usage_update", used=5, size=10)
    )
    assert words(wire.receive(lines)) == [
        "session commands ['help']",
        "session mode plan",
        "session model big",
        "session title A title",
        "context 5/10",
    ]


def test_plans_of_all_forms_are_plans() -> None:
    entries = [{"content": "one", "status": "completed", "priority": "high"}, {"content": "two"}]
    lines = (
        update("plan", entries=entries)
        + update("plan_update", plan={"planId": "p", "entries": entries})
        + update("plan_update", plan={"planId": "p", "content": "# Plan"})
        + update("plan_removed", planId="p")
    )
    both = "plan one completed, two pending"
    assert words(in_turn().receive(lines)) == [both, both, "plan # Plan pending", "plan "]


def test_cost_of_the_session_is_split_into_turns() -> None:
    wire = in_turn()

    def costs(amount: float) -> bytes:
        return update("usage_update", used=1, size=2, cost={"amount": amount, "currency": "USD"})

    first = over_in(wire.receive(costs(0.10) + costs(0.25) + END))
    assert first.usage.cost_usd == pytest.approx(0.25)
    wire.command(Prompt(2, "next"))
    # One that comes after its turn is found in the next turn: no money is lost.
    second = over_in(wire.receive(costs(0.40) + reply(3, {"stopReason": "end_turn"})))
    assert second.usage.cost_usd == pytest.approx(0.15)
    wire.command(Prompt(3, "next"))
    third = over_in(wire.receive(reply(4, {"stopReason": "end_turn"})))
    assert third.usage == Usage()


def test_money_of_another_kind_is_not_dollars() -> None:
    money = {"amount": 3, "currency": "EUR"}
    facts = in_turn().receive(update("usage_update", used=1, size=2, cost=money) + END)
    assert over_in(facts).usage.cost_usd is None


def test_tokens_told_in_empty_chunks_are_added_up() -> None:
    usage = {"usage": {"inputTokens": 10, "outputTokens": 2, "cachedReadTokens": 3}}
    facts = in_turn().receive(text("", _meta=usage) * 2 + END)
    assert words(facts)[1] == "used 20 in, 4 out, 6 cached, 0 thought"
    assert over_in(facts).usage.input_tokens == 20


def test_tokens_without_money_have_an_unknown_cost() -> None:
    answer = {"stopReason": "end_turn", "usage": {"inputTokens": 1, "outputTokens": 2}}
    cost, over = in_turn().receive(reply(2, answer))
    assert getattr(cost, "source", None) is CostSource.UNKNOWN
    assert isinstance(over, TurnOver)


def test_cancel_of_the_present_turn_tells_the_agent_and_waits_for_it() -> None:
    wire = in_turn()
    assert wire.command(Cancel(1)) == []
    [cancel] = sent(wire)
    assert (cancel["method"], "id" in cancel) == ("session/cancel", False)
    assert words(wire.receive(text("still"))) == ["text still"]
    assert over_in(wire.receive(reply(2, {"stopReason": "cancelled"}))).outcome is Outcome.CANCELLED


@pytest.mark.parametrize("turn_id", [0, 2])
def test_cancel_of_another_turn_does_nothing(turn_id: int) -> None:
    wire = in_turn()
    assert wire.command(Cancel(turn_id)) == []
    assert sent(wire) == []


def test_late_cancel_does_not_hit_the_next_turn() -> None:
    wire = in_turn()
    wire.receive(END)
    wire.command(Cancel(1))
    wire.command(Prompt(2, "next"))
    wire.command(Cancel(1))
    assert [message["method"] for message in sent(wire)] == ["session/prompt"]


def test_second_cancel_is_not_sent() -> None:
    wire = in_turn()
    wire.command(Cancel(1))
    wire.command(Cancel(1))
    assert len(sent(wire)) == 1


def test_error_after_a_cancel_is_its_acknowledgement() -> None:
    wire = in_turn()
    wire.command(Cancel(1))
    over = over_in(wire.receive(refusal(2, -32603, "aborted")))
    assert (over.outcome, over.error) == (Outcome.CANCELLED, "aborted")


def test_cancelled_request_is_a_cancelled_turn() -> None:
    assert over_in(in_turn().receive(refusal(2, -32800, "x"))).outcome is Outcome.CANCELLED


def test_answer_that_was_finished_before_the_cancel_is_complete() -> None:
    wire = in_turn()
    wire.receive(text("all of it"))
    wire.command(Cancel(1))
    assert over_in(wire.receive(END)).outcome is Outcome.COMPLETED


def test_cancelled_turn_that_shows_nothing_is_not_complete() -> None:
    wire = in_turn()
    wire.command(Cancel(1))
    over = over_in(wire.receive(END))
    assert (over.outcome, over.stop_reason) == (Outcome.CANCELLED, "end_turn")


def test_prompt_during_a_turn_is_rejected_unsent() -> None:
    wire = in_turn()
    [over] = wire.command(Prompt(2, "me too"))
    assert isinstance(over, TurnOver)
    assert (over.turn_id, over.outcome) == (2, Outcome.REJECTED)
    assert sent(wire) == []


def test_steering_goes_to_an_agent_that_can() -> None:
    wire = in_turn(None, _meta={"steering": {"supported": True}})
    assert wire.command(Steer(1, "faster")) == []
    [message] = sent(wire)
    assert message["method"] == "_session/steering"
    assert message["params"]["prompt"] == [{"type": "text", "text": "faster"}]
    assert wire.receive(reply(3, {"outcome": "injected"})) == []
    wire.command(Steer(1, "slower"))
    assert words(wire.receive(reply(4, {"outcome": "failed"}))) == [
        "warning what was said into the turn did not reach it…"
    ]


def test_steering_of_an_agent_that_cannot_is_remarked_on() -> None:
    wire = in_turn()
    [fact] = wire.command(Steer(1, "faster"))
    assert isinstance(fact, DiagnosticEvent)
    assert sent(wire) == []


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1",'
        b'"update":{"sessionUpdate":"brand_new","x":1}}}',
        b'{"jsonrpc":"2.0","method":"_vendor/news","params":{}}',
        b'{"jsonrpc":"2.0","method":"session/update","params":5}',
        b'{"id":1}',
        b'{"hello":"world"}',
        b'{"jsonrpc":"2.0","id":{},"method":"x"}',
        b'{"n":1e999}',
    ],
)
def test_unknown_messages_are_kept_as_they_came(line: bytes) -> None:
    [fact] = in_turn().receive(line + b"\n")
    if isinstance(fact, UnrecognisedEvent):
        assert fact.raw == line.decode()
    else:
        # A number beyond all numbers cannot be read at all.
        assert isinstance(fact, DiagnosticEvent)
        assert line == b'{"n":1e999}'


def test_long_unknown_message_is_cut() -> None:
    [fact] = in_turn().receive(line_of({"x": "y" * (RAW_LENGTH + 10)}))
    assert isinstance(fact, UnrecognisedEvent)
    assert len(fact.raw) == RAW_LENGTH


@pytest.mark.parametrize(
    "line", [b"null", b"[1]", b"7", b'"x"', b"\xff\xfe", b"{", b"[" * 100_000, b"\x00"]
)
def test_garbage_is_a_diagnostic(line: bytes) -> None:
    [fact] = in_turn().receive(line + b"\n")
    assert isinstance(fact, DiagnosticEvent)
    assert len(fact.message) < 1500


def test_blank_lines_and_carriage_returns_are_nothing() -> None:
    wire = in_turn()
    assert wire.receive(b"\r\n  \n\t\n") == []
    assert words(wire.receive(text("x").replace(b"\n", b"\r\n"))) == ["text x"]


def test_line_over_the_cap_fails_alone() -> None:
    wire = in_turn()
    facts = wire.receive(text("a")) + wire.receive(text("x" * MAX_LINE)) + wire.receive(text("b"))
    assert words(facts)[0] == "text a"
    assert words(facts)[2] == "text b"
    assert isinstance(facts[1], DiagnosticEvent)


def test_end_of_stream_tells_of_half_a_line() -> None:
    wire = in_turn()
    wire.receive(text("whole") + b'{"jsonrpc":"2.0","met')
    [fact] = wire.end_of_stream()
    assert isinstance(fact, DiagnosticEvent)
    assert wire.end_of_stream() == []


def test_whole_message_without_its_newline_counts_at_the_end() -> None:
    wire = in_turn()
    assert wire.receive(END.rstrip()) == []
    assert over_in(wire.end_of_stream()).outcome is Outcome.COMPLETED


def test_goodbye_cancels_the_turn_and_closes_the_session() -> None:
    wire = in_turn(None, agentCapabilities={"sessionCapabilities": {"close": {}}})
    wire.command(Close())
    assert [message["method"] for message in sent(wire)] == ["session/cancel", "session/close"]
    assert wire.receive(text("x") + END + b"garbage\n") == []
    [over] = wire.command(Prompt(2, "x"))
    assert isinstance(over, TurnOver)
    assert over.outcome is Outcome.REJECTED


def test_wire_is_opened_once() -> None:
    wire = opened()
    [fact] = wire.command(Open(cwd="/sandbox"))
    assert isinstance(fact, DiagnosticEvent)
    assert sent(wire) == []


def test_what_was_written_to_a_cache_is_input() -> None:
    usage = {"inputTokens": 5, "cachedWriteTokens": 7, "cachedReadTokens": 3, "outputTokens": 1}
    facts = in_turn().receive(reply(2, {"stopReason": "end_turn", "usage": usage}))
    used = over_in(facts).usage
    assert (used.input_tokens, used.cached_tokens, used.tokens) == (12, 3, 16)


def test_a_notice_is_a_diagnostic_and_no_text_in_a_turn_and_outside() -> None:
    wire = in_turn()
    notice = update("notice", severity="warning", title="Unknown model", description="a guess")
    facts = wire.receive(text("Hel") + notice + text("lo") + END + notice)
    assert words([fact for fact in facts if isinstance(fact, TextEvent)]) == ["text Hello"]
    told = [fact for fact in facts if isinstance(fact, DiagnosticEvent)]
    assert [(each.message, each.level, each.source) for each in told] == [
        ("Unknown model: a guess", Level.WARNING, "agent")
    ] * 2


@pytest.mark.parametrize(
    ("severity", "level"),
    [("info", Level.INFO), ("error", Level.ERROR), ("_own", Level.INFO)],
)
def test_the_severity_of_a_notice_is_the_level_of_its_diagnostic(
    severity: str, level: Level
) -> None:
    [fact] = in_turn().receive(update("notice", severity=severity, title="x", description=[1]))
    assert isinstance(fact, DiagnosticEvent)
    assert (fact.message, fact.level) == ("x", level)


def test_a_compaction_is_told_without_its_summary() -> None:
    begun = update("compaction_update", compactionId="c", status="in_progress")
    content = {"type": "text", "text": "what was said"}
    chunk = update("compaction_summary_chunk", compactionId="c", content=content)
    failed = update("compaction_update", compactionId="c", status="failed", error="too long")
    told = in_turn().receive(begun + chunk + failed)
    assert [fact.message for fact in told if isinstance(fact, DiagnosticEvent)] == [
        "the agent is compacting its context",
        "the agent could not compact its context: too long",
    ]
    assert len(told) == 2
