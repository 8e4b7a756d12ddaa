"""Text of agents without what a terminal would obey."""

from __future__ import annotations

import re
from typing import Final

# CSI, OSC and the other strings, two-character escapes; then every control but tab and newline.
_CODES: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)
# What a code may still become, once the next piece is there; longer ones are no codes.
_OPEN: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)\Z")
_LONGEST: Final = 256


def plain(text: str) -> str:
    """The text without escape codes and controls; a lone surrogate becomes a question mark."""
    return _CODES.sub("", text).encode("utf-8", "replace").decode()


class PlainText:
    """The same for a text that comes in pieces: a code may be cut in two."""

    def __init__(self) -> None:
        self._held = ""

    def add(self, piece: str) -> str:
        """What can be shown now."""
        text = self._held + piece
        cut = _OPEN.search(text, max(0, len(text) - _LONGEST))
        end = cut.start() if cut else len(text)
        self._held = text[end:]
        return plain(text[:end])

    def end(self) -> str:
        """What was held back."""
        held, self._held = self._held, ""
        return plain(held)
