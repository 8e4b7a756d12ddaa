"""Text of agents, made safe for a terminal: no escape codes, no control characters."""

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


# CSI; OSC, DCS, SOS, PM and APC with their end; two characters; each also in its 8 bit form.
_ESCAPES: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
_CONTROLS: Final = (*range(0x20), *range(0x7F, 0xA0))
_SURROGATES: Final = dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}")
_ESCAPE, _DELETE, _LAST_CONTROL = 0x1B, 0x7F, 0x20

_DROPPED: Final[dict[int, str | None]] = {
    **dict.fromkeys(_CONTROLS),
    **dict.fromkeys(HIDDEN),
    **_SURROGATES,
    # The joiner is ours: it marks a paragraph that goes on.
    **dict.fromkeys((0x2028, 0x2029), " "),
    ord("\n"): "\n",
    ord("\t"): "    ",
    _ESCAPE: "\N{SYMBOL FOR ESCAPE}",
}


def _picture(code: int) -> str:
    if code < _LAST_CONTROL:
        return chr(0x2400 + code)
    return "\N{SYMBOL FOR DELETE}" if code == _DELETE else f"<U+{code:04X}>"


_SHOWN: Final[dict[int, str | None]] = {
    **{code: _picture(code) for code in (*_CONTROLS, *HIDDEN, 0x2028, 0x2029)},
    **{code: _picture(code) for code in (0x200B, 0x00AD)},
    **_SURROGATES,
    ord("\n"): "\n",
    ord("\t"): "    ",
}


def terminal_safe(text: str) -> str:
    """Character by character, so that a text may come in pieces; the escape becomes its picture."""
    return text.translate(_DROPPED)


def without_codes(text: str) -> str:
    """A whole text, such as a command's output: escape codes are left out."""
    return terminal_safe(_ESCAPES.sub("", text))


def revealed(text: str) -> str:
    """What somebody is asked to allow: nothing left out, each hidden character is shown."""
    return text.translate(_SHOWN)


def one_line(text: str, most: int = 2000) -> str:
    """A title, a name or a remark: without codes, in one line."""
    return " ".join(without_codes(text[:most]).split())


def last_lines(text: str, count: int) -> list[str]:
    """The end of an output: of a line that was written over, the last state."""
    lines = without_codes(re.sub(r"[^\n]*\r(?!\n)", "", text[-4000:])).split("\n")
    return [line.rstrip() for line in lines if line.strip()][-count:] if count else []
