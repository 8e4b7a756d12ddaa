"""`avatar gui` in a real terminal: how it ends, what it leaves, and where it cannot run."""

import os
import signal
import time
from pathlib import Path

import pytest

from avatar_actors.programs.warden.process_tree import descendants
from tests.cli.programs import PATIENCE, avatar
from tests.cli.terminal import Terminal, avatar_in_terminal

READY = "Say something"
CTRL_Q = "\x11"
GUI = ("gui", "-p", "embedded")


def is_restored(app: Terminal) -> bool:
    """Whether line editing, the cursor and the first screen are back."""
    left = app.written.rpartition(b"\x1b[?1049h")[2]
    return app.is_as_before and app.shows_cursor and b"\x1b[?1049l" in left


def test_it_answers_and_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    with avatar_in_terminal(tmp_path, *GUI) as app:
        app.wait_for(READY)
        app.press("6*7\r")
        app.wait_for("42")
        app.press(CTRL_Q)
        assert app.wait() == 0
        assert is_restored(app)


def test_kill_restores_the_terminal_and_ends_the_agent(tmp_path: Path) -> None:
    with avatar_in_terminal(tmp_path, *GUI) as app:
        app.wait_for(READY)
        app.press('SCRIPT:[{"say": "on it"}, {"wait": 600}]\r')
        app.wait_for("▌ on it")
        below = descendants(app.pid)
        app.send(signal.SIGTERM)
        assert app.wait() == 143
        assert is_restored(app)
        assert below
        wait_for_the_end_of(below)


def test_nothing_is_left_after_kill_9(tmp_path: Path) -> None:
    with avatar_in_terminal(tmp_path, *GUI) as app:
        app.wait_for(READY)
        app.press('SCRIPT:[{"say": "on it"}, {"tool": "Bash", "seconds": 600}]\r')
        app.wait_for("▌ on it")
        # Warden, keeper, agent, and the tool.
        app.wait_until(lambda: len(descendants(app.pid)) >= 4, "process of the tool")
        below = descendants(app.pid)
        app.send(signal.SIGKILL)
        app.wait()
        wait_for_the_end_of(below)


def wait_for_the_end_of(pids: "set[int] | list[int]") -> None:
    deadline = time.monotonic() + PATIENCE
    while left := [pid for pid in pids if is_alive(pid)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def is_alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text("utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize(
    ("env", "size", "words"),
    [
        ({"TERM": "dumb"}, (80, 24), "TERM is dumb; use: avatar repl"),
        ({}, (39, 24), "gui needs 40x10 at least, this terminal has 39x24"),
    ],
)
def test_a_terminal_that_cannot_show_it_gets_one_clear_line(
    env: dict[str, str], size: tuple[int, int], words: str, tmp_path: Path
) -> None:
    with avatar_in_terminal(tmp_path, *GUI, size=size, env=env) as app:
        assert app.wait() == 2
        assert app.says(words)
        assert len(app.text.splitlines()) <= 3


def test_without_a_terminal_it_names_the_command_for_scripts(tmp_path: Path) -> None:
    done = avatar(tmp_path, "gui")
    assert (done.returncode, done.stderr) == (
        2,
        "avatar: gui needs a terminal; for scripts use: avatar chat\n",
    )


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden" / "textual"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ModuleNotFoundError(name='textual')")
    path = f"{hidden.parent}{os.pathsep}{Path(__file__).resolve().parents[2]}"
    with avatar_in_terminal(tmp_path, *GUI, env={"PYTHONPATH": path}) as app:
        assert app.wait() == 2
        assert app.says("textual is missing; install it: pip install 'avatar-actors[gui]'")


def test_an_agent_that_is_not_there_is_told_and_the_embedded_one_offered(tmp_path: Path) -> None:
    with avatar_in_terminal(tmp_path, "gui", "-p", "claude", size=(120, 36)) as app:
        app.wait_for("claude cannot be started. Use the embedded agent instead?")
        app.press("y")
        app.wait_for("switching to embedded")
        app.wait_until(lambda: "needs" not in app.text or READY in app.text, "input")
        app.press("6*7\r")
        app.wait_for("▌ 42")
        app.press(CTRL_Q)
        assert app.wait() == 0
