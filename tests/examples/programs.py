"""The examples as programs of their own: run to their end in a pipe, or watched while they run."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from examples.census import Census
from tests.examples.terminal import PATIENCE, ROOT


def command(name: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", f"examples.{name}", *arguments]


def environment(tmp_path: Path) -> dict[str, str]:
    # The agent stores its conversations there, not in the home of who runs the tests.
    return {**os.environ, "PYTHONIOENCODING": "utf-8", "XDG_STATE_HOME": str(tmp_path)}


def run(
    tmp_path: Path,
    name: str,
    *arguments: str,
    stdin: str = "",
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """In a pipe, to its end."""
    return subprocess.run(
        command(name, *arguments),
        cwd=ROOT,
        env={**environment(tmp_path), **(env or {})},
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )


def lines_of(tmp_path: Path, name: str, *arguments: str) -> list[str]:
    """What a run shows that ends well: plain lines for 80 columns, and nothing on stderr.

    An example that plays scripts of its own has switched them on itself.
    """
    done = run(tmp_path, name, *arguments, env={"AVATAR_EMBEDDED_SCRIPTS": "0"})
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line for line in lines if not line.isprintable() or len(line) > 80] == []
    return lines


@contextmanager
def running(tmp_path: Path, name: str, *arguments: str) -> Generator[subprocess.Popen[str]]:
    """In pipes, until the end of the block at the latest."""
    process = subprocess.Popen(
        command(name, *arguments),
        cwd=ROOT,
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def shown(process: subprocess.Popen[str], size: int) -> str:
    """The next characters, as soon as they are there; nothing of what follows is taken."""
    assert process.stdout is not None
    descriptor, text = process.stdout.fileno(), b""
    while len(text) < size:
        assert select.select([descriptor], [], [], PATIENCE)[0], f"only {text!r} was shown"
        piece = os.read(descriptor, size - len(text))
        assert piece, f"only {text!r} was shown"
        text += piece
    return text.decode()


def ended_by(process: subprocess.Popen[str], number: signal.Signals) -> int:
    """Its exit code after this signal; nothing of what it had started is left."""
    census = Census()
    census.look(process.pid)
    process.send_signal(number)
    code = process.wait(PATIENCE)
    assert census.left() == 0
    return code


class Signpost:
    """A named pipe between a test and a tool of the agent: each can wait there for the other."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self._path = path
        self._end = os.open(path, os.O_RDWR)  # both ends, so that opening waits for nobody

    def pass_by(self) -> dict[str, object]:
        """A step of the agent's script: it tells the test that it is here."""
        return self._tool(f"echo here > '{self._path}'")

    def stop_at(self) -> dict[str, object]:
        """A step of the agent's script: it waits for the test."""
        return self._tool(f"read word < '{self._path}'")

    def wait(self) -> None:
        """Until the agent has passed by."""
        assert select.select([self._end], [], [], PATIENCE)[0], "the agent never came"
        os.read(self._end, 100)

    def let_go(self) -> None:
        """The agent goes on."""
        os.write(self._end, b"go\n")

    def close(self) -> None:
        os.close(self._end)

    def _tool(self, line: str) -> dict[str, object]:
        return {"tool": "Bash", "run": True, "input": {"command": line}}


def script(*steps: dict[str, object]) -> str:
    return f"SCRIPT:{json.dumps(steps)}"
