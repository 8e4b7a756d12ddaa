"""The plots of a report as SVG. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Final

from msgspec import Struct

from avatar_actors.chaos.report.report import ChaosReport
from avatar_actors.chaos.report.statistics import Histogram, bucket_of, upper_bound
from avatar_actors.chaos.report.summary import duration

WIDTH: Final = 960
_ROW: Final = 18
_LEFT: Final = 140
_RIGHT: Final = 12
_TICKS: Final = 6
_HALF_WIDTH: Final = 460
_HEIGHT: Final = 190
_MARGIN: Final = 44
# Half of the widest label of a tick.
_LABEL: Final = 24
_BOTTOM: Final = 30
_TOP: Final = 26


class Axis(Struct, frozen=True):
    """Maps figures to positions."""

    least: float
    most: float
    start: float
    end: float

    def place(self, value: float) -> float:
        """The position of a figure."""
        span = self.most - self.least or 1.0
        return self.start + (value - self.least) / span * (self.end - self.start)

    def ticks(self, count: int = _TICKS) -> list[float]:
        """Round figures along the axis."""
        span = self.most - self.least or 1.0
        step = 10 ** math.floor(math.log10(span / count))
        step *= next((n for n in (1, 2, 5, 10) if span / (step * n) <= count), 10)
        first = math.ceil(self.least / step)
        return [n * step for n in range(first, math.floor(self.most / step + 1e-9) + 1)]


def timeline(report: ChaosReport) -> str:
    """One row for each kind, with a bar from each fault to its recovery."""
    rows = [row.kind for row in report.rows]
    height = _ROW * len(rows) + 40
    axis = Axis(0, max(report.seconds, 1), _LEFT, WIDTH - _RIGHT)
    parts = [_grid(axis, 10, height - 30)]
    for number, kind in enumerate(rows):
        y = 10 + number * _ROW
        parts.append(_text(_LEFT - 8, y + 12, kind.value, "end"))
        if number % 2 == 0:
            parts.append(f'<rect x="{_LEFT}" y="{y}" width="{WIDTH - _LEFT - _RIGHT}" '
                         f'height="{_ROW}" class="band"/>')  # fmt: skip
    places = {kind: 10 + number * _ROW for number, kind in enumerate(rows)}
    for fault in report.faults:
        x = axis.place(fault.at)
        end = axis.place(min(report.seconds, fault.at + (fault.recovery or 0)))
        is_well = fault.is_landed and fault.recovery is not None
        words = f"{fault.number} {fault.kind.value} on a{fault.avatar}: {fault.proof}, back after "
        title = escape(f"{words}{duration(fault.recovery)}"[:200])
        parts.append(
            f'<rect x="{x:.1f}" y="{places[fault.kind] + 4}" width="{max(1.5, end - x):.1f}" '
            f'height="{_ROW - 8}" class="{"fault" if is_well else "bad"}">'
            f"<title>{title}</title></rect>"
        )
    parts.append(_text(_LEFT, height - 4, "seconds since the faults began", "start"))
    return _svg(WIDTH, height, parts, "Faults and recoveries over time")


def durations(title: str, seconds: Sequence[float | None], colour: str) -> str:
    """How often each duration occurred, on a logarithmic scale."""
    histogram = Histogram()
    for each in seconds:
        if each is not None:
            histogram.add(each)
    return compared(f"{title} ({histogram.total:,})", [(title, histogram, colour)])


def compared(title: str, series: Sequence[tuple[str, Histogram, str]]) -> str:
    """Shares of durations side by side, each with its own outline."""
    used = [n for _, each, _ in series for n, count in enumerate(each.counts) if count]
    if not used:
        return _svg(_HALF_WIDTH, _HEIGHT, [_text(10, 40, f"{title}: none", "start")], title)
    first, last = max(0, min(used) - 2), max(used) + 2
    axis = Axis(first, last + 1, _MARGIN, _HALF_WIDTH - _RIGHT)
    highest = max(max(each.counts) / max(1, each.total) for _, each, _ in series)
    up = Axis(0, highest, _HEIGHT - _BOTTOM, _TOP)
    parts = [_text(_MARGIN, 14, title, "start", "title"), *_decades(axis, first, last)]
    parts.append(_text(_MARGIN - 6, _TOP + 8, f"{100 * highest:.0f} %", "end"))
    for number, (name, each, colour) in enumerate(series):
        parts.append(_outline(each, axis, up, colour))
        if len(series) > 1:
            x = _HALF_WIDTH - 220 + 110 * number
            parts.append(f'<rect x="{x}" y="5" width="10" height="10" '
                         f'class="{colour}"/>')  # fmt: skip
            parts.append(_text(x + 15, 14, name, "start"))
    return _svg(_HALF_WIDTH, _HEIGHT, parts, title)


def course(title: str, xs: Sequence[float], ys: Sequence[float], under: str) -> str:
    """A line through samples; the scale begins at 0, so that it does not exaggerate a slope."""
    if not xs:
        return _svg(_HALF_WIDTH, _HEIGHT, [_text(10, 40, f"{title}: no samples", "start")], title)
    axis = Axis(min(xs), max(xs), _MARGIN, _HALF_WIDTH - _RIGHT)
    up = Axis(0, max(ys) * 1.1 or 1, _HEIGHT - _BOTTOM, _TOP)
    points = " ".join(f"{axis.place(x):.1f},{up.place(y):.1f}" for x, y in zip(xs, ys, strict=True))
    parts = [
        _text(_MARGIN, 14, title, "start", "title"),
        *(_level(up, tick) for tick in up.ticks(4)),
        *(_text(axis.place(x), _HEIGHT - _BOTTOM + 14, f"{x:g}", "middle") for x in axis.ticks(5)),
        _text(_HALF_WIDTH - _RIGHT, _HEIGHT - 4, under, "end"),
        f'<polyline points="{points}" class="course"/>',
    ]
    return _svg(_HALF_WIDTH, _HEIGHT, parts, title)


def _outline(histogram: Histogram, axis: Axis, up: Axis, colour: str) -> str:
    total, ground = max(1, histogram.total), up.place(0)
    bars = [
        f'<rect x="{axis.place(n):.1f}" y="{up.place(count / total):.1f}" '
        f'width="{axis.place(n + 1) - axis.place(n):.1f}" '
        f'height="{ground - up.place(count / total):.1f}">'
        f"<title>up to {duration(upper_bound(n))}: {count:,}</title></rect>"
        for n, count in enumerate(histogram.counts)
        if count
    ]
    return f'<g class="bars {colour}">{"".join(bars)}</g>'


def _decades(axis: Axis, first: int, last: int) -> list[str]:
    parts: list[str] = []
    for power in range(-5, 4):
        bucket = bucket_of(10.0**power)
        if first <= bucket <= last:
            x = axis.place(bucket + 1)
            parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>')
            anchor = "middle" if x < _HALF_WIDTH - _LABEL else "end"
            parts.append(_text(x, _HEIGHT - _BOTTOM + 14, duration(10.0**power), anchor))
    return parts


def _level(up: Axis, value: float) -> str:
    y = up.place(value)
    line = f'<line x1="{_MARGIN}" x2="{_HALF_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
    return line + _text(_MARGIN - 6, y + 4, f"{value:g}", "end")


def _grid(axis: Axis, top: float, bottom: float) -> str:
    parts: list[str] = []
    for value in axis.ticks(10):
        x = axis.place(value)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}"/>')
        parts.append(_text(x, bottom + 14, f"{value:g}", "middle"))
    return "".join(parts)


def _text(x: float, y: float, words: str, anchor: str, look: str = "") -> str:
    style = f' class="{look}"' if look else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}>{escape(words)}</text>'


def _svg(width: int, height: int, parts: Sequence[str], label: str) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label)}">'
        f"{''.join(parts)}</svg>"
    )
