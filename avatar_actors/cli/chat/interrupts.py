"""What Ctrl-C and a termination do: the first ends the turn in order, the second leaves at once."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from avatar_actors.cli.chat.output import Output
from avatar_actors.cli.exit_codes import ExitCode

CODES: Final = {
    signal.SIGINT: ExitCode.INTERRUPTED,
    signal.SIGTERM: ExitCode.TERMINATED,
    signal.SIGHUP: ExitCode.TERMINATED,
    signal.SIGQUIT: ExitCode.TERMINATED,
}


def heeded() -> list[signal.Signals]:
    """Those that this program was not told to ignore, as by nohup."""
    return [each for each in CODES if signal.getsignal(each) is not signal.SIG_IGN]


class Interrupts:
    """Counts the signals.

    `end` begins to end what runs. The second signal's way out is one that nothing delays: the
    warden ends the agent once this process is gone.
    """

    def __init__(self, end: Callable[[], Awaitable[None]], output: Output) -> None:
        self.code: ExitCode | None = None
        self._end, self._output = end, output

    async def listen(self, signals: AsyncIterator[int]) -> None:
        """Until cancelled."""
        async for number in signals:
            if not self._is_meant(number):
                continue
            code = CODES[signal.Signals(number)]
            if self.code is not None:
                self._output.restore()
                os._exit(code)
            self.code = code
            await self._end()

    def _is_meant(self, number: int) -> bool:
        """The editor has its own Ctrl-C; a terminal that closes says so twice, and counts once."""
        if number == signal.SIGINT:
            return not self._output.is_away
        return number != signal.SIGHUP or self.code is None
