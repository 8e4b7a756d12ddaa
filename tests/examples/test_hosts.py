"""The examples for scripts, asyncio and GUIs, as people run them."""

import signal
from pathlib import Path

import pytest

from tests.examples.programs import Signpost, ended_by, lines_of, run, running, script, shown
from tests.examples.terminal import PATIENCE

LONG = script({"say": "one"}, {"wait": 600}, {"say": "two"})


def test_a_script_prints_the_answer_to_its_question(tmp_path: Path) -> None:
    assert lines_of(tmp_path, "basic_chat", "6*7") == ["42"]


def test_without_a_question_a_script_asks_one(tmp_path: Path) -> None:
    done = run(tmp_path, "basic_chat")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Its readme says:\n")


def test_a_script_tells_how_a_turn_failed(tmp_path: Path) -> None:
    done = run(tmp_path, "basic_chat", script({"error": {"code": 1, "message": "broken"}}))
    assert (done.stdout, done.stderr, done.returncode) == ("\n", "failed: broken\n", 1)


@pytest.mark.parametrize("name", ["basic_chat", "streaming", "structured_output"])
def test_a_provider_that_is_not_known_is_one_line(name: str, tmp_path: Path) -> None:
    done = run(tmp_path, name, "--provider", "clod", "Hello")
    assert done.stderr.startswith("no provider 'clod'; there are: ")
    assert (done.stdout, done.stderr.count("\n"), done.returncode) == ("", 1, 1)


@pytest.mark.parametrize("name", ["basic_chat", "streaming", "structured_output"])
def test_an_agent_that_needs_a_command_says_so_without_a_traceback(
    name: str, tmp_path: Path
) -> None:
    done = run(tmp_path, name, "--provider", "acp", "Hello")
    assert "acp needs a command or an address" in done.stderr
    assert ("Traceback" in done.stderr, done.returncode) == (False, 1)


def test_ctrl_c_ends_a_script_in_the_middle_of_a_turn(tmp_path: Path, signpost: Signpost) -> None:
    prompt = script(signpost.pass_by(), {"wait": 600})
    with running(tmp_path, "basic_chat", prompt) as chat:
        signpost.wait()
        assert ended_by(chat, signal.SIGINT) == 130
        assert chat.communicate() == ("", "")


def test_text_is_printed_while_the_turn_goes_on(tmp_path: Path, signpost: Signpost) -> None:
    prompt = script({"say": "one"}, signpost.stop_at(), {"say": "two"})
    with running(tmp_path, "streaming", prompt) as streaming:
        assert shown(streaming, 3) == "one"
        signpost.let_go()
        rest, errors = streaming.communicate(timeout=PATIENCE)
    assert rest.startswith("two\n[completed in ")
    assert errors.splitlines()[-1].endswith("signpost': completed]")
    assert streaming.returncode == 0


def test_ctrl_c_ends_the_turn_of_the_stream(tmp_path: Path) -> None:
    with running(tmp_path, "streaming", LONG) as streaming:
        assert shown(streaming, 3) == "one"
        assert ended_by(streaming, signal.SIGINT) == 130
        assert streaming.communicate() == ("\n[cancelled]\n", "")


def test_a_window_shows_bubble_tool_status_and_dialog(tmp_path: Path) -> None:
    lines = [line.strip() for line in lines_of(tmp_path, "gui_integration")]
    wanted = [
        "you | write notes.txt: buy milk",
        "dialog | Write notes.txt?   [Allow]   [Deny]      ... Allow is clicked",
        "tool | Write notes.txt: completed",
        "bubble | Done: 9 characters are in notes.txt.",
    ]
    assert [line for line in lines if line in wanted] == wanted
    assert "status | waiting_approval" in lines
    assert "status | the turn has ended: completed" in lines


def test_the_cancel_button_of_a_window_ends_the_turn(tmp_path: Path) -> None:
    lines = [line.strip() for line in lines_of(tmp_path, "gui_integration")]
    story = lines[lines.index("you | tell me a long story") :]
    assert story.index("bubble | Once upon a time") < story.index("[Cancel] | clicked")
    assert story[-1] == "status | the turn has ended: cancelled"
    assert not any("happily" in line for line in story)
