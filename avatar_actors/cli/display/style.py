"""How much is shown, and with which signs."""

from __future__ import annotations

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
