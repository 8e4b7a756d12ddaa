"""The table as people, programs and the documentation read it."""

import json
import textwrap
from collections.abc import Iterator, Sequence

from bench.comparison.contestants import OURS
from bench.comparison.rounds import PLANS, Results
from bench.comparison.rows import Cell, Line, lines, shown
from bench.measure import Spread

BEGIN = "<!-- comparison: begin -->"
END = "<!-- comparison: end -->"
TITLE, COLUMN = 25, 24
WIRES = {
    "acp": "ACP: the embedded agent",
    "claude": "Claude's stream-json: the fake Claude of the tests",
}


class NoMarkers(Exception):
    """The page has no place for the table."""


def text_table(results: Results) -> str:
    """For a terminal: cells are wrapped in their columns, a ratio stands below its figure."""
    heads = [results.names[0], *results.names[1:]]
    made = [_text_row(["", *heads])]
    for line in lines(results):
        made.append(_text_row([line.row.title, *(_said(line.cells[name]) for name in heads)]))
    return "\n".join([WIRES[results.wire].replace("`", ""), "", *made])


def _said(cell: Cell) -> str:
    best = " *" if cell.is_best else ""
    ratio = f"\nours: × {_spread(cell.ratio)}" if cell.ratio else ""
    return f"{cell.text}{best}{ratio}"


def _text_row(cells: Sequence[str]) -> str:
    widths = [TITLE, *[COLUMN] * (len(cells) - 1)]
    columns = [
        [part for line in cell.split("\n") for part in textwrap.wrap(line, width - 1)] or [""]
        for cell, width in zip(cells, widths, strict=True)
    ]
    height = max(map(len, columns))
    rows = (
        "".join(
            (column[number] if number < len(column) else "").ljust(width)
            for column, width in zip(columns, widths, strict=True)
        ).rstrip()
        for number in range(height)
    )
    return "\n".join(rows)


def json_lines(results: Results) -> Iterator[str]:
    """One object per row and opponent, in the form of the other programs, and both cells."""
    for line in lines(results):
        ours = line.cells[OURS]
        for name in results.names:
            if name != OURS:
                yield _object(results, line, ours, name)


def _object(results: Results, line: Line, ours: Cell, name: str) -> str:
    theirs = line.cells[name]
    record = {
        "bench": f"compare.{results.wire}_{line.row.task}_{line.row.key}",
        "value": _four_digits(ours.value),
        "unit": line.row.unit,
        "ratio": _four_digits(theirs.ratio.median if theirs.ratio else None),
        "against": name,
        "n": PLANS[line.row.task].n[results.scale],
        "rounds": line.rounds,
        "theirs": _four_digits(theirs.value),
        "ours_said": ours.text,
        "theirs_said": theirs.text,
    }
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False)


def markdown(tables: Sequence[Results], facts: Sequence[str]) -> str:
    """What stands between the markers."""
    parts = ["\n".join(facts)]
    parts += [f"### {WIRES[each.wire]}\n\n{_markdown_table(each)}" for each in tables]
    return "\n\n".join(parts)


def _markdown_table(results: Results) -> str:
    others = [name for name in results.names if name != OURS]
    heads = ["", *results.names, *(f"ours : {name}" for name in others)]
    rows = [heads, ["---"] * len(heads)]
    for line in lines(results):
        cells = [_marked(line.cells[name]) for name in results.names]
        ratios = [line.cells[name].ratio for name in others]
        rows.append([line.row.title, *cells, *(_spread(each) if each else "" for each in ratios)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _marked(cell: Cell) -> str:
    # What a library says in an error is no markup.
    text = cell.text.replace("|", "\\|").replace("<", "&lt;")
    return f"**{text}**" if cell.is_best else text


def between_markers(page: str, made: str) -> str:
    """The page with this in place of what stood there."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise NoMarkers(f"the page needs the lines {BEGIN} and {END}, in this order")
    return f"{before}{BEGIN}\n\n{made}\n\n{END}{after}"


def _spread(spread: Spread) -> str:
    return f"{shown(spread.median)} ({shown(spread.low)}–{shown(spread.high)})"


def _four_digits(number: float | None) -> float | None:
    return None if number is None else float(f"{number:.4g}")
