"""Makes the animated picture of the README from a real run: `python -m tests.docs.recording`.

The demo runs in a terminal of its own; what it wrote, and when, becomes the frames of an SVG: a
film strip of screens that CSS moves by whole frames. Lines that occur again are drawn once.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import pyte

from tests.docs.test_snippets import ROOT

PICTURE = ROOT / "docs" / "demo.svg"
PROGRAM = (sys.executable, "-m", "examples.avatar_demo")
COLUMNS, ROWS = 92, 26
# What was written within so many seconds is one frame; a longer pause is cut to LONGEST.
FRAME, LONGEST, LAST = 0.08, 1.5, 4.0
CELL_WIDTH, CELL_HEIGHT, MARGIN, BAR = 8.4, 18, 14, 30

INK, PAPER, BORDER = "#d6deeb", "#011627", "#5f7e97"
COLOURS = {
    "red": "#ef5350",
    "green": "#22da6e",
    "brown": "#ecc48d",
    "blue": "#82aaff",
    "magenta": "#c792ea",
    "cyan": "#7fdbca",
    "brightblack": "#8badc1",
}
# pyte does not know dim text: it gets a colour of its own.
DIM = b"\x1b[2m", b"\x1b[90m"
PID = re.compile(r"\b(kill -9 )\d+")

Written = tuple[float, bytes]


class Run(NamedTuple):
    """Cells side by side that look the same."""

    column: int
    text: str
    style: str


Row = tuple[Run, ...]


class Frame(NamedTuple):
    """A screen, and how long it stays."""

    rows: tuple[Row, ...]
    seconds: float


def record(program: Sequence[str], home: Path) -> list[Written]:
    """Run a program in a terminal; what it wrote, with the seconds since its start."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    env = {"TERM": "xterm-256color", "LANG": "C.UTF-8", "HOME": str(home), "PATH": os.defpath}
    running = subprocess.Popen(
        program, cwd=ROOT, env=env, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    began, written = time.monotonic(), list[Written]()
    while block := _read(ours):
        written.append((time.monotonic() - began, block))
    os.close(ours)
    if running.wait():
        raise SystemExit(f"{' '.join(program)} ended with {running.returncode}")
    return written


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the last program that had it open has ended
        return b""


def frames(written: Sequence[Written]) -> list[Frame]:
    """The screens, each with the time until the next; pauses that bore are cut."""
    screen: Any = pyte.Screen(COLUMNS, ROWS)
    stream: Any = pyte.ByteStream(screen)
    found: list[Frame] = []
    ends = [at for at, _ in written[1:]]
    waited = 0.0
    for (at, block), end in zip(written, [*ends, written[-1][0] + LAST], strict=True):
        stream.feed(block.replace(*DIM))
        waited += end - at
        if waited >= FRAME:
            is_last = end > written[-1][0]
            found.append(Frame(_rows(screen), LAST if is_last else min(waited, LONGEST)))
            waited = 0.0
    return found


def _rows(screen: Any) -> tuple[Row, ...]:
    return tuple(tuple(_runs(screen.buffer[y])) for y in range(ROWS))


def _runs(cells: Any) -> Iterator[Run]:
    x = 0
    while x < COLUMNS:
        start, style = x, _style(cells[x])
        while x < COLUMNS and _style(cells[x]) == style:
            x += 1
        text = "".join(cells[column].data for column in range(start, x)).rstrip()
        if text:
            yield Run(start, PID.sub(r"\g<1>4711", text), style)


def _style(cell: Any) -> str:
    """The classes of a cell."""
    colour = cell.fg if cell.fg in COLOURS else ""
    return f"{colour} bold".strip() if cell.bold else colour


def svg(film: Sequence[Frame]) -> str:
    """The picture, which repeats for ever."""
    width, height = COLUMNS * CELL_WIDTH + 2 * MARGIN, ROWS * CELL_HEIGHT + MARGIN + BAR
    numbers: dict[Row, int] = {}
    for frame in film:
        for row in frame.rows:
            if row:
                numbers.setdefault(row, len(numbers))
    lines = [_line(number, row) for row, number in numbers.items()]
    strip = [_screen(place, frame, numbers) for place, frame in enumerate(film)]
    inner = ROWS * CELL_HEIGHT
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img"'
            ' aria-labelledby="t">',
            '<title id="t">A terminal: an avatar works, asks, is killed and comes back</title>',
            f"<style>{_css(film)}</style>",
            f'<rect class="w" x=".5" y=".5" width="{width - 1:g}" height="{height - 1:g}" rx="8"/>',
            *(f'<circle class="b" cx="{20 + 18 * n}" cy="17" r="5"/>' for n in range(3)),
            f'<text class="n" x="{width / 2:g}" y="21" text-anchor="middle">make demo</text>',
            f"<defs>{''.join(lines)}</defs>",
            f'<svg x="{MARGIN}" y="{BAR}" width="{COLUMNS * CELL_WIDTH:g}" height="{inner}">',
            f'<g class="f">{"".join(strip)}</g></svg></svg>\n',
        )
    )


def _line(number: int, row: Row) -> str:
    pieces = "".join(
        f'<tspan x="{run.column * CELL_WIDTH:g}" textLength="{len(run.text) * CELL_WIDTH:g}"'
        f"{_class(run.style)}>{escape(run.text, quote=False)}</tspan>"
        for run in row
    )
    return f'<text id="l{number}">{pieces}</text>'


def _class(style: str) -> str:
    return f' class="{style}"' if style else ""


def _screen(place: int, frame: Frame, numbers: dict[Row, int]) -> str:
    top = place * ROWS * CELL_HEIGHT
    return "".join(
        f'<use href="#l{numbers[row]}" y="{top + (y + 1) * CELL_HEIGHT - 5}"/>'
        for y, row in enumerate(frame.rows)
        if row
    )


def _css(film: Sequence[Frame]) -> str:
    total = sum(frame.seconds for frame in film)
    at, moves = 0.0, list[str]()
    for place, frame in enumerate(film):
        top = place * ROWS * CELL_HEIGHT
        moves.append(f"{at / total * 100:.3f}%{{transform:translateY(-{top}px)}}")
        at += frame.seconds
    last = (len(film) - 1) * ROWS * CELL_HEIGHT
    colours = "".join(f".{name}{{fill:{value}}}" for name, value in COLOURS.items())
    return (
        "text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
        f"fill:{INK};white-space:pre}}{colours}.bold{{font-weight:bold}}"
        f".w{{fill:{PAPER};stroke:{BORDER}}}.b{{fill:{BORDER}}}.n{{fill:{BORDER};font-size:12px}}"
        f".f{{animation:f {total:.2f}s step-end infinite}}@keyframes f{{{''.join(moves)}}}"
        f"@media(prefers-reduced-motion:reduce){{.f{{animation:none;"
        f"transform:translateY(-{last}px)}}}}"
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        film = frames(record(PROGRAM, Path(home)))
    PICTURE.write_text(svg(film), "utf-8")
    seconds = sum(frame.seconds for frame in film)
    size = PICTURE.stat().st_size / 1000
    told = f"{PICTURE.relative_to(ROOT)}: {len(film)} frames, {seconds:.0f} s, {size:.0f} kB\n"
    sys.stdout.write(told)


if __name__ == "__main__":
    main()
