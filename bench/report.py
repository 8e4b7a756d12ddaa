"""What people and programs read: a row of the table, and one JSON object per figure."""

import json
import os
import platform
from collections.abc import Iterator, Sequence

import trio

from bench.contest import ASYNCIO, OURS, PYKKA, TRIO, Bench, Bound, MostOfAll, MostOfTrio, Scale
from bench.measure import Result
from bench.verdict import misses

CONTESTANTS = (OURS, TRIO, ASYNCIO, PYKKA)
ABSENT = "–"


def json_lines(result: Result) -> Iterator[str]:
    """One line per opponent: our figure, and its ratio to theirs."""
    for opponent in result.opponents:
        figure = {
            "bench": result.bench.name,
            "value": _four_digits(result.value()),
            "unit": result.bench.unit,
            "ratio": _four_digits(result.ratio(opponent).median),
            "against": opponent,
            "n": result.n,
            "rounds": result.rounds,
        }
        yield json.dumps(figure, separators=(",", ":"))


def heading(scale: Scale) -> str:
    """What stands above the rows."""
    return "\n".join(
        [
            f"Python {platform.python_version()}, trio {trio.__version__}, {os.cpu_count()} cores; "
            f"medians of {scale.rounds} alternating rounds.",
            "× trio, × pykka: medians of the rounds' ratios to them; spread: of those to trio.",
            "",
            _row(["bench", "", *CONTESTANTS, "× trio", "spread", "bound", "× pykka", ""]),
        ]
    )


def row(result: Result) -> str:
    """One line of the table."""
    ratio = result.ratio(TRIO)
    return _row(
        [
            short_name(result.bench),
            result.bench.unit,
            *(
                _shown(result.value(each)) if each in result.samples else ABSENT
                for each in CONTESTANTS
            ),
            _shown(ratio.median),
            f"{_shown(ratio.low)}–{_shown(ratio.high)}",
            _bound(result.bench.bound, result.bench.unit),
            _shown(result.ratio(PYKKA).median) if PYKKA in result.samples else ABSENT,
            _mark(result),
        ]
    )


def closing(results: Sequence[Result], scale: Scale) -> str:
    """What stands below the rows: every bound that is not met."""
    missed = [miss for result in results for miss in misses(result)]
    glance = " (--quick is a glance: run without it for figures)" if scale is Scale.QUICK else ""
    if not missed:
        return f"\nAll bounds are met{glance}."
    return "\n".join([f"\nNOT met{glance}:", *(f"  {miss}" for miss in missed)])


def short_name(bench: Bench) -> str:
    """The name without the program's."""
    return bench.name.rpartition(".")[2]


def _row(cells: Sequence[str]) -> str:
    # The numbers' columns as wide as their headings, the whole at most 100 wide.
    widths = (-17, 3, 12, 8, 8, 8, 7, 11, 8, 8)
    *columns, mark = cells
    fitted = (
        cell.rjust(width) if width > 0 else cell.ljust(-width)
        for cell, width in zip(columns, widths, strict=True)
    )
    return f"{''.join(fitted)}  {mark}".rstrip()


def _bound(bound: Bound, unit: str) -> str:
    match bound:
        case MostOfTrio(limit):
            return f"≤ {limit:g}"
        case MostOfAll(limit):
            return f"≤ {limit:g} {unit}"
        case None:
            return ""


def _mark(result: Result) -> str:
    if any(misses(result)):
        return "NOT met"
    return "met" if result.bench.bound is not None else ""


def _shown(number: float) -> str:
    decimals = 2 if number < 10 else 1 if number < 100 else 0
    return f"{number:,.{decimals}f}"


def _four_digits(number: float) -> float:
    return float(f"{number:.4g}")
