"""Gemini's headless mode: recordings of 0.61.0, fact by fact, and what goes wrong."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from avatar_actors.model.events import DiagnosticEvent, UnrecognisedEvent
from avatar_actors.model.values import Attachment, Continuity, Outcome, Permit, Usage
from avatar_actors.wire.commands import (
    AnswerFile,
    AnswerPermission,
    Call,
    Cancel,
    Close,
    Open,
    Prompt,
    Steer,
)
from avatar_actors.wire.facts import (
    Answered,
    Broken,
    Fact,
    Opened,
    OpenFailed,
    OpenFailure,
    TurnOver,
)
from avatar_actors.wire.gemini.wire import GeminiHeadlessWire
from tests.wire.digest import digest
from tests.wire.gemini.replay import (
    NAMES,
    ended,
    hello,
    in_turn,
    line_of,
    opened,
    prompt,
    recorded,
)

DONE = "over 1 completed end_turn"
SHELL = [
    "renamed 483771ba",
    "session gemini-2.5-pro",
    "text Running it. ",
    "run_shell_command started",
    "run_shell_command completed hi-from-shell",
    "text Final answer after 1 tool round(s).",
    "cost 1800+40",
    DONE,
]
PARALLEL = [
    "renamed 4114b1e9",
    "session gemini-2.5-pro",
    "run_shell_command started",
    "run_shell_command started",
    "run_shell_command completed A",
    "run_shell_command completed B",
    "text Final answer after 1 tool round(s).",
    "cost 1800+40",
    DONE,
]
WRITE = [
    "renamed 51500ba1",
    "session gemini-2.5-pro",
    "write_file started",
    "write_file completed ",
    "text Final answer after 1 tool round(s).",
    "cost 1800+40",
    DONE,
]
THINK = [
    "renamed 3cb48b90",
    "session gemini-2.5-pro",
    "text Answer after thinking.",
    "cost 900+27",
    DONE,
]
RESUME = [
    "renamed 0c7ee00b",
    "session gemini-2.5-pro",
    "text Hello from fake.",
    "cost 900+20",
    DONE,
]


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("shell", SHELL),
        ("parallel", PARALLEL),
        ("write", WRITE),
        ("think", THINK),
        ("resume", RESUME),
    ],
)
def test_a_recorded_run_is_told_fact_by_fact(name: str, facts: list[str]) -> None:
    assert digest(in_turn().receive(recorded(name) + ended())) == facts


def test_an_api_error_fails_the_turn_with_its_words() -> None:
    facts = in_turn().receive(recorded("err400") + ended(returncode=144))
    assert digest(facts)[-1].startswith("over 1 failed  [API Error: ")


def test_thoughts_count_as_tokens_of_the_output() -> None:
    over = in_turn().receive(recorded("think") + ended())[-1]
    assert isinstance(over, TurnOver)
    assert over.usage == Usage(
        input_tokens=900, output_tokens=27, cached_tokens=100, reasoning_tokens=7
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_result_alone_does_not_end_the_turn(name: str) -> None:
    assert not [fact for fact in in_turn().receive(recorded(name)) if isinstance(fact, TurnOver)]


@given(st.sampled_from(NAMES), st.integers(1, 400))
@settings(max_examples=30, deadline=None)
def test_any_slicing_gives_the_same_facts(name: str, size: int) -> None:
    data = recorded(name) + ended()
    wire = in_turn()
    found = [
        fact for at in range(0, len(data), size) for fact in wire.receive(data[at : at + size])
    ]
    assert found == in_turn().receive(data)


@given(st.binary(max_size=500))
@settings(max_examples=100, deadline=None)
def test_garbage_never_raises(data: bytes) -> None:
    wire = in_turn()
    wire.receive(data + b"\n")
    wire.end_of_stream()


@given(st.lists(st.sampled_from([*NAMES, "exit", "prompt", "cancel"]), max_size=20))
@settings(max_examples=60, deadline=None)
def test_any_order_gives_at_most_one_end_per_prompt(steps: list[str]) -> None:
    wire, turns = opened(), 0
    ends: list[int] = []
    for step in steps:
        facts: list[Fact]
        if step == "prompt":
            turns += 1
            facts = wire.command(Prompt(turns, "go"))
        elif step == "cancel":
            facts = wire.command(Cancel(turns))
        else:
            facts = wire.receive(ended(turns) if step == "exit" else recorded(step))
        ends += [fact.turn_id for fact in facts if isinstance(fact, TurnOver)]
    assert len(ends) == len(set(ends)) <= turns


def test_the_session_opens_with_the_shims_hello() -> None:
    wire = GeminiHeadlessWire()
    assert wire.command(Open(cwd="/")) == []
    [fact] = wire.receive(hello())
    assert isinstance(fact, Opened)
    assert (fact.session_id, fact.continuity) == ("s-0", Continuity.NEW)
    assert not fact.capabilities.thinking_supported
    assert fact.capabilities.can_load_session


def test_a_hello_before_the_command_is_not_lost() -> None:
    wire = GeminiHeadlessWire()
    assert wire.receive(hello()) == []
    assert isinstance(wire.command(Open(cwd="/", resume="s-9"))[0], Opened)


def test_a_missing_executable_is_told_with_what_to_do() -> None:
    wire = GeminiHeadlessWire()
    wire.command(Open(cwd="/"))
    [fact] = wire.receive(hello(error="'gemini' was not found"))
    assert isinstance(fact, OpenFailed)
    assert fact.failure is OpenFailure.NOT_FOUND
    assert "npm install" in fact.advice


def test_the_first_prompt_names_the_session_and_the_next_resumes_it() -> None:
    wire = opened()
    first = prompt(wire, 1)
    assert first == {"turn": 1, "prompt": "go", "args": ["--session-id=s-0"]}
    wire.receive(recorded("shell") + ended())
    assert prompt(wire, 2)["args"] == ["--resume=483771ba-3dee-4ae8-93f5-fbaed7dffcfa"]


def test_a_session_that_never_began_is_not_resumed() -> None:
    wire = opened()
    prompt(wire, 1)
    wire.receive(ended(returncode=41))
    assert prompt(wire, 2)["args"] == ["--session-id=s-0"]


def test_a_stored_session_is_resumed_from_the_first_prompt_on() -> None:
    assert prompt(opened("s-9"))["args"] == ["--resume=s-9"]


@pytest.mark.parametrize(
    ("exit_line", "words"),
    [
        ({"returncode": 41}, "not logged in"),
        ({"returncode": 53}, "limit of turns"),
        ({"returncode": 145}, "HTTP 401"),
        ({"returncode": None, "error": "Argument list too long"}, "Argument list too long"),
    ],
)
def test_an_end_that_says_why_is_a_failure(exit_line: dict[str, Any], words: str) -> None:
    [over] = in_turn().receive(ended(**exit_line))
    assert isinstance(over, TurnOver)
    assert over.outcome is Outcome.FAILED
    assert words in over.error


@pytest.mark.parametrize(
    ("code", "words"), [(3, "exit code 3"), (0, "without a result"), (-9, "signal 9")]
)
def test_any_other_end_without_a_result_is_a_crash(code: int, words: str) -> None:
    over, end = in_turn().receive(ended(returncode=code))
    assert isinstance(over, TurnOver)
    assert over.outcome is Outcome.CRASHED
    assert words in over.error
    assert isinstance(end, Broken)


def test_a_cancel_ends_with_the_process() -> None:
    wire = in_turn()
    assert wire.command(Cancel(2)) == []
    assert wire.data_to_send() == b""
    assert wire.command(Cancel(1)) == []
    assert json.loads(wire.data_to_send()) == {"cancel": 1}
    lines = b"".join(line for line in recorded("shell").splitlines(keepends=True)[:4])
    assert digest(wire.receive(lines + ended()))[-2:] == [
        "run_shell_command cancelled",
        "over 1 cancelled",
    ]


def test_an_answer_that_was_faster_than_the_cancel_is_complete() -> None:
    wire = in_turn()
    wire.command(Cancel(1))
    assert digest(wire.receive(recorded("shell") + ended()))[-1] == DONE


def test_what_comes_outside_of_a_turn_is_remarked_once() -> None:
    wire = in_turn()
    wire.receive(recorded("shell") + ended())
    lines = recorded("parallel").split(b"\n", 1)[1]
    assert len(wire.receive(lines)) == 1


def test_the_end_of_another_process_ends_nothing() -> None:
    [fact] = in_turn().receive(ended(turn=7))
    assert isinstance(fact, DiagnosticEvent)


def test_a_text_file_goes_into_the_prompt_and_nothing_else_does() -> None:
    wire = opened()
    wire.command(Prompt(1, "look", (Attachment("text/plain", b"hi", "a.txt"),)))
    order = json.loads(wire.data_to_send())
    assert order["prompt"] == '<file name="a.txt">\nhi\n</file>\n\nlook'
    [over] = opened().command(Prompt(1, "look", (Attachment("image/png", b""),)))
    assert isinstance(over, TurnOver)
    assert over.outcome is Outcome.REJECTED


def test_a_prompt_that_gemini_would_cut_is_rejected() -> None:
    wire = opened()
    [over] = wire.command(Prompt(1, "x" * (8 * 1024 * 1024 + 1)))
    assert isinstance(over, TurnOver)
    assert (over.outcome, wire.data_to_send()) == (Outcome.REJECTED, b"")


def test_what_this_mode_cannot_do_is_said() -> None:
    wire = in_turn()
    assert isinstance(wire.command(Steer(1, "x"))[0], DiagnosticEvent)
    answer = AnswerPermission(request_id="1", permit=Permit.ALLOW_ONCE)
    assert isinstance(wire.command(answer)[0], DiagnosticEvent)
    assert isinstance(wire.command(AnswerFile(request_id="1"))[0], DiagnosticEvent)
    assert isinstance(wire.command(Call(1, "set_model"))[0], Answered)
    assert wire.command(Close()) == []
    assert wire.data_to_send() == b""


def test_errors_on_the_way_are_diagnostics_and_unknown_kinds_are_kept() -> None:
    wire = in_turn()
    line = {"type": "error", "severity": "warning", "message": "loop detected"}
    assert digest(wire.receive(line_of(line))) == ["warning loop detected"]
    assert isinstance(wire.receive(line_of({"type": "new"}))[0], UnrecognisedEvent)
    assert isinstance(wire.receive(b"[1]\n")[0], DiagnosticEvent)
