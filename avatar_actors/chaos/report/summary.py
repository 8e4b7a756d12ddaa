"""The report as text for a terminal, and the words for its figures. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from msgspec.structs import astuple

from avatar_actors.chaos.faults.schedule import FaultOrder
from avatar_actors.chaos.leak_check import Leftovers
from avatar_actors.chaos.report.report import ChaosReport, KindRow, Times

NOTHING = "–"
_MILLI, _SECOND, _TEN = 1e-3, 1.0, 10.0


def duration(seconds: float | None) -> str:
    """A duration in ms or s, with the digits that matter."""
    if seconds is None:
        return NOTHING
    if seconds < _MILLI:
        return f"{seconds * 1e3:.1f} ms"
    if seconds < _SECOND:
        return f"{seconds * 1e3:.0f} ms"
    return f"{seconds:.2f} s" if seconds < _TEN else f"{seconds:.0f} s"


def triple(times: Times) -> str:
    """Median, 99 % and longest."""
    if times.p50 is None:
        return NOTHING
    return " / ".join(duration(each) for each in (times.p50, times.p99, times.longest))


def share(part: float) -> str:
    """A share in percent."""
    return f"{100 * part:.2f} %" if part < 1 else "100 %"


def verdict(report: ChaosReport) -> str:
    """The verdict in one line."""
    broken = [promise for promise in report.promises if not promise.is_kept]
    if broken:
        return f"NOT ok: {', '.join(f'{each.found:,} {each.name}' for each in broken)}"
    if not report.is_complete:
        return "interrupted: every promise was kept as far as it went"
    unjudged = [promise.name for promise in report.promises if not promise.is_judged]
    rest = f"; not judged: {', '.join(unjudged)}" if unjudged else ""
    return f"ok: every promise was kept{rest}"


def sibling_ratio(report: ChaosReport) -> float | None:
    """How much longer siblings waited than in the baseline, by the p99 of both."""
    baseline, siblings = report.baseline.percentile(99), report.siblings.percentile(99)
    return siblings / baseline if baseline and siblings else None


def is_by_kind(report: ChaosReport) -> bool:
    """Whether each kind had a slice of its own."""
    return report.options.order is FaultOrder.BY_KIND


def alone_words(report: ChaosReport, row: KindRow) -> list[str]:
    """Dead letters, siblings disturbed, their p99, and that in relation to the baseline."""
    alone, baseline = row.alone, report.baseline.percentile(99)
    if alone is None:
        return [NOTHING] * 4
    ratio = f"{alone.p99 / baseline:.2f}" if alone.p99 and baseline else NOTHING
    return [f"{alone.dead_letters:,}", f"{alone.disturbed:,}", duration(alone.p99), ratio]


def left_words(row: KindRow) -> list[str]:
    """Orphans, zombies, descriptors, tasks, threads and directories that its slice left."""
    if row.alone is None:
        return [NOTHING] * len(Leftovers.__struct_fields__)
    return [f"{count:,}" for count in astuple(row.alone.left)]


def effort_line(report: ChaosReport) -> str:
    """How busy the machine was."""
    totals = report.totals
    starved = f"waited for a core {share(totals.host_starved)} of the time"
    return f"the host used {totals.host_ran:.2f} cores and {starved}"


def command(report: ChaosReport) -> str:
    """The command that repeats the run."""
    options = report.options
    kinds = "".join(f" --faults {kind.value}" for kind in options.kinds)
    order = " --by-kind" if is_by_kind(report) else ""
    provider = "" if options.provider == "embedded" else f" --provider {options.provider}"
    return (
        f"avatar chaos --avatars {options.avatars} --seconds {options.seconds:g} "
        f"--every {options.every:g} --seed {options.seed}{order}{provider}{kinds}"
    )


# The name of a column, and its width; below 0: to the left.
_WIDE: Final = (
    ("fault", -17),
    ("landed", 9),
    ("detect p50/p99/max", 26),
    ("restart p50/p99/max", 26),
    ("recovery p50/p99/max", 26),
    ("restarts", 8),
    ("avail.", 8),
    ("sent", 6),
    ("ok", 6),
    ("cancel", 6),
    ("fail", 5),
    ("lost", 4),
    ("wrong", 5),
)
_NARROW: Final = (
    ("fault", -17),
    ("landed", 9),
    ("detect", 8),
    ("restart", 8),
    ("recovery", 8),
    ("p99", 8),
    ("lost", 4),
    ("wrong", 5),
)
_ALONE: Final = (
    ("by itself", -17),
    ("dead letters", 12),
    ("disturbed", 9),
    ("siblings' p99", 13),
    ("x baseline", 10),
)
_LEFT: Final = (
    ("orphans", 8),
    ("zombies", 8),
    ("descriptors", 12),
    ("tasks", 6),
    ("threads", 8),
    ("directories", 12),
)
_LEFT_IN_ALL: Final = (("left behind", 12),)

Columns: TypeAlias = Sequence[tuple[str, int]]


def text_summary(report: ChaosReport, width: int) -> list[str]:
    """Everything but the single faults; a narrow terminal gets fewer columns."""
    has_room = width >= _room(_WIDE)
    rows = _rows(report, _WIDE, _all_of) if has_room else _rows(report, _NARROW, _most_of)
    alone = ["", *_alone(report, width)] if is_by_kind(report) else []
    return [*rows, *alone, "", *_totals(report), "", *_promises(report), "", *_end(report)]


def _room(columns: Columns) -> int:
    return sum(abs(width) + 1 for _, width in columns) - 1


def _rows(
    report: ChaosReport, columns: Columns, cells: Callable[[KindRow], list[str]]
) -> list[str]:
    heading = _line([name for name, _ in columns], columns)
    return [heading, *(_line(cells(row), columns) for row in report.rows)]


def _all_of(row: KindRow) -> list[str]:
    prompts = row.prompts
    return [
        row.kind.value,
        f"{row.landed}/{row.planned}",
        triple(row.detect),
        triple(row.restart),
        triple(row.recovery),
        f"{row.restarts_each:.2f}",
        share(row.availability),
        *(f"{count:,}" for count in (prompts.sent, prompts.answered, prompts.cancelled)),
        *(f"{count:,}" for count in (prompts.failed + prompts.refused, prompts.lost)),
        f"{row.breaches}",
    ]


def _most_of(row: KindRow) -> list[str]:
    times = (row.detect.p50, row.restart.p50, row.recovery.p50, row.recovery.p99)
    counts = (row.prompts.lost, row.breaches)
    return [
        row.kind.value,
        f"{row.landed}/{row.planned}",
        *(duration(each) for each in times),
        *(f"{count:,}" for count in counts),
    ]


def _alone(report: ChaosReport, width: int) -> list[str]:
    """What each kind did in its slice; a narrow terminal gets one number for what it left."""

    def all_of(row: KindRow) -> list[str]:
        return [row.kind.value, *alone_words(report, row), *left_words(row)]

    def most_of(row: KindRow) -> list[str]:
        left = NOTHING if row.alone is None else f"{sum(astuple(row.alone.left)):,}"
        return [row.kind.value, *alone_words(report, row), left]

    if width >= _room(_ALONE + _LEFT):
        return _rows(report, _ALONE + _LEFT, all_of)
    return _rows(report, _ALONE + _LEFT_IN_ALL, most_of)


def _totals(report: ChaosReport) -> Iterator[str]:
    totals, prompts = report.totals, report.totals.prompts
    ratio = sibling_ratio(report)
    baseline, siblings = report.baseline.percentile(99), report.siblings.percentile(99)
    yield f"availability {share(totals.availability)}, {totals.restarts:,} restarts"
    yield (
        f"prompts: {prompts.sent:,} sent, {prompts.answered:,} answered, {prompts.cancelled:,} "
        f"cancelled, {prompts.failed:,} failed with an outcome, {prompts.refused:,} refused while "
        f"down, {prompts.lost:,} lost"
    )
    times = "" if ratio is None else f", {ratio:.2f} times"
    yield f"siblings' p99 {duration(siblings)}, in the baseline {duration(baseline)}{times}"
    yield f"dead letters {totals.dead_letters:,}; {effort_line(report)}"
    if report.left_out:
        names = ", ".join(kind.value for kind in report.left_out)
        yield f"left out, since {report.options.provider} plays no scripts: {names}"


def _promises(report: ChaosReport) -> Iterator[str]:
    for promise in report.promises:
        mark = promise.verdict.upper() if not promise.is_kept else promise.verdict
        words = f"  ({promise.words})" if promise.words else ""
        yield f"  {mark:<10} {promise.name:<28}{promise.count:>6}{words}"
    yield from (f"  ! {words}" for words in report.examples[:10])


def _end(report: ChaosReport) -> Iterator[str]:
    yield f"{report.machine}"
    yield f"schedule {report.digest}, again: {command(report)}"
    yield verdict(report)


def _line(cells: Sequence[str], columns: Columns) -> str:
    fitted = (
        cell.rjust(width) if width > 0 else cell.ljust(-width)
        for cell, (_, width) in zip(cells, columns, strict=True)
    )
    return " ".join(fitted).rstrip()
