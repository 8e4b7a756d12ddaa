"""What can be known of a terminal before anything is shown on it."""

from __future__ import annotations

import os
import sys
from typing import Final

# Of one that is gone, or does not know its size and says 0.
_USUAL: Final = os.terminal_size((80, 24))


def size_of(descriptor: int) -> os.terminal_size:
    """Its columns and lines."""
    try:
        size = os.get_terminal_size(descriptor)
    except OSError:
        return _USUAL
    return size if size.columns and size.lines else _USUAL


def is_lively(descriptor: int) -> bool:
    """Whether it is one, on which lines can be painted over."""
    return os.isatty(descriptor) and os.environ.get("TERM", "dumb") != "dumb"


def wants_colour() -> bool:
    """Unless the person said no."""
    return not os.environ.get("NO_COLOR")


def has_unicode() -> bool:
    """Whether stdout takes more than ASCII."""
    return "utf" in sys.stdout.encoding.lower()
