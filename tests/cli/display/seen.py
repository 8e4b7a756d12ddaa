"""What the tests of the display share: events in, and what a person would see of them."""

import re
from collections.abc import Iterable

from rich.cells import cell_len

from avatar_actors import AvatarEvent
from avatar_actors.cli.display import Display, Style

PLAIN = Style(colour=False)
SGR = re.compile(r"\x1b\[[0-9;]*m")
ZERO_WIDTH_JOINER = "\u200d"
NOW = 1000.0


def plain(lines: Iterable[str]) -> list[str]:
    return [SGR.sub("", line) for line in lines]


def told(*events: AvatarEvent, style: Style = PLAIN) -> Display:
    display = Display(style)
    for event in events:
        display.tell(event, NOW)
    return display


def finished(display: Display, width: int = 80) -> str:
    return "\n".join(plain(display.finished(width)))


def frame(display: Display, width: int = 80, height: int = 24, now: float = NOW) -> str:
    return "\n".join(plain(display.frame(width, height, now)))


def assert_fits(lines: list[str], width: int) -> None:
    for line in plain(lines):
        assert cell_len(line) <= width, (cell_len(line), line)
        assert line.replace(ZERO_WIDTH_JOINER, "").isprintable(), repr(line)
