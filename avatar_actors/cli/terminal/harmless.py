"""What an agent wrote, made harmless for a terminal: no escape codes, no control characters."""

from __future__ import annotations

import re
from typing import Final

from avatar_actors.cli.terminal.text import HIDDEN

# CSI; OSC, DCS, SOS, PM and APC with their end; two characters; each also in its 8 bit form.
_CODES: Final = re.compile(
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


def harmless(text: str) -> str:
    """Character by character, so that a text may come in pieces; the escape becomes its picture."""
    return text.translate(_DROPPED)


def without_codes(text: str) -> str:
    """A whole text, such as a command's output: escape codes are left out."""
    return harmless(_CODES.sub("", text))


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
