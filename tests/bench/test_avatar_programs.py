"""The programs about avatars as CI starts them, and how their figures are judged."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from avatar_actors import (
    AvatarEvent,
    ContinuityEvent,
    EventStream,
    TextEvent,
    ThinkingEvent,
    ToolEvent,
    TurnEndedEvent,
    TurnStartedEvent,
)
from bench import (
    crossing,
    growth,
    gui,
    hostile,
    interrupt,
    paced,
    recovery,
    scale,
    startup,
    throughput,
)
from bench.agents.figure import (
    AtMost,
    Bound,
    Figure,
    NoneAtAll,
    RatioAtMost,
    Samples,
    heading,
    json_line,
    miss,
    percentile,
    row,
)
from bench.agents.program import Part
from bench.contest import Scale
from bench.interrupt_interleavings import Tally, Watch
from bench.measure import Spread
from tests.thorough import for_conformance

PARTS: dict[str, list[Part]] = {
    "bench.crossing": crossing.PARTS,
    "bench.growth": growth.PARTS,
    "bench.gui": gui.PARTS,
    "bench.hostile": hostile.PARTS,
    "bench.interrupt": interrupt.PARTS,
    "bench.paced": paced.PARTS,
    "bench.recovery": recovery.PARTS,
    "bench.scale": scale.PARTS,
    "bench.startup": startup.PARTS,
    "bench.throughput": throughput.PARTS,
}
PROGRAMS = pytest.mark.parametrize("program", PARTS)
KEYS = ["bench", "value", "unit", "ratio", "against", "n", "rounds"]
# One part each that is short, and the figures that it must give.
SHORT = {
    "crossing": ("calls", {"call_native", "call_thread", "call_asyncio", "call_trio"}),
    "growth": ("memory", {"memory_idle", "memory_used", "memory_helpers", "descriptors"}),
    "gui": ("rest", {"first_screen", "idle"}),
    "hostile": ("agents", {"memory_growth", "neighbour_unserved", "turns_without_end"}),
    "interrupt": ("ignored", {"ignored_beyond_grace", "ignored_not_restarted"}),
    "paced": ("turn", {"short_turn"}),
    "recovery": ("kill", {"outcome_p99", "ready_beyond_start", "agent_start_p50"}),
    "scale": ("stream", {"delay_p99", "lost_or_misplaced", "stop"}),
    "startup": ("startup", {"pass", "trio", "help", "first_event", "first_text"}),
    "throughput": ("claude", {"claude_turn", "claude_every", "claude_long", "claude_arrived"}),
}


def run(program: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", program, *arguments],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def figure_of(
    value: float, bound: Bound = None, ratio: Spread | None = None, against: str = ""
) -> Figure:
    return Figure(
        bench="scale.x", value=value, unit="ms", n=10, ratio=ratio, against=against, bound=bound
    )


@for_conformance
@pytest.mark.parametrize("name", SHORT)
def test_quick_run_gives_one_json_object_per_figure_and_keeps_its_promises(name: str) -> None:
    part, wanted = SHORT[name]
    done = run(f"bench.{name}", "--quick", "--json", "--only", part)
    # A bound of time or memory is judged by the program itself, on a machine of its own.
    missed = [line for line in done.stderr.splitlines() if not re.search(r", at most \S+$", line)]
    assert not missed
    assert done.returncode == (1 if done.stderr else 0)
    figures = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(list(figure) == KEYS for figure in figures)
    assert {f"{name}.{each}" for each in wanted} <= {figure["bench"] for figure in figures}


def test_table_has_a_row_per_figure_and_a_verdict() -> None:
    done = run("bench.interrupt", "--quick", "--only", "ignored")
    assert (done.stderr, done.returncode) == ("", 0)
    lines = done.stdout.splitlines()
    assert any(line.startswith("ignored_beyond_grace") and line.endswith(" met") for line in lines)
    assert lines[-1].startswith("All bounds are met")
    assert max(map(len, lines)) <= 100


@for_conformance
@PROGRAMS
def test_help_says_what_each_part_is(program: str) -> None:
    done = run(program, "--help")
    assert done.returncode == 0
    assert all(part.about in done.stdout for part in PARTS[program])


def test_unknown_part_is_refused_with_the_list_of_those_there_are() -> None:
    done = run("bench.throughput", "--only", "nonsense")
    assert (done.returncode, done.stdout) == (2, "")
    assert "invalid choice: 'nonsense'" in done.stderr
    assert all(part.name in done.stderr for part in throughput.PARTS)


def test_ctrl_c_ends_it_with_a_word_and_130_and_leaves_no_agent() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "bench.recovery"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        family = _descendants_once_there_are(process.pid, 3)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said.strip()) == (130, "interrupted")
    assert not [pid for pid in family if _is_alive(pid)]


def _descendants_once_there_are(root: int, count: int) -> set[int]:
    while True:
        found = _descendants(root)
        if len(found) >= count:
            return found


def _descendants(root: int) -> set[int]:
    parents = dict(_parents())
    found = {root}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {root}


def _parents() -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_bytes().rpartition(b")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        pairs.append((int(stat.parent.name), int(fields[1])))
    return pairs


def _is_alive(pid: int) -> bool:
    try:
        return b") Z " not in Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_json_is_in_the_form_of_the_design() -> None:
    figure = figure_of(1.23456, ratio=Spread(0.5, 0.1, 0.9), against="SDK")
    assert json_line(figure) == (
        '{"bench":"scale.x","value":1.235,"unit":"ms","ratio":0.5,"against":"SDK",'
        '"n":10,"rounds":1}'
    )


def test_json_of_a_figure_without_an_opponent_has_null_for_it() -> None:
    record = json.loads(json_line(figure_of(3.0)))
    assert (record["ratio"], record["against"]) == (None, None)


@pytest.mark.parametrize(
    ("figure", "sentence"),
    [
        (figure_of(51, AtMost(50)), "scale.x is 51 ms, at most 50"),
        (figure_of(1, NoneAtAll()), "scale.x is 1 ms, none allowed"),
        (
            figure_of(9, RatioAtMost(4), Spread(4.5, 4, 5), "floor"),
            "scale.x is 4.5 times floor, at most 4",
        ),
    ],
)
def test_missed_bound_is_said_in_words(figure: Figure, sentence: str) -> None:
    assert miss(figure, Scale.FULL) == sentence
    assert row(figure, Scale.FULL).endswith("NOT met")


@pytest.mark.parametrize(
    "figure",
    [
        figure_of(50, AtMost(50)),
        figure_of(0, NoneAtAll()),
        figure_of(9, RatioAtMost(4), Spread(4, 1, 50), "floor"),
    ],
)
def test_bound_itself_is_met(figure: Figure) -> None:
    assert not miss(figure, Scale.FULL)
    assert row(figure, Scale.FULL).endswith(" met")


def test_quick_run_widens_measured_bounds_and_no_promise() -> None:
    assert not miss(figure_of(499, AtMost(50)), Scale.QUICK)
    assert miss(figure_of(501, AtMost(50)), Scale.QUICK)
    assert miss(figure_of(1, NoneAtAll()), Scale.QUICK)


@pytest.mark.parametrize(
    ("percent", "value"), [(50, 100.0), (99, 198.0), (99.9, 200.0), (100, 200.0), (0, 1.0)]
)
def test_percentile_is_the_smallest_that_so_many_do_not_exceed(
    percent: float, value: float
) -> None:
    assert percentile([float(number) for number in range(200, 0, -1)], percent) == value


async def watched(*events: AvatarEvent) -> Tally:
    tally = Tally(1, lambda _: None)
    stream = EventStream()
    stream.push(events)
    stream.close()
    await Watch("x", tally).read(stream)
    return tally


async def test_watch_finds_an_event_of_a_turn_after_its_end() -> None:
    late = TextEvent(turn_id=1, text="<1>")
    tally = await watched(TurnEndedEvent(turn_id=1), TurnStartedEvent(turn_id=2), late)
    assert (len(tally.afterwards), tally.mixed) == (1, [])


@pytest.mark.parametrize(
    "event",
    [
        TextEvent(turn_id=2, text="<2><1>"),
        ThinkingEvent(turn_id=2, thought="<1>"),
        ToolEvent(turn_id=2, tool_id="tool-<1>-7"),
        TurnEndedEvent(turn_id=2, text="<1>"),
    ],
)
async def test_watch_finds_what_another_turn_said(event: AvatarEvent) -> None:
    tally = await watched(event)
    assert (tally.afterwards, len(tally.mixed)) == ([], 1)


async def test_watch_is_content_with_turns_that_keep_to_themselves() -> None:
    tally = await watched(
        TextEvent(turn_id=1, text="<1>"),
        TurnEndedEvent(turn_id=1, text="<1>"),
        TextEvent(turn_id=2, text="<2><2>"),
        ContinuityEvent(),
        TurnEndedEvent(turn_id=2, text="<2><2>"),
    )
    assert (tally.afterwards, tally.mixed) == ([], [])


@pytest.mark.parametrize(
    ("texts", "wrong"),
    [
        (["0 5 ", "1 5 2 5 "], 0),
        (["0 5 ", "2 5 "], 1),
        (["0 5 ", "2 5 ", "1 5 "], 3),
        (["0 5 ", "1 5 "], 1),
        (["0 5 ", "1 5 ", "1 5 ", "2 5 "], 1),
        ([], 3),
    ],
)
def test_listener_finds_what_is_lost_doubled_or_misplaced(texts: list[str], wrong: int) -> None:
    found = scale.Found()
    listener = scale.Listener(found)
    for text in texts:
        listener.hear(text, 1_000_000_005)
    listener.finish(3)
    assert found.wrong == wrong
    assert all(delay == 1.0 for delay in found.delays)


def test_ratio_is_taken_within_each_round() -> None:
    samples = Samples({"turn": [1.0, 20.0, 3.0], "floor": [10.0, 20.0, 1.0]})
    assert samples.ratio("turn", "floor") == Spread(median=1.0, low=0.1, high=3.0)
    assert samples.value("turn") == 3.0


def test_columns_stand_below_their_headings_and_fit() -> None:
    figure = figure_of(123_456, AtMost(1024), Spread(123.4, 100.1, 200.2), "json floor")
    shown = row(figure, Scale.FULL)
    assert max(len(heading()), len(shown)) <= 100
    end = heading().index("ratio") + len("ratio")
    assert shown[:end].endswith(" 123")
