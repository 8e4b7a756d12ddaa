"""How much is shown, and with which signs."""

from __future__ import annotations

from typing import Final

from msgspec import Struct


class Style(Struct, frozen=True, kw_only=True):
    """What the caller found out about the terminal and was asked to show.

    `verbose` 1 adds what happens behind the answer, 2 every event. Without `unicode`, boxes and
    icons are ASCII.
    """

    show_thinking: bool = False
    verbose: int = 0
    colour: bool = True
    unicode: bool = True

    @property
    def signs(self) -> Signs:
        """The icons and lines that the terminal can show."""
        return UNICODE if self.unicode else ASCII


class Signs(Struct, frozen=True, kw_only=True):
    """Icons, the spinner's pictures, and what boxes and bars are drawn with."""

    ok: str
    failed: str
    cancelled: str
    waiting: str
    unknown: str
    warning: str
    again: str
    thought: str
    todo: str
    doing: str
    spinner: str
    top: str
    side: str
    bottom: str
    line: str
    full: str
    empty: str
    dot: str
    more: str
    arrow: str


UNICODE: Final = Signs(
    ok="✓",
    failed="✗",
    cancelled="⊘",
    waiting="⏳",
    unknown="?",
    warning="⚠",
    again="↻",
    thought="💭",
    todo="☐",
    doing="▸",
    spinner="⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏",
    top="┌",
    side="│",
    bottom="└",
    line="─",
    full="█",
    empty="░",
    dot="·",
    more="…",
    arrow="→",
)

ASCII: Final = Signs(
    ok="+",
    failed="x",
    cancelled="/",
    waiting="~",
    unknown="?",
    warning="!",
    again="@",
    thought="*",
    todo="-",
    doing=">",
    spinner="|/-\\",
    top="+",
    side="|",
    bottom="+",
    line="-",
    full="#",
    empty=".",
    dot="-",
    more="...",
    arrow="->",
)
