"""A terminal's output that can be held back, so that many changes are seen as one."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO

from prompt_toolkit.data_structures import Size
from prompt_toolkit.output.vt100 import Vt100_Output

from avatar_actors.cli.terminal.terminal_traits import size_of

# What is between them is shown at once, by terminals that know it; the others pass over it.
_BEGIN, _END = "\x1b[?2026h", "\x1b[?2026l"


class SteadyOutput(Vt100_Output):
    """Flushes once where prompt_toolkit would several times: nothing is seen half done.

    It asks the terminal for nothing: the answer to "where is the cursor?" would come as keys.
    """

    def __init__(self, stdout: TextIO) -> None:
        super().__init__(stdout, lambda: _size_of(stdout), enable_cpr=False)
        self._is_held = False

    @contextmanager
    def at_once(self) -> Generator[None]:
        """All that is written in this block goes out in one piece at its end."""
        self._is_held = True
        self.write_raw(_BEGIN)
        try:
            yield
        finally:
            self.write_raw(_END)
            self._is_held = False
            self.flush()

    def flush(self) -> None:
        """Now, or at the end of the block."""
        if not self._is_held:
            super().flush()


def _size_of(stdout: TextIO) -> Size:
    columns, rows = size_of(stdout.fileno())
    return Size(rows=rows, columns=columns)
