"""The avatar's demo as people meet it: in a pipe, in terminals of any size, interrupted."""

import os
import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from examples.census import Census
from tests.examples.terminal import PATIENCE, ROOT, demo_in_terminal
from tests.thorough import for_conformance

PROGRAM = "examples.avatar_demo"
DEMO = [sys.executable, "-m", PROGRAM]
in_terminal = partial(demo_in_terminal, program=PROGRAM)


def piped(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        DEMO,
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )


@pytest.fixture(name="told", scope="module")
def run_in_a_pipe() -> subprocess.CompletedProcess[str]:
    return piped(PYTHONIOENCODING="utf-8")


def test_piped_it_tells_every_chapter_in_plain_lines(
    told: subprocess.CompletedProcess[str],
) -> None:
    assert (told.returncode, told.stderr) == (0, "")
    assert [f"{n}/5" for n in range(1, 6) if f"\n{n}/5  " not in f"\n{told.stdout}"] == []
    assert "\x1b" not in told.stdout
    assert all(line.isprintable() for line in told.stdout.splitlines())


@pytest.mark.parametrize(
    "fact",
    [
        r"aria is up after \d+",
        r"thinks Looking around",
        r"plan   ▸ Look at the files",
        r"tool   ✔ Read README.md",
        r"asks   \? May I\? Write notes.txt",
        r"demo   answers in your place: allow once",
        r"finds: buy milk",
        r"demo   kill -9 \d+",
        r"carry boxes outcome unknown",
        r"✖ crashed after",
        r"The caller knew \d+ ms after the kill: the agent was killed by SIGKILL",
        r"Kept: “I carry the boxes down.”",
        r"continuity: resumed \d+ ms after the kill",
        r"- write notes.txt: buy milk",
        r"- tidy the attic\n",
        r"session  running, one_for_all, life 2",
    ],
)
def test_piped_it_tells_what_happens(fact: str, told: subprocess.CompletedProcess[str]) -> None:
    assert re.search(fact, told.stdout)


def test_three_tools_run_side_by_side(told: subprocess.CompletedProcess[str]) -> None:
    signs = re.findall(r"^tool   (.)", told.stdout.partition("2/5")[0], re.MULTILINE)
    assert signs == ["▸"] * 3 + ["✔"] * 3


@pytest.mark.skipif(sys.platform != "linux", reason="counted in /proc")
def test_nothing_is_left(told: subprocess.CompletedProcess[str]) -> None:
    [(started, left)] = re.findall(r"(\d+) processes were started, (\d+) are left", told.stdout)
    assert int(started) > 4
    assert int(left) == 0


def test_old_encoding_gets_question_marks_not_a_crash() -> None:
    told = piped(PYTHONIOENCODING="ascii")
    assert told.returncode == 0
    assert "? completed" in told.stdout


def test_reader_that_leaves_early_ends_it_quietly() -> None:
    with subprocess.Popen(
        DEMO, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("size", [(80, 24), (40, 24), (21, 5), (132, 50)])
def test_in_a_terminal_it_stays_within_its_edges(size: tuple[int, int]) -> None:
    with in_terminal("--fast", size=size) as demo:
        demo.read_until("5/5")
        assert demo.read_to_end() == 0
    assert demo.screen.overruns == []
    assert demo.screen.unknown == []
    assert demo.screen.colours > {"0"}
    assert demo.screen.cursor_is_visible
    assert demo.echoes_at_end


@pytest.mark.parametrize(
    ("number", "code", "moment"),
    [
        (signal.SIGTERM, 143, "1/5"),
        (signal.SIGINT, 130, "thinks"),
        pytest.param(signal.SIGINT, 130, "asks", marks=for_conformance),
        (signal.SIGINT, 130, "begins"),
        pytest.param(signal.SIGINT, 130, "4/5", marks=for_conformance),
    ],
)
def test_interrupted_it_stops_everything_and_gives_the_terminal_back(
    number: signal.Signals, code: int, moment: str
) -> None:
    others, census = Census(), Census()
    others.look()
    with in_terminal() as demo:
        demo.read_until(moment)
        census.look()
        census.seen -= others.seen
        demo.send(number)
        assert demo.read_to_end() == code
        assert census.left() == 0
    assert demo.echoes_at_end
    assert any("Interrupted" in line for line in demo.screen.lines)
    assert not any("Traceback" in line for line in demo.screen.lines)


@pytest.mark.parametrize(("no_color", "term"), [("1", "xterm"), ("", "dumb")])
def test_without_colours_where_they_are_not_wanted(no_color: str, term: str) -> None:
    with in_terminal("--fast", NO_COLOR=no_color, TERM=term) as demo:
        assert demo.read_to_end() == 0
    assert demo.screen.colours == set()
    assert any("All has stopped" in line for line in demo.screen.lines)


def test_the_program_of_the_readme_runs(tmp_path: Path) -> None:
    hello = subprocess.run(
        [sys.executable, "-m", "examples.hello_avatar"],
        cwd=ROOT,
        # The agent stores its conversation there, not in the home of who runs the tests.
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "XDG_STATE_HOME": str(tmp_path)},
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert hello.stderr == ""
    assert hello.stdout.endswith("You said:\n- What does this project do?\n")
