"""What belongs to a turn of Claude Code, and when it ends."""

from typing import Any

import pytest

from avatar_actors.model.events import (
    ActivityEvent,
    DiagnosticEvent,
    TextEvent,
    ThinkingEvent,
    ToolEvent,
)
from avatar_actors.model.values import Outcome, ToolStatus
from avatar_actors.wire.claude.wire import ClaudeWire
from avatar_actors.wire.commands import Cancel, Close, Prompt, Steer
from avatar_actors.wire.facts import Fact, TurnOver
from tests.wire.claude.replay import line_of, opened, said, success
from tests.wire.digest import digest

STRAY = "warning the agent went on outside of any turn; what …"


def text(words: str, **more: Any) -> bytes:
    delta = {"type": "text_delta", "text": words}
    event = {"type": "content_block_delta", "index": 0, "delta": delta}
    return line_of({"type": "stream_event", "event": event, "parent_tool_use_id": None, **more})


def whole(*blocks: dict[str, Any], message_id: str = "m1", **more: Any) -> bytes:
    message = {"id": message_id, "role": "assistant", "content": list(blocks)}
    return line_of({"type": "assistant", "message": message, "parent_tool_use_id": None, **more})


def stream(kind: str, **event: Any) -> bytes:
    return line_of({"type": "stream_event", "event": {"type": kind, **event}})


def tool(tool_id: str = "t1", name: str = "Bash") -> bytes:
    return whole({"type": "tool_use", "id": tool_id, "name": name, "input": {"command": "ls"}})


def outcome(tool_id: str = "t1", content: Any = "ok", *, is_error: bool = False) -> bytes:
    block = {"type": "tool_result", "tool_use_id": tool_id, "content": content}
    message = {"role": "user", "content": [{**block, "is_error": is_error}]}
    return line_of({"type": "user", "message": message, "parent_tool_use_id": None})


def result(**more: Any) -> bytes:
    fields = {"type": "result", "subtype": "success", "is_error": False, "stop_reason": "end_turn"}
    return line_of({**fields, **more})


def state(name: str) -> bytes:
    return line_of({"type": "system", "subtype": "session_state_changed", "state": name})


def lifecycle(uuid: str, name: str) -> bytes:
    return line_of({"type": "command_lifecycle", "command_uuid": uuid, "state": name})


def prompt(wire: ClaudeWire, turn_id: int = 1) -> str:
    assert wire.command(Prompt(turn_id, "go")) == []
    [line] = said(wire)
    return str(line["uuid"])


def in_turn() -> ClaudeWire:
    wire = opened()
    prompt(wire)
    return wire


def over(facts: list[Fact]) -> TurnOver:
    [fact] = [fact for fact in facts if isinstance(fact, TurnOver)]
    return fact


def test_without_states_the_result_ends_the_turn() -> None:
    facts = in_turn().receive(text("hi") + result())
    assert digest(facts) == ["text hi", "over 1 completed end_turn"]


def test_with_states_only_idle_ends_the_turn() -> None:
    wire = in_turn()
    data = state("running") + text("a") + result() + text("b")
    assert digest(wire.receive(data)) == ["text ab"]
    assert digest(wire.receive(state("idle"))) == ["over 1 completed end_turn"]


def test_an_idle_from_before_the_prompt_ends_nothing() -> None:
    wire = in_turn()
    assert wire.receive(state("idle")) == []
    assert digest(wire.receive(state("running") + text("a"))) == ["text a"]


def test_idle_without_a_result_is_a_failure() -> None:
    fact = over(in_turn().receive(state("running") + state("idle")))
    assert (fact.outcome, fact.error) == (
        Outcome.FAILED,
        "the agent ended its turn without a result",
    )


def test_text_after_the_end_is_left_out_and_remarked_once() -> None:
    wire = in_turn()
    wire.receive(text("a") + result())
    assert digest(wire.receive(text("b") * 3 + tool() + outcome())) == [STRAY]


def test_late_text_never_gets_into_the_next_turn_of_an_agent_with_lifecycles() -> None:
    wire = opened()
    first = prompt(wire, 1)
    wire.receive(lifecycle(first, "started") + text("a") + result(user_message_uuids=[first]))
    second = prompt(wire, 2)
    facts = wire.receive(text("late") + lifecycle(second, "started") + text("b"))
    assert digest(facts) == [STRAY, "text b"]


def test_the_end_of_a_run_that_nobody_asked_for_does_not_end_the_turn() -> None:
    wire = opened()
    first = prompt(wire, 1)
    wire.receive(lifecycle(first, "started") + state("running") + result() + state("idle"))
    second = prompt(wire, 2)
    woken = {"origin": {"kind": "task-notification", "runId": "x"}, "result": "done"}
    assert digest(wire.receive(state("running") + result(**woken) + state("idle"))) == []
    data = lifecycle(second, "started") + state("running") + text("b") + result() + state("idle")
    assert digest(wire.receive(data))[-1] == "over 2 completed end_turn"


def test_a_prompt_folded_into_a_foreign_run_ends_with_it() -> None:
    wire = opened()
    first = prompt(wire, 1)
    wire.receive(lifecycle(first, "started") + state("running") + result() + state("idle"))
    wire.receive(state("running"))
    second = prompt(wire, 2)
    woken = {"origin": {"kind": "task-notification", "runId": "x"}}
    data = lifecycle(second, "started") + text("both") + result(**woken) + state("idle")
    assert digest(wire.receive(data))[-1] == "over 2 completed end_turn"


def test_the_result_of_another_message_is_not_ours() -> None:
    wire = in_turn()
    assert digest(wire.receive(result(user_message_uuids=["other"]))) == []


def test_a_result_that_comes_twice_is_remarked() -> None:
    wire = in_turn()
    wire.receive(result(uuid="r1"))
    prompt(wire, 2)
    assert digest(wire.receive(result(uuid="r1"))) == ["warning a result came twice"]


def test_a_result_outside_of_any_turn_is_remarked_and_paid() -> None:
    facts = opened().receive(result(usage={"input_tokens": 3}, total_cost_usd=0.5))
    assert digest(facts) == ["cost 3+0 $0.500000", "warning a result came outside of any turn"]


def test_the_text_of_a_result_is_taken_when_there_was_no_other() -> None:
    facts = in_turn().receive(result(result="Total cost: $0"))
    assert facts[0] == TextEvent(text="Total cost: $0", is_complete=True)


@pytest.mark.parametrize(
    ("fields", "end"),
    [
        ({"stop_reason": "refusal", "result": "I cannot"}, "over 1 refused refusal I cannot"),
        ({"is_error": True, "result": "API Error"}, "over 1 failed success API Error"),
        (
            {"is_error": True, "subtype": "error_max_turns", "terminal_reason": "max_turns"},
            "over 1 failed max_turns error_max_turns",
        ),
        (
            {"is_error": True, "api_error_status": 401, "result": "Not logged in"},
            "over 1 failed success Not logged in (HTTP 401) Run `claude` once a…",
        ),
        ({"is_error": True, "terminal_reason": "aborted_tools"}, "over 1 cancelled aborted_tools"),
        ({"is_error": None, "subtype": 7, "usage": [], "errors": {}}, "over 1 completed end_turn"),
    ],
)
def test_what_a_result_means(fields: dict[str, Any], end: str) -> None:
    assert digest(in_turn().receive(result(**fields)))[-1] == end


def test_a_cancel_of_another_turn_does_nothing() -> None:
    wire = in_turn()
    assert wire.command(Cancel(2)) == []
    assert wire.data_to_send() == b""


def test_a_cancel_is_said_once_and_acknowledged_by_the_result() -> None:
    wire = in_turn()
    assert wire.command(Cancel(1)) == []
    assert wire.command(Cancel(1)) == []
    [line] = said(wire)
    assert line["request"] == {"subtype": "interrupt"}
    wire.receive(tool() + success(line["request_id"], {"still_queued": []}))
    facts = wire.receive(result(is_error=True, subtype="error_during_execution"))
    assert digest(facts) == [
        "Bash cancelled",
        "over 1 cancelled error_during_execution",
    ]


def test_an_answer_that_was_faster_than_the_cancel_is_complete() -> None:
    wire = in_turn()
    wire.command(Cancel(1))
    assert over(wire.receive(text("all") + result())).outcome is Outcome.COMPLETED


def test_a_prompt_that_still_waits_when_it_is_cancelled_is_taken_back() -> None:
    wire = opened()
    uuid = prompt(wire)
    wire.command(Cancel(1))
    [interrupt] = said(wire)
    wire.receive(success(interrupt["request_id"], {"still_queued": [uuid]}))
    [back] = said(wire)
    assert back["request"] == {"subtype": "cancel_async_message", "message_uuid": uuid}
    fact = over(wire.receive(success(back["request_id"], {"cancelled": True})))
    assert fact.outcome is Outcome.CANCELLED


def test_a_prompt_that_began_while_it_was_taken_back_is_interrupted_again() -> None:
    wire = opened()
    uuid = prompt(wire)
    wire.command(Cancel(1))
    [interrupt] = said(wire)
    wire.receive(success(interrupt["request_id"], {"still_queued": [uuid]}))
    [back] = said(wire)
    began = lifecycle(uuid, "started") + success(back["request_id"], {"cancelled": False})
    assert wire.receive(began) == []
    [again] = said(wire)
    assert again["request"] == {"subtype": "interrupt"}
    wire.receive(success(again["request_id"], {"still_queued": []}))
    facts = wire.receive(result(is_error=True, terminal_reason="aborted_streaming"))
    assert over(facts).outcome is Outcome.CANCELLED


def test_an_interrupted_message_is_over_at_idle_and_not_when_it_is_called_cancelled() -> None:
    wire = opened()
    uuid = prompt(wire)
    wire.receive(state("running") + lifecycle(uuid, "started") + text("a"))
    wire.command(Cancel(1))
    aborted = result(is_error=True, terminal_reason="aborted_streaming", user_message_uuids=[uuid])
    assert wire.receive(aborted + lifecycle(uuid, "cancelled")) == []
    assert digest(wire.receive(state("idle"))) == ["over 1 cancelled aborted_streaming"]


def test_a_late_acknowledgement_does_not_take_back_the_next_prompt() -> None:
    wire = in_turn()
    wire.command(Cancel(1))
    [interrupt] = said(wire)
    wire.receive(result())
    queued = prompt(wire, 2)
    wire.receive(success(interrupt["request_id"], {"still_queued": [queued]}))
    assert wire.data_to_send() == b""


def test_what_was_said_into_a_turn_and_not_heard_does_not_start_another() -> None:
    wire = in_turn()
    assert wire.command(Steer(1, "also")) == []
    [steer] = said(wire)
    assert steer["message"] == {"role": "user", "content": "also"}
    wire.receive(result())
    [back] = said(wire)
    assert back["request"]["message_uuid"] == steer["uuid"]


def test_what_was_heard_is_not_taken_back() -> None:
    wire = in_turn()
    wire.command(Steer(1, "also"))
    [steer] = said(wire)
    wire.receive(lifecycle(str(steer["uuid"]), "started") + result())
    assert wire.data_to_send() == b""


def test_nothing_is_said_into_a_turn_that_does_not_run() -> None:
    wire = opened()
    [fact] = wire.command(Steer(1, "also"))
    assert isinstance(fact, DiagnosticEvent)
    assert wire.data_to_send() == b""


def test_a_second_prompt_during_a_turn_is_rejected() -> None:
    wire = in_turn()
    assert over(wire.command(Prompt(2, "too early"))).outcome is Outcome.REJECTED
    assert over(wire.receive(result())).turn_id == 1


def test_after_the_goodbye_nothing_is_told_of_the_turn() -> None:
    wire = in_turn()
    wire.command(Close())
    assert wire.receive(text("a") + tool() + outcome() + result()) == []


def test_a_streamed_message_is_not_told_again_as_a_whole() -> None:
    data = stream("message_start", message={"id": "m1"})
    data += stream("content_block_start", index=0, content_block={"type": "text", "text": ""})
    data += text("hel") + text("lo") + whole({"type": "text", "text": "hello"})
    data += stream("content_block_stop", index=0)
    assert in_turn().receive(data) == [TextEvent(text="hel"), TextEvent(text="lo")]


def test_a_message_that_was_not_streamed_is_told_as_a_whole() -> None:
    data = stream("message_start", message={"id": "m0"})
    data += stream("content_block_start", index=0, content_block={"type": "text", "text": ""})
    data += text("x") + whole({"type": "text", "text": "other"}, message_id="m2")
    assert in_turn().receive(data)[-1] == TextEvent(text="other", is_complete=True)


def test_a_thought_begins_and_ends_and_is_no_text() -> None:
    data = stream("message_start", message={"id": "m1"})
    data += stream("content_block_start", content_block={"type": "thinking", "thinking": ""})
    for piece in ("**Plan**", " read it"):
        delta = {"type": "thinking_delta", "thinking": piece}
        data += stream("content_block_delta", delta=delta)
    data += whole({"type": "thinking", "thinking": "**Plan** read it"})
    facts = in_turn().receive(data + stream("content_block_stop"))
    thoughts = [fact for fact in facts if isinstance(fact, ThinkingEvent)]
    assert len(thoughts) == len(facts) == 3
    assert [(one.is_start, one.is_complete) for one in thoughts] == [
        (True, False),
        (False, False),
        (False, True),
    ]
    assert {one.subject for one in thoughts} == {"Plan"}


def test_hidden_thinking_still_tells_its_tokens() -> None:
    data = stream("content_block_start", content_block={"type": "thinking", "thinking": ""})
    data += line_of({"type": "system", "subtype": "thinking_tokens", "estimated_tokens": 40})
    [fact] = in_turn().receive(data + stream("content_block_stop"))
    assert isinstance(fact, ThinkingEvent)
    assert (fact.is_start, fact.is_complete, fact.token_count) == (True, True, 40)


def test_a_tool_result_may_be_a_list_of_blocks() -> None:
    blocks = [{"type": "text", "text": "one"}, {"type": "image"}, {"type": "text", "text": "two"}]
    fact = in_turn().receive(tool() + outcome(content=blocks))[-1]
    assert isinstance(fact, ToolEvent)
    assert (fact.status, fact.result) == (ToolStatus.COMPLETED, "one\n[image]\ntwo")


def test_a_tool_of_an_earlier_turn_is_fenced_off() -> None:
    wire = in_turn()
    assert digest(wire.receive(tool("t1") + result()))[-2] == "Bash unknown"
    prompt(wire, 2)
    found = digest(wire.receive(outcome("t1") + tool("t1")))
    assert found == ["warning a result came for a tool call that is not op…"]


def test_todos_are_a_plan() -> None:
    todos = [{"content": "look", "status": "in_progress", "activeForm": "looking"}]
    block = {"type": "tool_use", "id": "t1", "name": "TodoWrite", "input": {"todos": todos}}
    assert digest(in_turn().receive(whole(block))) == ["TodoWrite started", "plan 1"]


def test_a_sub_agent_that_is_known_only_by_its_words_ends_with_its_call() -> None:
    said_inside = whole({"type": "text", "text": "inside"}, parent_tool_use_id="t1")
    facts = in_turn().receive(tool("t1", "Task") + said_inside + outcome("t1"))
    activities = [fact for fact in facts if isinstance(fact, ActivityEvent)]
    assert [one.status.value for one in activities] == ["running", "completed"]
    assert {(one.activity_id, one.output) for one in activities} == {("t1", "inside")}


def test_the_cost_of_an_old_agent_is_the_difference() -> None:
    wire = in_turn()
    assert over(wire.receive(result(total_cost_usd=0.25))).usage.cost_usd == 0.25
    prompt(wire, 2)
    assert over(wire.receive(result(total_cost_usd=0.75))).usage.cost_usd == 0.5


def test_the_restored_cost_of_a_resumed_session_is_not_paid_again() -> None:
    wire = opened(resume="s-1")
    prompt(wire)
    used = {"opus": {"inputTokens": 3, "outputTokens": 4, "costUSD": 0.01}}
    facts = wire.receive(result(total_cost_usd=9.0, model_usage_since_last_result=used))
    assert over(facts).usage.cost_usd == 0.01


def test_a_sub_agents_stream_is_not_the_answer() -> None:
    assert in_turn().receive(text("inside", parent_tool_use_id="t1")) == []


def test_a_message_that_is_called_cancelled_after_its_result_has_that_result() -> None:
    wire = opened()
    uuid = prompt(wire)
    assert wire.receive(state("idle") + result() + lifecycle(uuid, "cancelled")) == []
    assert over(wire.receive(state("idle"))).outcome is Outcome.COMPLETED
