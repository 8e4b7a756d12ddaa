"""Text of agents without what a terminal would obey."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

# CSI, OSC and the other strings, two-character escapes; then every control but tab and newline.
_CODES: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)
# What a code may still become, once the next piece is there; longer ones are no codes.
_OPEN: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)\Z")
_LONGEST: Final = 256
# Not seen themselves, they turn the direction of what follows, so that a command reads as another
# one, or carry text that nobody sees. Not the joiners: some scripts and many emoji need them.
HIDDEN: Final = (
    0x061C, 0x180E, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF,
    *range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080),
)  # fmt: skip
_SEEN: Final[dict[int, str | None]] = {
    **dict.fromkeys(HIDDEN),
    **dict.fromkeys((0x2028, 0x2029), " "),
}


def plain(text: str) -> str:
    """For people: without escape codes, controls, and characters that turn or hide others."""
    return without_controls(text).translate(_SEEN)


def without_controls(text: str) -> str:
    """For files and pipes: a text as it is, but for escape codes, controls and lone surrogates."""
    return _CODES.sub("", text).encode("utf-8", "replace").decode()


class PlainText:
    """The same for a text that comes in pieces: a code may be cut in two."""

    def __init__(self, clean: Callable[[str], str]) -> None:
        self._clean = clean
        self._held = ""

    def add(self, piece: str) -> str:
        """What can be shown now."""
        text = self._held + piece
        cut = _OPEN.search(text, max(0, len(text) - _LONGEST))
        end = cut.start() if cut else len(text)
        self._held = text[end:]
        return self._clean(text[:end])

    def end(self) -> str:
        """What was held back."""
        held, self._held = self._held, ""
        return self._clean(held)
