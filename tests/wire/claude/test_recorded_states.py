"""Recordings of the real Claude Code 2.1.325 with session states and message ids, turn by turn."""

from functools import cache

from tests.wire.claude.replay import Replay
from tests.wire.digest import digest


@cache
def turns(name: str) -> list[list[str]]:
    """The facts up to the end of each turn, and what came after the last."""
    found: list[list[str]] = [[]]
    for word in digest(Replay(name).facts):
        found[-1].append(word)
        if word.startswith("over ") and not word.startswith("over -1"):
            found.append([])
    return found


def interrupts(number: int) -> list[str]:
    return turns("w01_states_interrupts")[number - 1]


def foreign_runs(number: int) -> list[str]:
    return turns("w02_foreign_runs_steering")[number - 1]


def test_a_turn_with_states_has_everything_once() -> None:
    assert interrupts(1) == [
        "renamed 11111111",
        "session claude-opus-5-5 default",
        "thought 11 hmm **x**",
        "text hi",
        "Bash pending",
        "Bash started",
        "cost 10+65",
        "Bash completed hi",
        "text got hi",
        "cost 20+74",
        "cost 20+74 $0.001560",
        "context 19/1000000",
        "over 1 completed end_turn $0.001560",
    ]


def test_always_changes_the_mode_and_the_next_call_is_not_asked_about() -> None:
    assert interrupts(2)[2:6] == [
        "asked Bash allow_once allow_always reject_once",
        "cost 10+35",
        "Bash started",
        "session  acceptEdits",
    ]
    assert not [word for word in interrupts(3) if word.startswith("asked")]


def test_an_interrupted_tool_ends_its_turn_at_idle_and_the_next_turn_is_whole() -> None:
    assert interrupts(4)[-4:] == [
        "Bash cancelled ! The user doesn't want to proceed with this…",
        "cost 10+41 $0.000860",
        "context 51/1000000",
        "over 4 cancelled aborted_tools $0.000860",
    ]
    assert interrupts(5)[0] == "text echo: still alive"


def test_a_prompt_that_the_interrupt_missed_runs_on_in_the_recording() -> None:
    # The wire has since learned to interrupt again when the prompt could not be taken back.
    assert interrupts(6)[0] == "text echo: never mind"
    assert interrupts(7)[0] == "text echo: and now"


def test_a_background_command_does_not_keep_the_turn_open() -> None:
    assert foreign_runs(1)[3:8] == [
        "Bash started",
        "cost 10+42",
        "background_task d running d",
        "Bash completed Command running in background with ID: bxp6o…",
        "text started",
    ]
    assert foreign_runs(1)[-1] == "over 1 completed end_turn $0.001100"


def test_the_run_that_its_end_starts_is_a_turn_of_its_own() -> None:
    assert foreign_runs(2)[:8] == [
        "background_task d completed d",
        'background_task d completed Background command "d" c…',
        'unasked: Background command "d" completed (exit code …',
        "text done. Command running in background with ID:…",
        "cost 10+59",
        "cost 10+59 $0.001220",
        "context 69/1000000",
        "over -1 completed end_turn $0.001220",
    ]


def test_a_prompt_that_waits_for_such_a_run_has_only_its_own_text_and_cost() -> None:
    assert [word for word in foreign_runs(3) if word.startswith(("text", "over", "unasked"))] == [
        'unasked: Background command "d" completed (exit code …',
        "text done. Command running in background with ID:…",
        "over -1 completed end_turn $0.001220",
        "text echo: right now",
        "over 3 completed end_turn $0.000260",
    ]


def test_what_is_said_into_a_turn_is_folded_into_it() -> None:
    assert foreign_runs(4)[-5:] == [
        "text got hi",
        "cost 20+44",
        "cost 20+44 $0.000960",
        "context 19/1000000",
        "over 4 completed end_turn $0.000960",
    ]


def test_what_is_said_too_late_for_the_answer_prolongs_the_turn() -> None:
    assert [word for word in foreign_runs(5) if word.startswith(("text", "over"))] == [
        "text echo: quick",
        "text echo: late words",
        "over 5 completed end_turn $0.000500",
    ]


def test_a_background_agent_keeps_the_turn_open_until_it_is_done() -> None:
    words = foreign_runs(6)
    finished = words.index("agent general-purpose completed A1 finished | A1 finished")
    assert words.index("text parent done") < finished
    assert words[-1] == "over 6 completed end_turn $0.003980"
    assert foreign_runs(7) == ["answered ['mcpServers']"]
