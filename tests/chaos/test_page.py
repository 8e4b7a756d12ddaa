"""The report as text, JSON and a page: whole, honest, and in need of nothing else."""

import re
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from avatar_actors import SettingsError
from avatar_actors.chaos import (
    ChaosAgents,
    ChaosOptions,
    ChaosReport,
    FaultKind,
    html_page,
    plan_of,
    report_from_json,
    report_to_json,
    text_summary,
    verdict,
)
from avatar_actors.chaos.faults.injector import FaultRecord
from avatar_actors.chaos.leak_check import Leftovers
from avatar_actors.chaos.oracle import Breach, Breaches
from avatar_actors.chaos.report.report import Evidence, Growth, judged, memory_words
from avatar_actors.chaos.report.samples import Effort, Samples
from avatar_actors.chaos.report.statistics import Prompts, RunCounters, Slope

OPTIONS = ChaosOptions(avatars=4, seconds=30.0, every=0.2)
CLEAN = Leftovers(orphans=0, zombies=0, descriptors=0, tasks=0, threads=0, directories=0)
HOSTILE = '<script src="https://example.org/x.js">'


def evidence(**changes: object) -> Evidence:
    """What a run could have seen."""
    schedule = plan_of(OPTIONS, ChaosAgents())
    faults = tuple(
        FaultRecord(
            number=fault.number,
            kind=fault.kind,
            avatar=fault.avatar,
            planned=fault.at,
            at=fault.at,
            is_landed=True,
            proof=HOSTILE,
            attempts=1,
            detect=0.004,
            restart=0.2 if number % 2 else None,
            recovery=0.25 + number / 1000,
            restarts=number % 2,
            prompts=Prompts(sent=2, answered=1, failed=1),
        )
        for number, fault in enumerate(schedule)
    )
    times = [float(second) for second in range(30)]
    seen = Evidence(
        options=OPTIONS,
        machine="a machine",
        schedule=schedule,
        left_out=(),
        faults=faults,
        prompts=(Prompts(sent=500, answered=490, failed=10),),
        breaches=(Breaches(),),
        down_seconds=6.0,
        counters=RunCounters(),
        dead_letters=3,
        effort=Effort(ran=15.0, starved=3.0),
        samples=Samples(
            seconds=times,
            restarts=times,
            memory=[7e7] * 30,
            blocks=[6e5] * 30,
            heap=[3e7] * 30,
            descriptors=[80.0] * 30,
            tasks=[300.0] * 30,
            threads=[1.0] * 30,
        ),
        remains=CLEAN,
        seconds=30.0,
        is_complete=True,
    )
    return msgspec.structs.replace(seen, **changes)


def report(**changes: object) -> ChaosReport:
    return judged(evidence(**changes))


def test_a_run_without_a_broken_promise_is_ok() -> None:
    assert report().is_ok
    # Too short a run to judge its memory, which is not the same as a promise kept.
    assert verdict(report()) == "ok: every promise was kept; not judged: memory grows"
    lines = text_summary(report(), 100)
    assert any(line.startswith("  not judged memory grows ") for line in lines)
    assert "<td>-</td><td>not judged</td>" in html_page(report())
    assert report().totals.availability == pytest.approx(1 - 6 / 120)
    assert "used 0.50 cores and waited for a core 10.00 %" in "".join(text_summary(report(), 200))


def broken(breach: Breach) -> Breaches:
    breaches = Breaches()
    breaches.add(breach, "seen in a test")
    return breaches


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"breaches": (broken(Breach.EVENT_LOST),)}, "events lost"),
        ({"breaches": (broken(Breach.AFTER_CANCEL),)}, "events after cancel"),
        ({"prompts": (Prompts(sent=1, lost=1),)}, "prompts lost"),
        ({"remains": msgspec.structs.replace(CLEAN, orphans=1)}, "orphans"),
        ({"remains": msgspec.structs.replace(CLEAN, zombies=1)}, "zombies"),
        ({"remains": msgspec.structs.replace(CLEAN, descriptors=2)}, "descriptors left"),
        ({"faults": ()}, "faults not landed"),
        ({"counters": RunCounters(disturbed=1)}, "siblings disturbed"),
        ({"counters": RunCounters(given_up=1)}, "avatars given up"),
    ],
)
def test_each_promise_can_be_broken(changes: dict[str, object], name: str) -> None:
    found = report(**changes)
    assert not found.is_ok
    assert [promise.name for promise in found.promises if not promise.is_kept] == [name]
    assert name in verdict(found)


@pytest.mark.parametrize("grown", ["memory", "blocks", "heap"])
def test_memory_that_grows_with_restarts_breaks_a_promise(grown: str) -> None:
    counts = [float(10 * second) for second in range(600)]
    wavy = [1e6 + (number * 7919) % 13 * 1e2 for number in range(600)]
    growing = [10 * count + wave for count, wave in zip(counts, wavy, strict=True)]
    columns = dict.fromkeys(Samples.__struct_fields__, wavy)
    found = report(samples=Samples(**{**columns, "restarts": counts, grown: growing}))
    assert [each.name for each in found.promises if not each.is_kept] == ["memory grows"]
    slopes = {"memory": found.memory.resident, "blocks": found.memory.blocks}
    slopes["heap"] = found.memory.heap
    assert [name for name, slope in slopes.items() if slope.is_growth] == [grown]


def test_the_slopes_are_told_with_their_intervals() -> None:
    thousand = Slope(1024.0, -1024.0, 3072.0)
    words = memory_words(Growth(blocks=thousand, heap=thousand, resident=thousand))
    assert words == (
        "per 1,000 restarts: +1,024 (-1,024 to +3,072) blocks; +1 (-1 to +3) KiB of heap; "
        "+1 (-1 to +3) KiB of RSS"
    )


def test_an_interrupted_run_is_not_ok_and_says_why() -> None:
    partial = report(is_complete=False, faults=())
    assert not partial.is_ok
    assert verdict(partial).startswith("interrupted")


def test_a_report_can_be_read_again_from_its_json(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_bytes(report_to_json(report()))
    assert report_from_json(file) == report()
    file.write_text("[]")
    with pytest.raises(SettingsError, match="is no report of chaos"):
        report_from_json(file)


class Balance(HTMLParser):
    """Whether every tag that was opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_but_itself() -> None:
    text = html_page(report())
    balance = Balance()
    balance.feed(text)
    assert balance.open == []
    assert balance.tags.count("svg") == 10
    assert not {"script", "link", "img", "iframe"} & set(balance.tags)
    assert not re.search(r"(src|href)=|url\(|@import", text.replace("&lt;script src=", ""))


def test_what_agents_wrote_stays_text_on_the_page() -> None:
    text = html_page(report())
    assert HOSTILE not in text
    assert "&lt;script" in text


def test_the_page_and_the_summary_have_a_row_for_each_kind() -> None:
    found = report()
    lines, text = text_summary(found, 200), html_page(found)
    for kind in FaultKind:
        assert any(line.startswith(f"{kind.value} ") for line in lines)
        assert f"<td>{kind.value}</td>" in text


def test_a_run_without_any_fault_has_a_page_too() -> None:
    empty = report(schedule=(), faults=())
    assert "none" in html_page(empty)
    assert text_summary(empty, 80)


def test_a_narrow_terminal_gets_a_table_that_fits() -> None:
    lines = text_summary(report(), 80)
    table = lines[: lines.index("")]
    assert len(table) == len(FaultKind) + 1
    assert max(map(len, table)) <= 80
    assert len(text_summary(report(), 200)[0]) > 150
