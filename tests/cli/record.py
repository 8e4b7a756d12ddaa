"""Records the walkthroughs in tmux: `python -m tests.cli.record [NAME]...`."""

import argparse
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.cli.programs import PATIENCE, command, environment
from tests.cli.walkthroughs import (
    SIZES,
    WALKTHROUGHS,
    Moment,
    Walkthrough,
    timeless,
    walked_through,
)

RECORDINGS = Path(__file__).with_name("recordings")
SETTLING = 1.5


class Tmux:
    """One walkthrough in a tmux of its own."""

    def __init__(self, home: Path, walkthrough: Walkthrough, size: tuple[int, int]) -> None:
        self._home = home
        self._socket = str(home / "tmux")
        run = shlex.join(["env", "-i", *pairs(home), *command(*walkthrough.arguments)])
        columns, rows = size
        self._tmux(
            "-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows),
            # Below the first line: of a whole screen that is cleared, tmux keeps the lines.
            f"echo; {run}; echo $? > code; until [ -e away ]; do sleep 0.01; done",
        )  # fmt: skip

    def look(self, moment: Moment) -> str:
        """The screen and what has scrolled off it; a recorder has time until all has settled."""
        deadline = time.monotonic() + PATIENCE
        while True:
            text = self._tmux("capture-pane", "-p", "-S", "-").rstrip()
            if all(word in text for word in moment.shows):
                break
            assert time.monotonic() < deadline, f"{moment} is not on the screen:\n{text}"
            time.sleep(0.02)
        time.sleep(SETTLING)
        return timeless(self._tmux("capture-pane", "-p", "-S", "-").rstrip())

    def press(self, keys: str) -> None:
        self._tmux("send-keys", "-H", *(f"{ord(key):02x}" for key in keys))

    def open(self, gate: str) -> None:
        (self._home / gate).touch()

    def end(self) -> int:
        code = self._home / "code"
        deadline = time.monotonic() + PATIENCE
        while not (code.exists() and code.read_text()):
            assert time.monotonic() < deadline, "it does not end"
            time.sleep(0.02)
        return int(code.read_text())

    def close(self) -> None:
        self.open("away")
        subprocess.run(["tmux", "-S", self._socket, "kill-server"], check=False)

    def _tmux(self, *arguments: str) -> str:
        words = ["tmux", "-S", self._socket, *arguments]
        env = {**environment(self._home), "TERM": "xterm-256color"}
        done = subprocess.run(words, cwd=self._home, env=env, stdout=subprocess.PIPE, check=True)
        return done.stdout.decode()


def pairs(home: Path) -> list[str]:
    return [
        f"{name}={value}" for name, value in {**environment(home), "TERM": "tmux-256color"}.items()
    ]


def recording(walkthrough: Walkthrough, columns: int) -> Path:
    return RECORDINGS / f"{walkthrough.name}-{columns}.txt"


def record(walkthrough: Walkthrough, size: tuple[int, int]) -> None:
    with tempfile.TemporaryDirectory(prefix="avatar-record-") as home:
        terminal = Tmux(Path(home), walkthrough, size)
        try:
            seen = walked_through(walkthrough, terminal)
        finally:
            terminal.close()
    moments = (f"--- {name}\n{text}\n" for name, text in seen.items())
    recording(walkthrough, size[0]).write_text("".join(moments), "utf-8")


def recorded(walkthrough: Walkthrough, columns: int) -> dict[str, str]:
    """What was seen at each moment."""
    text = recording(walkthrough, columns).read_text("utf-8")
    moments = (moment.partition("\n") for moment in text.split("--- ")[1:])
    return {name: rest.rstrip("\n") for name, _, rest in moments}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("walkthroughs", nargs="*", default=[each.name for each in WALKTHROUGHS])
    wanted = parser.parse_args().walkthroughs
    RECORDINGS.mkdir(exist_ok=True)
    for walkthrough in WALKTHROUGHS:
        if walkthrough.name in wanted:
            for size in SIZES:
                record(walkthrough, size)
                sys.stdout.write(f"{recording(walkthrough, size[0]).name}\n")


if __name__ == "__main__":
    main()
