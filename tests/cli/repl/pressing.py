"""What a person does at a REPL, and what must be so when they have left it."""

import signal

from tests.cli.programs import script
from tests.cli.terminal import ENTER, Terminal

CTRL_D, CTRL_J, ALT_ENTER, UP = "\x04", "\n", "\x1b\r", "\x1b[A"
# A turn that ends only when it is interrupted.
WAITING = script({"say": "I am at it."}, {"wait": 600})


def input_line(terminal: Terminal) -> str:
    """The line that the cursor is in."""
    return terminal.lines[terminal.cursor[1]]


def say(terminal: Terminal, text: str) -> None:
    terminal.press(text + ENTER)


def said(terminal: Terminal, line: str) -> None:
    """Wait for a line of its own: what was typed has these words too, but not alone."""
    terminal.wait_until(lambda: line in terminal.text.splitlines(), f"the line {line!r}")


def typed(terminal: Terminal, line: str) -> None:
    """Wait until the input line is so."""
    terminal.wait_until(lambda: input_line(terminal) == line, f"the input {line!r}")


def leave(terminal: Terminal) -> None:
    terminal.press(CTRL_D)
    assert_left(terminal, 0)


def terminate(terminal: Terminal) -> None:
    terminal.send(signal.SIGTERM)
    assert_left(terminal, 143)


def assert_left(terminal: Terminal, code: int) -> None:
    """With this exit code, and everything on the terminal as it was."""
    assert terminal.wait() == code, terminal.text
    assert terminal.is_as_before
    assert terminal.shows_cursor
    assert terminal.written.rpartition(b"\x1b[?2004")[2].startswith(b"l"), "pastes stay bracketed"
    assert "Traceback" not in terminal.text, terminal.text
