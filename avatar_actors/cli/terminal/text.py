"""Makes foreign text safe for a terminal: no escape codes, no controls, nothing hidden."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

# CSI; OSC, DCS, SOS, PM and APC with their end; two-character escapes; the first two also in their
# 8-bit form. Then every control character but tab and newline.
_CODES: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)
# The beginning of a code whose end may be in the next piece; a longer one is not a code.
_OPEN: Final = re.compile(
    r"(?:(?:\x1b\[|\x9b)[0-?]*[ -/]*"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*\x1b?"
    r"|\x1b[ -/]*)\Z"
)
_LONGEST: Final = 256
# Invisible characters that reverse the direction of what follows, so that a command reads as
# another one, or that carry text nobody sees. Joiners stay: some scripts and many emoji need them.
HIDDEN: Final = (
    0x061C, 0x180E, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF,
    *range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080),
)  # fmt: skip
_BREAKS: Final = (0x2028, 0x2029)
_CONTROLS: Final = (*range(0x20), *range(0x7F, 0xA0))
_SURROGATES: Final = dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}")
_LAYOUT: Final = {ord("\n"): "\n", ord("\t"): "    "}
_ESCAPE, _DELETE, _LAST_CONTROL = 0x1B, 0x7F, 0x20

_VISIBLE: Final[dict[int, str | None]] = {**dict.fromkeys(HIDDEN), **dict.fromkeys(_BREAKS, " ")}
_DROPPED: Final[dict[int, str | None]] = {
    **dict.fromkeys(_CONTROLS),
    **_VISIBLE,
    **_SURROGATES,
    **_LAYOUT,
    _ESCAPE: "\N{SYMBOL FOR ESCAPE}",
}


def plain(text: str) -> str:
    """For people: without escape codes, controls, and characters that reverse or hide others."""
    return without_controls(text).translate(_VISIBLE)


def without_controls(text: str) -> str:
    """For files and pipes: drops only escape codes, controls and lone surrogates."""
    return _CODES.sub("", text).encode("utf-8", "replace").decode()


def one_line(text: str, most: int = 10_000) -> str:
    """A title, a name or a message: plain, and on one line."""
    return " ".join(plain(text[:most]).split())


def labelled(name: str, detail: str) -> str:
    """A tool and what it works on, without repeating its name; "other" is the lack of a name."""
    if not detail or detail == name:
        return name
    if name == "other" or detail.lower() == name.lower():
        return detail
    return detail if detail.startswith(f"{name} ") else f"{name}: {detail}"


def last_lines(text: str, count: int) -> list[str]:
    """The end of a tool's output; of a line that was overwritten, the last state."""
    lines = plain(re.sub(r"[^\n]*\r(?!\n)", "", text[-4000:])).expandtabs(4).split("\n")
    return [line.rstrip() for line in lines if line.strip()][-count:] if count else []


class PlainText:
    """Cleans text that comes in pieces, where a code may be cut in two."""

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


def terminal_safe(text: str) -> str:
    """Cleans each character by itself, so text may come in pieces; ESC becomes its symbol."""
    return text.translate(_DROPPED)


def _symbol(code: int) -> str:
    if code < _LAST_CONTROL:
        return chr(0x2400 + code)
    return "\N{SYMBOL FOR DELETE}" if code == _DELETE else f"<U+{code:04X}>"


_SHOWN: Final[dict[int, str | None]] = {
    **{code: _symbol(code) for code in (*_CONTROLS, *HIDDEN, *_BREAKS, 0x200B, 0x00AD)},
    **_SURROGATES,
    **_LAYOUT,
}


def revealed(text: str) -> str:
    """For a permission question: nothing is left out, every hidden character is shown."""
    return text.translate(_SHOWN)
