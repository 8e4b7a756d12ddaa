"""One kind after the other: each has its slice, and what it left is told of it alone."""

import os
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
import trio

from avatar_actors.chaos import (
    ChaosAgents,
    ChaosOptions,
    ChaosReport,
    FaultKind,
    FaultOrder,
    RunProgress,
    digest,
    html_page,
    plan_of,
    report_from_json,
    report_to_json,
    run_chaos,
    text_summary,
)
from avatar_actors.chaos.faults.schedule import slices
from avatar_actors.chaos.leak_check import Alone
from avatar_actors.chaos.report.report import judged
from avatar_actors.chaos.report.summary import command
from avatar_actors.cli.commands import run as avatar
from tests.chaos.test_page import CLEAN, evidence
from tests.thorough import for_conformance

K = FaultKind
BY_KIND = ChaosOptions(avatars=4, seconds=56.0, every=0.2, seed=3, order=FaultOrder.BY_KIND)
SMALL = ChaosOptions(
    avatars=2,
    seconds=6.0,
    every=0.5,
    kinds=(K.KILL_AGENT, K.FLOOD, K.KILL_IN_STOP),
    order=FaultOrder.BY_KIND,
)


def test_the_kinds_come_one_after_the_other_in_slices_of_the_same_length() -> None:
    faults = plan_of(BY_KIND, ChaosAgents())
    parts = slices(faults, BY_KIND.order, BY_KIND.seconds)
    assert [part.kind for part in parts] == list(FaultKind)
    assert all(part.end == pytest.approx(part.begin + 2.0) for part in parts)
    assert all(fault.kind is part.kind for part in parts for fault in part.faults)
    assert all(part.begin <= each.at < part.end for part in parts for each in part.faults)
    assert sum((part.faults for part in parts), ()) == faults
    assert all(first.at < second.at for first, second in pairwise(faults))
    assert 0.15 < 56 / len(faults) < 0.25


def test_a_kind_comes_at_least_once_however_short_its_slice_is() -> None:
    options = msgspec.structs.replace(BY_KIND, seconds=1.0, every=60.0)
    faults = plan_of(options, ChaosAgents())
    assert [fault.kind for fault in faults] == list(FaultKind)
    assert faults[-1].at < 1.0


def test_a_kind_that_is_wished_twice_has_one_slice() -> None:
    options = msgspec.structs.replace(BY_KIND, kinds=(K.HANG, K.FLOOD, K.HANG))
    parts = slices(plan_of(options, ChaosAgents()), options.order, options.seconds)
    assert [part.kind for part in parts] == [K.HANG, K.FLOOD]


def test_the_order_is_part_of_what_a_schedule_is_made_of() -> None:
    mixed = msgspec.structs.replace(BY_KIND, order=FaultOrder.MIXED)
    assert digest(plan_of(BY_KIND, ChaosAgents())) == "1a79378644fb8f73"
    assert digest(plan_of(BY_KIND, ChaosAgents())) != digest(plan_of(mixed, ChaosAgents()))


@pytest.mark.parametrize("order", FaultOrder)
def test_a_run_without_faults_is_one_slice(order: FaultOrder) -> None:
    [part] = slices((), order, 5.0)
    assert (part.kind, part.begin, part.end) == (None, 0.0, 5.0)


def alone(**left: int) -> Alone:
    remains = msgspec.structs.replace(CLEAN, **left)
    return Alone(dead_letters=7, disturbed=0, answers=100, p99=0.05, left=remains)


def report(**changes: Alone) -> ChaosReport:
    """A run in which each kind did nothing that must not be, but for the changes."""
    found = {kind: changes.get(kind.value, alone()) for kind in FaultKind}
    seen = evidence(options=BY_KIND, alone=found)
    for _ in range(100):
        seen.counters.baseline.add(0.025)
    return judged(seen)


def test_what_a_slice_left_breaks_the_promise_and_names_the_kind() -> None:
    found = report(hang=alone(descriptors=2), flood=alone(descriptors=1, tasks=3))
    broken = {each.name: (each.found, each.words) for each in found.promises if not each.is_kept}
    assert broken == {"descriptors left": (3, "hang: 2; flood: 1"), "tasks left": (3, "flood: 3")}


def test_what_a_slice_left_and_is_still_there_at_the_end_is_counted_once() -> None:
    seen = evidence(remains=msgspec.structs.replace(CLEAN, zombies=2))
    found = judged(msgspec.structs.replace(seen, alone={K.EXIT: alone(zombies=1)}))
    assert [each.found for each in found.promises if each.name == "zombies"] == [2]


def test_each_kind_by_itself_is_in_the_text_and_on_the_page() -> None:
    lines, page = text_summary(report(hang=alone(orphans=1)), 200), html_page(report())
    row = [line.split() for line in lines if line.startswith("hang ")][1]
    assert row == ["hang", "7", "0", "50", "ms", "2.00", "1", "0", "0", "0", "0", "0"]
    assert "Each kind by itself" in page
    assert "<td>7</td><td>0</td><td>50 ms</td><td>2.00</td>" in page


def test_a_narrow_terminal_gets_what_a_kind_left_as_one_number() -> None:
    lines = text_summary(report(hang=alone(orphans=1, tasks=2)), 80)
    first = next(index for index, line in enumerate(lines) if line.startswith("by itself"))
    table = lines[first : lines.index("", first)]
    assert len(table) == len(FaultKind) + 1
    assert max(map(len, table)) <= 80
    assert next(line for line in table if line.startswith("hang ")).split()[-1] == "3"


def test_a_mixed_run_says_nothing_of_kinds_by_themselves() -> None:
    mixed = judged(evidence())
    assert all(row.alone is None for row in mixed.rows)
    assert "by itself" not in html_page(mixed) + "".join(text_summary(mixed, 200))
    assert "--by-kind" not in command(mixed)


def test_what_is_typed_to_have_it_again_has_the_order() -> None:
    assert command(report()) == (
        "avatar chaos --avatars 4 --seconds 56 --every 0.2 --seed 3 --by-kind"
    )


def test_a_report_from_before_there_was_an_order_can_be_read(tmp_path: Path) -> None:
    old = msgspec.json.decode(report_to_json(judged(evidence())))
    del old["options"]["order"]
    for row in old["rows"]:
        del row["alone"]
    file = tmp_path / "old.json"
    file.write_bytes(msgspec.json.encode(old))
    assert report_from_json(file) == judged(evidence())


def test_a_replay_has_its_own_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "report.json"
    file.write_bytes(report_to_json(report()))
    assert report_from_json(file) == report()
    assert avatar(["chaos", "--replay", str(file), "--by-kind"]) == 2
    assert "--replay takes avatars" in capsys.readouterr().err


async def run(tell: Callable[[RunProgress], None]) -> ChaosReport:
    with trio.fail_after(240):
        return await run_chaos(SMALL, ChaosAgents(), tell)


@for_conformance
async def test_a_kind_by_itself_leaves_nothing_and_its_siblings_are_measured() -> None:
    seen: list[tuple[str, str]] = []
    found = await run(lambda progress: seen.append((progress.phase, progress.kind)))
    assert found.is_ok, found.promises
    assert [row.kind for row in found.rows] == list(SMALL.kinds)
    for row in found.rows:
        assert row.alone is not None
        assert row.landed == row.planned
        assert row.alone.left.is_clean
        assert row.alone.answers > 0
        assert row.alone.p99 is not None
    told = [kind for phase, kind in dict.fromkeys(seen) if phase == "faults"]
    assert told == [kind.value for kind in SMALL.kinds]
    in_slices = sum(row.alone.answers for row in found.rows if row.alone)
    # After the last look each avatar is asked once more, at most.
    assert 0 <= found.siblings.total - in_slices <= SMALL.avatars


@for_conformance
async def test_what_is_left_in_a_slice_is_found_and_told_of_its_kind_alone() -> None:
    left: list[subprocess.Popen[bytes]] = []
    descriptors: list[int] = []

    def leave_some(progress: RunProgress) -> None:
        if (progress.phase, progress.kind) == ("faults", "flood") and not left:
            left.append(subprocess.Popen(["sleep", "600"]))
            left.append(subprocess.Popen(["true"]))  # nobody waits for it
            descriptors.append(os.dup(2))
            trio.lowlevel.spawn_system_task(trio.sleep_forever)

    try:
        found = await run(leave_some)
    finally:
        for process in left:
            process.kill()
            process.wait()
        for descriptor in descriptors:
            os.close(descriptor)
    broken = {each.name: (each.found, each.words) for each in found.promises if not each.is_kept}
    names = ("orphans", "zombies", "descriptors left", "tasks left")
    assert broken == dict.fromkeys(names, (1, "flood: 1"))
    for row in found.rows:
        assert row.alone is not None
        assert row.alone.left.is_clean is (row.kind is not K.FLOOD)
