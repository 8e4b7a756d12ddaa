"""The demo as people meet it: in a pipe, in terminals of any size, interrupted."""

import os
import signal
import subprocess
import sys

import pytest

from tests.examples.terminal import PATIENCE, ROOT, demo_in_terminal

FAST = ("--speed", "40")
DEMO = [sys.executable, "-m", "examples.supervision_demo"]


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
    assert [f"{n}/6" for n in range(1, 7) if f"\n{n}/6  " not in f"\n{told.stdout}"] == []
    assert "\x1b" not in told.stdout
    assert all(line.isprintable() for line in told.stdout.splitlines())


@pytest.mark.parametrize(
    "fact",
    [
        "till crashed: ValueError: a wooden coin",
        "till is up again, life 2",
        "oven is up again, life 2",
        "ben comes back in 2.0 s",
        "bakery gave up: oven used up its restarts",
        "bakery is up again, life 2",
        "shop shut down",
    ],
)
def test_piped_it_tells_what_happens(fact: str, told: subprocess.CompletedProcess[str]) -> None:
    assert fact in told.stdout


def test_old_encoding_gets_question_marks_not_a_crash() -> None:
    told = piped(PYTHONIOENCODING="ascii")
    assert told.returncode == 0
    assert "? till is up" in told.stdout


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


def test_bad_speed_is_refused_with_what_is_allowed() -> None:
    refused = subprocess.run(
        [*DEMO, "--speed", "0"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert refused.returncode == 2
    assert "--speed must be above 0" in refused.stderr


@pytest.mark.parametrize("size", [(80, 24), (40, 24), (40, 12), (20, 5), (132, 50)])
def test_in_a_terminal_it_is_drawn_within_its_edges(size: tuple[int, int]) -> None:
    with demo_in_terminal(*FAST, size=size) as demo:
        demo.read_until("6/6")
        assert demo.read_to_end() == 0
    assert demo.screen.overruns == []
    assert demo.screen.unknown == []
    assert demo.screen.cursor_is_visible
    assert demo.echoes_at_end


def test_last_picture_stays_and_shows_everything_stopped() -> None:
    with demo_in_terminal(*FAST) as demo:
        assert demo.read_to_end() == 0
    tree = [line for line in demo.screen.lines if "○ stopped" in line]
    assert [line.split()[-3] for line in tree] == [
        *("shop", "till", "bakery", "mill", "dough", "oven", "couriers", "ada", "ben", "cleo")
    ]
    assert demo.screen.lines[-1] == ""


def test_resized_terminal_is_drawn_anew() -> None:
    with demo_in_terminal("--speed", "20") as demo:
        demo.read_until("2/6")
        demo.resize(40, 24)
        demo.read_until("3/6")
        demo.screen.overruns.clear()
        assert demo.read_to_end() == 0
    assert demo.screen.overruns == []
    assert sum("shop  " in line for line in demo.screen.lines) == 1


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_it_stops_in_order_and_gives_the_terminal_back(
    number: signal.Signals, code: int
) -> None:
    with demo_in_terminal("--speed", "10") as demo:
        demo.read_until("2/6")
        demo.send(number)
        assert demo.read_to_end() == code
    assert demo.screen.cursor_is_visible
    assert demo.echoes_at_end
    assert any("Interrupted" in line for line in demo.screen.lines)
    assert any("shop shut down" in line for line in demo.screen.lines)
    assert not any("Traceback" in line for line in demo.screen.lines)


def test_no_color_draws_without_colours() -> None:
    with demo_in_terminal(*FAST, NO_COLOR="1") as demo:
        assert demo.read_to_end() == 0
    assert demo.screen.colours == set()


def test_dumb_terminal_gets_plain_lines() -> None:
    with demo_in_terminal(TERM="dumb") as demo:
        assert demo.read_to_end() == 0
    assert demo.screen.colours == set()
    assert any("Everything has stopped" in line for line in demo.screen.lines)


def test_example_shop_runs() -> None:
    shop = subprocess.run(
        [sys.executable, "-m", "examples.shop"],
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert [line.split(":")[0] for line in shop.stdout.splitlines()[:2]] == ["life 1", "life 2"]
    assert "ZeroDivisionError" in shop.stderr
