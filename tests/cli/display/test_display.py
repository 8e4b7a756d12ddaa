"""The display as a function: events in, lines out."""

from typing import Any

import pytest

from avatar_actors import (
    ActivityEvent,
    ActivityStatus,
    BridgeState,
    ContextEvent,
    CostEvent,
    CostSource,
    DiagnosticEvent,
    EngineState,
    EngineStateEvent,
    ErrorEvent,
    Level,
    Outcome,
    PermissionClosedEvent,
    PermissionEvent,
    PermissionOption,
    Permit,
    PlanEntry,
    PlanEvent,
    ProviderCapabilities,
    SessionInfoEvent,
    StateEvent,
    TextEvent,
    ThinkingEvent,
    ToolEvent,
    ToolStatus,
    TurnEndedEvent,
    TurnStartedEvent,
    Usage,
)
from avatar_actors.cli.display import Display, Style
from tests.cli.display.seen import NOW, PLAIN, assert_fits, finished, frame, plain, told
from tests.thorough import for_conformance

WIDTHS = (40, 80, 200)
STARTED = TurnStartedEvent(turn_id=1, prompt="do it", provider="embedded")
THINKING = EngineStateEvent(new_state=EngineState.THINKING, turn_id=1)


def tool(number: int, status: ToolStatus = ToolStatus.STARTED, **more: str) -> ToolEvent:
    return ToolEvent(
        tool_name="Read", tool_id=f"t{number}", parameters={"path": f"{number}.txt"},
        status=status, turn_id=1, result=more.get("result"), error=more.get("error"),
        parent_id=more.get("parent_id", ""),
    )  # fmt: skip


def test_spinner_tells_the_subject_and_for_how_long() -> None:
    display = told(STARTED, THINKING, ThinkingEvent(subject="Reading \x1b[31mcode", is_start=True))
    assert "⠋ Reading code (12s)" in frame(display, now=NOW + 12)


def test_spinner_alone_changes_between_two_frames() -> None:
    display = told(STARTED, THINKING)
    one, two = display.frame(80, 24, NOW), display.frame(80, 24, NOW + 0.1)
    assert sum(a != b for a, b in zip(one, two, strict=True)) == 1


def test_thought_is_shown_only_when_asked_for() -> None:
    thought = ThinkingEvent(thought="**Look**\nfirst here", is_start=True, block_id="b")
    assert "first here" not in frame(told(thought))
    display = told(thought, style=Style(colour=False, show_thinking=True))
    assert finished(display).split("\n")[0] == "💭 Look"
    assert "   first here" in frame(display)


def test_answer_is_markdown_and_only_its_last_block_is_open() -> None:
    display = told(STARTED, TextEvent(text="# Head\n\nsome **bold** text\n\n- one\n- two\n"))
    assert finished(display) == "Head\n\nsome bold text\n\n • one"
    assert " • two" in frame(display)
    assert finished(display) == ""


def test_code_is_highlighted_and_can_be_copied() -> None:
    display = told(TextEvent(text="```python\nif x:\n    return 1\n```\n"), style=Style())
    display.flush()
    lines = display.finished(80)
    assert plain(lines) == ["  if x:", "      return 1"]
    assert any("\x1b[" in line for line in lines)


def test_a_failure_is_red_and_a_warning_yellow() -> None:
    display = Display(Style())
    display.tell(TurnEndedEvent(outcome=Outcome.TIMED_OUT), 0.0)
    display.tell(DiagnosticEvent(message="90%", level=Level.WARNING, source="budget"), 0.0)
    failed, *_, warning = display.finished(80)
    assert failed.startswith("\x1b[31m")
    assert warning.startswith("\x1b[33m")


def test_without_colour_there_are_no_codes_at_all() -> None:
    display = told(
        STARTED, tool(1), TextEvent(text="**b**\n\n```py\nx = 1\n```\n"), style=Style(colour=False)
    )
    assert "\x1b" not in "".join([*display.finished(80), *display.frame(80, 24, NOW)])


def test_without_unicode_our_own_signs_are_ascii() -> None:
    display = told(
        STARTED, THINKING, PlanEvent(entries=(PlanEntry("step"),)), tool(1),
        tool(2, ToolStatus.FAILED, error="no"), TextEvent(text="- a\n\n> b\n\n|a|\n|-|\n|b|\n"),
        style=Style(colour=False, unicode=False),
    )  # fmt: skip
    living = frame(display)
    display.flush()
    assert (living + finished(display)).isascii()


def test_tools_are_in_one_box_with_state_time_and_the_end_of_their_output() -> None:
    display = told(STARTED, tool(1), tool(2))
    display.tell(tool(1, ToolStatus.COMPLETED, result="a\nb\n\x1b[32mthe end\x1b[0m\n"), NOW + 0.3)
    living = frame(display, now=NOW + 2)
    assert "┌─ Tools · 1/2 done" in living
    assert "│ ✓ Read: 1.txt (0.3s)\n│   the end\n" in living
    assert "Read: 2.txt (2s)" in living
    display.tell(tool(2, ToolStatus.FAILED, error="no such file"), NOW + 3)
    display.tell(TextEvent(text="so"), NOW + 3)
    above = finished(display)
    assert "│ ✗ Read: 2.txt (3.0s)\n│   no such file" in above
    assert "Tools" not in frame(display)


def test_text_before_a_tool_stands_above_its_box() -> None:
    display = told(TextEvent(text="first"), tool(1, ToolStatus.COMPLETED), TextEvent(text="then"))
    display.flush()
    lines = finished(display)
    assert lines.index("first") < lines.index("Tools") < lines.index("then")


@pytest.mark.parametrize(
    ("status", "sign"),
    [
        (ToolStatus.PENDING, "⏳ Read"),
        (ToolStatus.APPROVAL, "⏳ Read: 1.txt (waits for your answer)"),
        (ToolStatus.STARTED, "⠋ Read"),
        (ToolStatus.COMPLETED, "✓ Read"),
        (ToolStatus.FAILED, "✗ Read"),
        (ToolStatus.CANCELLED, "⊘ Read: 1.txt (0.0s) cancelled"),
        (ToolStatus.UNKNOWN, "? Read: 1.txt (0.0s) unknown"),
    ],
)
def test_each_status_of_a_tool_has_its_sign(status: ToolStatus, sign: str) -> None:
    assert sign in frame(told(STARTED, tool(1, status)))


def test_sub_agents_are_a_tree() -> None:
    agent = ActivityEvent(
        activity_id="a", activity_type="agent", name="Task", detail="Research",
        status=ActivityStatus.RUNNING, parent_activity_id="turn-1", progress=0.4,
    )  # fmt: skip
    display = told(STARTED, agent, tool(1, parent_id="a"), tool(2, ToolStatus.COMPLETED))
    living = frame(display)
    assert "┌─ Activities · 1/3 done" in living
    assert "│ ⠋ Task: Research 40%\n│ │  ⠋ Read: 1.txt\n│ ✓ Read: 2.txt" in living


def test_who_is_its_own_ancestor_is_shown_once() -> None:
    one = ActivityEvent(activity_id="a", parent_activity_id="b", name="A", activity_type="agent")
    two = ActivityEvent(activity_id="b", parent_activity_id="a", name="B", activity_type="agent")
    living = frame(told(one, two))
    assert (living.count("A\n"), living.count("B\n")) == (1, 1)


@pytest.mark.parametrize("width", WIDTHS)
def test_twelve_activities_are_collapsed_to_counts_and_those_that_run(width: int) -> None:
    over = [tool(number, ToolStatus.COMPLETED) for number in range(9)]
    working = EngineStateEvent(new_state=EngineState.TOOL_EXECUTING)
    display = told(STARTED, working, *over, tool(9, ToolStatus.FAILED), tool(10), tool(11))
    living = frame(display, width)
    assert "⠋ [10/12] ████████░░ 83% · Read (" in living
    assert "2 running, 9 done, 1 failed" in living
    assert "Read: 10.txt" in living
    assert "Read: 1.txt" not in living
    assert_fits(display.frame(width, 24, NOW), width)


def test_plan_is_a_checklist() -> None:
    entries = (PlanEntry("a", "completed"), PlanEntry("b", "in_progress"), PlanEntry("c"))
    display = told(STARTED, PlanEvent(entries=entries))
    assert "Plan · 1/3 done\n  ✓ a\n  ▸ b\n  ☐ c" in frame(display)


def test_state_line_tells_who_and_what_it_cost() -> None:
    cost = CostEvent(cost_usd=0.012, input_tokens=1000, output_tokens=234)
    display = told(
        STARTED, SessionInfoEvent(model="opus", mode="plan"), cost,
        ContextEvent(used_tokens=50, size_tokens=200),
    )  # fmt: skip
    assert frame(display).endswith(
        "idle · embedded · opus · plan · 1.2k tokens · $0.01 · context 25%"
    )


def test_guessed_cost_has_a_tilde_and_ended_turns_add_up() -> None:
    usage = Usage(cost_usd=0.5, input_tokens=10, cost_source=CostSource.ESTIMATED)
    ended = TurnEndedEvent(turn_id=1, usage=usage, duration=2)
    display = told(ended, ended)
    assert frame(display) == "idle · 20 tokens · ~$1.00"
    assert finished(display).count("✓ 2.0s · 10 tokens · ~$0.50") == 2


def asked(tool_input: dict[str, Any], request_id: str = "r") -> PermissionEvent:
    options = (PermissionOption("o", Permit.ALLOW_ALWAYS),)
    return PermissionEvent(
        request_id=request_id, tool_name="Bash", tool_input=tool_input, options=options
    )


def test_question_shows_the_exact_command_and_the_keys() -> None:
    display = told(STARTED, asked({"command": "rm -rf build\nmake"}))
    assert "│ $ rm -rf build\n│   make\n│ [y]es  [n]o  [a]lways\n" in frame(display)
    display.meet(ProviderCapabilities(editable_input=True))
    assert "│ [y]es  [n]o  [a]lways  [e]dit\n" in frame(display)
    assert [ask.request_id for ask in display.asks] == ["r"]


def test_question_hides_nothing_of_a_long_command() -> None:
    command = " ".join(f"word{number}" for number in range(40))
    living = frame(told(asked({"command": command})), 40)
    assert [word for word in command.split() if word not in living] == []


def test_question_reveals_hidden_characters() -> None:
    living = frame(told(asked({"command": "echo \x1b[8mrm\u202e x\r"})))
    assert "$ echo ␛[8mrm<U+202E> x␍" in living


@pytest.mark.parametrize(
    "tool_input",
    [
        {"file_path": "a.py", "old_string": "one\ntwo\n", "new_string": "one\n2\n"},
        {"path": "a.py", "oldText": "one\ntwo\n", "newText": "one\n2\n"},
        {"file_path": "a.py", "edits": [{"old_string": "one\ntwo", "new_string": "one\n2"}]},
        {"changes": {"a.py": {"type": "update", "unified_diff": "@@\n one\n-two\n+2\n"}}},
    ],
)
def test_edit_of_a_file_is_asked_as_a_diff(tool_input: dict[str, Any]) -> None:
    living = frame(told(asked(tool_input)))
    assert "--- a.py" in living
    assert "│  one\n│ -two\n│ +2\n" in living


def test_new_file_is_asked_as_added_lines() -> None:
    inputs: tuple[dict[str, Any], ...] = (
        {"file_path": "n.txt", "content": "hello\n"},
        {"changes": {"n.txt": {"type": "add", "content": "hello\n"}}},
    )
    for tool_input in inputs:
        assert "+hello" in frame(told(asked(tool_input)))


def test_long_diff_is_printed_whole_above_the_question() -> None:
    content = "\n".join(f"line {number}" for number in range(50))
    display = told(asked({"file_path": "n.txt", "content": content}))
    above = finished(display)
    assert [number for number in range(50) if f"+line {number}" not in above] == []
    assert "+line 49\n" in frame(display)
    assert "(42 lines hidden: see all of it above)" in frame(display)


LONG_COMMANDS = (
    "\n".join(["set -e", *(f"echo {number}" for number in range(40)), "rm -rf ~/work"]),
    "echo " + "a" * 3000 + "; rm -rf ~/work",
    "echo" + " a" * 1500 + "; rm -rf ~/work",
    "ls" + " " * 3000 + "; rm -rf ~/work",
)


@pytest.mark.parametrize("command", LONG_COMMANDS)
@pytest.mark.parametrize("size", [(200, 50), (80, 24), (40, 12), (40, 7)])
def test_low_07_the_end_of_a_long_command_stands_in_its_question(
    command: str, size: tuple[int, int]
) -> None:
    display = told(STARTED, tool(1), asked({"command": command}))
    above = "".join(line.strip() for line in plain(display.finished(size[0])))
    assert without_spaces(command) in without_spaces(above)
    living = plain(display.frame(*size, NOW))
    assert len(living) <= size[1]
    end = living[: next(at for at, line in enumerate(living) if "[y]es" in line)]
    assert "rm-rf~/work" in without_spaces("".join(line.lstrip("│ ") for line in end[-3:]))
    assert len([line for line in living if "lines hidden: all of it" in line]) <= 1


def without_spaces(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("height", range(1, 8))
def test_low_07_a_small_screen_says_what_it_hides(height: int) -> None:
    display = told(asked({"command": "one\ntwo\nthree\nfour\nfive"}))
    living = "\n".join(plain(display.frame(40, height, NOW)))
    is_whole = all(word in living for word in ("one", "two", "three", "four", "five"))
    assert height == 1 or is_whole or "lines hidden: the screen is small)" in living


def test_low_07_a_command_hides_nothing_else_that_the_tool_is_given() -> None:
    living = frame(told(asked({"command": "ls", "path": "/etc/cron.d/x", "cwd": "/w"})))
    assert "$ ls" in living
    assert '"path": "/etc/cron.d/x"' in living


def test_low_07_what_is_too_deep_to_show_is_said_to_be() -> None:
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"a": deep}
    assert "too deeply nested to be shown" in frame(told(asked(deep)))


def test_keys_stay_on_a_screen_that_is_too_small() -> None:
    display = told(
        STARTED, tool(1), asked({"command": "\n".join("abcdefghij")}), asked({"x": 1}, "s")
    )
    lines = plain(display.frame(40, 8, NOW))
    assert len(lines) == 8
    assert any("[y]es" in line for line in lines)
    assert "1 more to answer" in "\n".join(lines)


def test_answered_question_is_gone_and_a_refusal_stays_above() -> None:
    display = told(asked({"command": "ls"}))
    display.tell(PermissionClosedEvent(request_id="r", permit=Permit.REJECT_ONCE, why="host"), NOW)
    assert display.asks == ()
    assert "[y]es" not in frame(display)
    assert "✗ denied: Bash (by you)" in finished(display)


def test_question_counts_down_to_its_deadline() -> None:
    ask = PermissionEvent(request_id="r", tool_name="Bash", deadline=160.0, timestamp=100.0)
    assert "denied in 50s" in frame(told(ask), now=NOW + 10)


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        (TurnEndedEvent(outcome=Outcome.REFUSED), "✗ the agent refused\n  → rephrase"),
        (TurnEndedEvent(outcome=Outcome.CANCELLED, duration=3), "⊘ interrupted after 3.0s"),
        (TurnEndedEvent(outcome=Outcome.FAILED, reason="bad"), "✗ failed: bad"),
        (TurnEndedEvent(outcome=Outcome.TIMED_OUT), "✗ out of time\n  → allow more"),
        (TurnEndedEvent(outcome=Outcome.OVER_BUDGET), "✗ over budget\n  → raise it with --budget"),
        (TurnEndedEvent(outcome=Outcome.REJECTED), "✗ not sent"),
        (TurnEndedEvent(outcome=Outcome.CRASHED, can_retry=True), "no tool had run: send it again"),
        (
            TurnEndedEvent(outcome=Outcome.CRASHED, unknown_tools=("a",)),
            "1 tool call(s) were running",
        ),
    ],
)
def test_each_end_of_a_turn_says_what_to_do_next(ended: TurnEndedEvent, words: str) -> None:
    assert words in finished(told(ended))


@pytest.mark.parametrize("width", WIDTHS)
def test_czech_wide_characters_and_emoji_fit(width: int) -> None:
    text = "Příliš žluťoučký kůň 🐎 úpěl ďábelské ódy 漢字 👩‍👩‍👧 " * 20
    display = told(STARTED, tool(1), TextEvent(text=text), style=PLAIN)
    display.tell(ThinkingEvent(subject=text, is_start=True), NOW)
    assert_fits(display.frame(width, 24, NOW), width)
    display.flush()
    lines = display.finished(width)
    assert_fits(lines, width)
    assert " ".join(" ".join(lines).split()).count(text.strip()) == 1


@pytest.mark.parametrize(
    "letter",
    ["x", pytest.param("漢", marks=for_conformance), pytest.param("a ", marks=for_conformance)],
)
def test_line_of_a_megabyte_is_fast_and_whole(letter: str) -> None:
    display = told(STARTED)
    shown: list[str] = []
    for _ in range(10):
        display.tell(TextEvent(text=letter * (100_000 // len(letter))), NOW)
        shown += display.finished(80)
        assert len(display.frame(80, 24, NOW)) <= 24
    display.flush()
    shown += display.finished(80)
    assert_fits(shown[:50] + shown[-50:], 80)
    assert sum(line.count(letter[0]) for line in shown) == 1_000_000 // len(letter)


def test_escape_codes_of_an_agent_never_reach_the_terminal() -> None:
    evil = "\x1b]0;title\x07\x1b[2J\x9b31m\x00\x08\r\x7f\u202e"
    display = told(
        STARTED, TextEvent(text=evil + "text"), ThinkingEvent(thought=evil, subject=evil),
        ToolEvent(tool_name=evil, tool_id="1", title=evil, result=evil, parameters={"path": evil}),
        PlanEvent(entries=(PlanEntry(evil),)), asked({"command": evil}),
        SessionInfoEvent(model=evil),
        TurnEndedEvent(outcome=Outcome.FAILED, reason=evil),
        style=Style(colour=False, show_thinking=True, verbose=2),
    )  # fmt: skip
    display.note(evil)
    assert_fits(display.frame(80, 24, NOW), 80)
    assert_fits(display.finished(80), 80)


def test_what_was_made_for_another_width_still_fits() -> None:
    display = told(STARTED, tool(1, ToolStatus.COMPLETED), TextEvent(text="word " * 100 + "\n\nx"))
    display.frame(200, 24, NOW)
    assert_fits(display.finished(40), 40)


def test_note_of_the_host_stands_above() -> None:
    display = Display(PLAIN)
    display.note("claude,\nas you asked")
    assert finished(display) == "claude, as you asked"


def test_of_an_avatar_that_gave_up_nobody_is_told_to_wait() -> None:
    lost = EngineStateEvent(new_state=EngineState.ERROR)
    gave_up = ErrorEvent(error="too many crashes", recoverable=False)
    assert "No agent now: waiting for it to come back" in frame(told(lost))
    display = told(lost, gave_up)
    assert "No agent now: the next prompt starts a new conversation" in frame(display)
    assert finished(display).count("the next prompt starts a new conversation") == 1
    assert "waiting" in frame(told(lost, gave_up, StateEvent(new_state=BridgeState.ERROR)))
