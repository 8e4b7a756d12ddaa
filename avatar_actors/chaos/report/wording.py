"""How figures of a report are said: durations, shares, numbers. Pure."""

from __future__ import annotations

from msgspec.structs import astuple

from avatar_actors.chaos.faults.schedule import FaultOrder
from avatar_actors.chaos.oracle.leftovers import Leftovers
from avatar_actors.chaos.report.report import ChaosReport, KindRow, Times

NOTHING = "–"
_MILLI, _SECOND, _TEN = 1e-3, 1.0, 10.0


def duration(seconds: float | None) -> str:
    """In ms or s, with as many digits as say something."""
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
    """In percent, as the availability of services is told."""
    return f"{100 * part:.2f} %" if part < 1 else "100 %"


def verdict(report: ChaosReport) -> str:
    """The run in one line."""
    broken = [promise for promise in report.promises if not promise.is_kept]
    if broken:
        return f"NOT ok: {', '.join(f'{each.found:,} {each.name}' for each in broken)}"
    if not report.is_complete:
        return "interrupted: every promise was kept as far as it went"
    return "ok: every promise was kept"


def sibling_ratio(report: ChaosReport) -> float | None:
    """How much longer siblings waited than in peace, by the 99 % of both."""
    peace, war = report.baseline.percentile(99), report.siblings.percentile(99)
    return war / peace if peace and war else None


def is_by_kind(report: ChaosReport) -> bool:
    """Whether there is something to be said of kinds by themselves."""
    return report.options.order is FaultOrder.BY_KIND


def alone_words(report: ChaosReport, row: KindRow) -> list[str]:
    """Dead letters, siblings disturbed, their p99, and how many times that of peace."""
    alone, peace = row.alone, report.baseline.percentile(99)
    if alone is None:
        return [NOTHING] * 4
    ratio = f"{alone.p99 / peace:.2f}" if alone.p99 and peace else NOTHING
    return [f"{alone.dead_letters:,}", f"{alone.disturbed:,}", duration(alone.p99), ratio]


def left_words(row: KindRow) -> list[str]:
    """Orphans, zombies, descriptors, tasks, threads and directories that its slice left."""
    if row.alone is None:
        return [NOTHING] * len(Leftovers.__struct_fields__)
    return [f"{count:,}" for count in astuple(row.alone.left)]


def effort_line(report: ChaosReport) -> str:
    """How hard the machine had it."""
    totals = report.totals
    starved = f"waited for a core {share(totals.host_starved)} of the time"
    return f"the host used {totals.host_ran:.2f} cores and {starved}"


def command(report: ChaosReport) -> str:
    """What a person types to have the same again."""
    options = report.options
    kinds = "".join(f" --faults {kind.value}" for kind in options.kinds)
    order = " --by-kind" if is_by_kind(report) else ""
    provider = "" if options.provider == "embedded" else f" --provider {options.provider}"
    return (
        f"avatar chaos --avatars {options.avatars} --seconds {options.seconds:g} "
        f"--every {options.every:g} --seed {options.seed}{order}{provider}{kinds}"
    )
