"""`avatar chat` for a person at a terminal: keys, signals, and how the terminal is left."""

import os
import re
import signal
import time
from pathlib import Path

import pytest

from avatar_actors.processes.sweep import process_identity
from avatar_actors.programs.warden.process_tree import descendants
from tests.cli.programs import PATIENCE, script
from tests.cli.terminal import CTRL_C, CTRL_Z, Terminal, avatar_in_terminal
from tests.conformance.remains import directories_of
from tests.fake_agents.launcher import configuration
from tests.thorough import for_conformance

KEYS = re.compile(r"press y, n, a( or e)? to answer|press y, n or a to answer")
ASK = {"ask": "Bash", "input": {"command": "make bread"}}
# Until the test makes the file `go`.
WAIT = {
    "tool": "Bash",
    "run": True,
    "input": {"command": "while [ ! -e go ]; do sleep 0.1; done"},
}
BUSY = ({"say": "I begin.\n\n"}, {"tool": "Bash", "seconds": 60})
# Asked with nothing but once, as some agents do.
ONCE = {
    "request": "session/request_permission",
    "params": {
        "toolCall": {"toolCallId": "c", "title": "bake", "kind": "execute"},
        "options": [
            {"optionId": "go", "kind": "allow_once", "name": "Yes"},
            {"optionId": "no", "kind": "reject_once", "name": "No"},
        ],
    },
}


def wait_to_be_asked(terminal: Terminal) -> None:
    terminal.wait_until(lambda: KEYS.search(terminal.text) is not None, "question")


def assert_left_as_found(terminal: Terminal) -> None:
    """The cursor is shown by the last mode set, lines are edited as before, colours are off."""
    assert terminal.shows_cursor
    assert terminal.is_as_before
    modes = re.findall(rb"\x1b\[\?(\d+)([hl])", terminal.written)
    assert [state for mode, state in modes if mode == b"25"][-1] == b"h"
    assert [state for mode, state in modes if mode == b"2026"][-1:] in ([], [b"l"])


@pytest.mark.parametrize(("key", "answer"), [("y", "[allowed]"), ("n", "[denied]")], ids=["y", "n"])
def test_a_key_answers_what_the_agent_asks(tmp_path: Path, key: str, answer: str) -> None:
    with avatar_in_terminal(tmp_path, "chat", script(ASK, {"say": " so be it"})) as terminal:
        wait_to_be_asked(terminal)
        assert "make bread" in terminal.text
        assert not terminal.echoes
        terminal.press(key)
        assert terminal.wait() == 0
        assert answer in terminal.text
        assert_left_as_found(terminal)


def test_always_is_told_to_the_agent_which_asks_no_more(tmp_path: Path) -> None:
    with avatar_in_terminal(tmp_path, "chat", script(ASK, ASK, {"say": " done"})) as terminal:
        wait_to_be_asked(terminal)
        terminal.press("a")
        assert terminal.wait() == 0
        assert terminal.text.count("[allowed]") == 2


@for_conformance
def test_always_is_remembered_for_an_agent_that_knows_only_once(tmp_path: Path) -> None:
    with avatar_in_terminal(tmp_path, "chat", script(ONCE, ONCE), size=(200, 24)) as terminal:
        wait_to_be_asked(terminal)
        terminal.press("a")
        assert terminal.wait() == 0
        assert terminal.text.count('"go"') == 2


def test_an_input_is_edited_before_it_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(configuration(tmp_path))
    editor = {"EDITOR": "sed -i s/bread/cake/"}
    arguments = ("chat", "-c", "c.yaml", script(ASK))
    with avatar_in_terminal(tmp_path, *arguments, env=editor) as terminal:
        wait_to_be_asked(terminal)
        terminal.press("e")
        assert terminal.wait() == 0
        assert "make cake" in terminal.text  # the tool tells what it was given
        assert_left_as_found(terminal)


@for_conformance
def test_the_end_of_the_turn_ends_the_editor(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(configuration(tmp_path))
    (tmp_path / "editor").write_text("#!/bin/sh\necho my editor >/dev/tty\nexec sleep 60\n")
    (tmp_path / "editor").chmod(0o700)
    arguments = ("chat", "-c", "c.yaml", script(ASK))
    with avatar_in_terminal(tmp_path, *arguments, env={"VISUAL": "./editor"}) as terminal:
        wait_to_be_asked(terminal)
        terminal.press("e")
        terminal.wait_for("my editor")
        terminal.send(signal.SIGTERM)
        assert terminal.wait() == 143
        assert_left_as_found(terminal)


def test_an_agent_that_takes_no_other_input_is_not_offered_one(tmp_path: Path) -> None:
    with avatar_in_terminal(tmp_path, "chat", script(ASK)) as terminal:
        wait_to_be_asked(terminal)
        assert "[e]dit" not in terminal.text
        terminal.press("e")
        terminal.wait_for("stop typing, then press y, n or a")
        wait_to_be_asked(terminal)
        terminal.press("n")
        assert terminal.wait() == 0


def test_what_was_typed_before_the_question_answers_nothing(tmp_path: Path) -> None:
    with avatar_in_terminal(tmp_path, "chat", script({"say": "Wait.\n"}, WAIT, ASK)) as terminal:
        terminal.wait_for("Wait.")
        terminal.press("y")
        terminal.wait_until_read()
        (tmp_path / "go").touch()
        wait_to_be_asked(terminal)
        terminal.press("n")
        assert terminal.wait() == 0
        assert "[denied]" in terminal.text


@pytest.mark.parametrize("command", ["chat", "tree"])
def test_a_command_that_is_typed_ahead_allows_nothing(tmp_path: Path, command: str) -> None:
    with avatar_in_terminal(tmp_path, command, script(WAIT, ASK, {"say": " done"})) as terminal:
        terminal.wait_until(lambda: not terminal.echoes, "keys one by one")
        (tmp_path / "go").touch()
        terminal.wait_until(lambda: "make bread" in terminal.text, "question")
        for key in "ls -la":
            terminal.press(key)
        terminal.wait_until(lambda: "stop typing" in terminal.text, "hint")
        wait_to_be_asked(terminal)
        for key in "ls -la":
            terminal.press(key)
            terminal.wait_until_read()
        terminal.wait_until(lambda: "stop typing" in terminal.text, "hint")
        wait_to_be_asked(terminal)
        terminal.press("n")
        assert terminal.wait() == 0
        assert "✗ denied: Bash" in terminal.text
        assert "✓ allowed" not in terminal.text


def test_keys_come_from_the_terminal_though_stdin_is_a_pipe(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, script(ASK).encode())
    os.close(writer)
    with avatar_in_terminal(tmp_path, "chat", stdin=reader) as terminal:
        os.close(reader)
        wait_to_be_asked(terminal)
        terminal.press("y")
        assert terminal.wait() == 0
        assert "[allowed]" in terminal.text


@pytest.mark.parametrize("way", ["ctrl_c", "term", pytest.param("hup", marks=for_conformance)])
def test_an_interrupt_ends_the_turn_and_leaves_the_terminal_as_it_was(
    tmp_path: Path, way: str
) -> None:
    with avatar_in_terminal(tmp_path, "chat", script(*BUSY)) as terminal:
        terminal.wait_for("I begin.")
        terminal.wait_for("Bash")
        host, family = process_identity(terminal.pid), descendants(terminal.pid)
        if way == "ctrl_c":
            terminal.press(CTRL_C)
        else:
            terminal.send(signal.SIGTERM if way == "term" else signal.SIGHUP)
        assert terminal.wait() == (130 if way == "ctrl_c" else 143)
        assert "interrupted" in terminal.text
        assert_left_as_found(terminal)
    assert directories_of(host) == []
    assert not [pid for pid in family if Path(f"/proc/{pid}").exists()]


def test_a_second_ctrl_c_leaves_a_deaf_agent_at_once(tmp_path: Path) -> None:
    deaf = script({"say": "I begin.\n\n"}, {"deaf": 60})
    with avatar_in_terminal(tmp_path, "chat", deaf) as terminal:
        terminal.wait_for("I begin.")
        family = descendants(terminal.pid)
        terminal.press(CTRL_C)
        terminal.wait_for("Ctrl-C again leaves now")
        terminal.press(CTRL_C)
        assert terminal.wait() == 130
        assert_left_as_found(terminal)
    deadline = time.monotonic() + PATIENCE
    while [pid for pid in family if Path(f"/proc/{pid}").exists()]:
        assert time.monotonic() < deadline, "the agent lives on"
        time.sleep(0.02)


def test_ctrl_z_gives_the_terminal_back_and_fg_takes_it_again(tmp_path: Path) -> None:
    with avatar_in_terminal(tmp_path, "chat", script({"say": "I begin.\n\n"}, ASK)) as terminal:
        wait_to_be_asked(terminal)
        terminal.press(CTRL_Z)
        terminal.wait_until(lambda: terminal.is_stopped, "stop")
        terminal.wait_until(lambda: terminal.is_as_before, "modes of before")
        terminal.wait_until(lambda: terminal.shows_cursor, "cursor")
        assert KEYS.search(terminal.text) is None
        terminal.send(signal.SIGCONT)
        wait_to_be_asked(terminal)
        terminal.wait_until(lambda: not terminal.echoes, "keys one by one")
        terminal.press("y")
        assert terminal.wait() == 0
        assert_left_as_found(terminal)


def test_in_the_background_the_keyboard_is_the_shells(tmp_path: Path) -> None:
    begin = {"tool": "Bash", "run": True, "input": {"command": "touch begun"}}
    job = ("/bin/sh", "-c", 'set -m; "$@" & wait $!; echo code $?', "sh")
    arguments = ("chat", script(begin, WAIT, {"say": "All done."}))
    with avatar_in_terminal(tmp_path, *arguments, through=job) as terminal:
        terminal.wait_until((tmp_path / "begun").exists, "start")
        terminal.press("y\n")
        (tmp_path / "go").touch()
        assert terminal.wait() == 0
        assert "All done." in terminal.text
        assert "code 0" in terminal.text
        assert_left_as_found(terminal)


def test_an_answer_longer_than_the_screen_can_be_read_from_its_first_line(tmp_path: Path) -> None:
    lines = "".join(f"- item {number}\n" for number in range(100))
    with avatar_in_terminal(tmp_path, "chat", script({"say": lines, "chunks": 50})) as terminal:
        terminal.wait_for("item 30")
        terminal.resize(60, 12)
        assert terminal.wait() == 0
        found = re.findall(r"item (\d+)$", terminal.text, re.MULTILINE)
        assert list(map(int, found)) == list(range(100))


def test_a_crash_is_shown_with_what_to_do_next(tmp_path: Path) -> None:
    with avatar_in_terminal(tmp_path, "chat", script({"say": "I th"}, {"kill": 9})) as terminal:
        assert terminal.wait() == 1
        assert "I th" in terminal.text
        assert "SIGKILL" in terminal.text
        assert terminal.says("send it again")
        assert_left_as_found(terminal)


def test_without_a_prompt_a_terminal_gets_an_example(tmp_path: Path) -> None:
    with avatar_in_terminal(tmp_path, "chat") as terminal:
        assert terminal.wait() == 2
        assert terminal.says('avatar chat "what is in this directory?"')


@for_conformance
def test_a_dumb_terminal_gets_plain_text(tmp_path: Path) -> None:
    with avatar_in_terminal(tmp_path, "chat", "2+2", env={"TERM": "dumb"}) as terminal:
        assert terminal.wait() == 0
        assert terminal.written.endswith(b"4\r\n")
        assert b"\x1b[?" not in terminal.written


def test_low_08_a_dumb_terminal_gets_no_character_that_turns_another(tmp_path: Path) -> None:
    prompt = script({"say": "a\u202eb"})
    with avatar_in_terminal(tmp_path, "chat", prompt, env={"TERM": "dumb"}) as terminal:
        assert terminal.wait() == 0
        assert terminal.written.endswith(b"ab\r\n")
