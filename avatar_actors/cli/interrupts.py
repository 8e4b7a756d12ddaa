"""What Ctrl-C and a termination do: the first ends the turn in order, the second leaves at once."""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable
from typing import Final

import trio

from avatar_actors.cli.exit_code import ExitCode
from avatar_actors.cli.output import Output

CODES: Final = {
    signal.SIGINT: ExitCode.INTERRUPTED,
    signal.SIGTERM: ExitCode.TERMINATED,
    signal.SIGHUP: ExitCode.TERMINATED,
}


class Interrupts:
    """Listens for the signals that a program of the terminal gets, but for those it shall ignore.

    `end` begins to end what runs. The second signal's way out is one that nothing delays: the
    warden ends the agent once this process is gone.
    """

    def __init__(self, end: Callable[[], Awaitable[None]], output: Output) -> None:
        self.code: ExitCode | None = None
        self._end, self._output = end, output

    async def listen(self, task_status: trio.TaskStatus[None]) -> None:
        """Until cancelled."""
        heard = [each for each in CODES if signal.getsignal(each) is not signal.SIG_IGN]
        with trio.open_signal_receiver(*heard) as signals:
            task_status.started()
            async for number in signals:
                if number == signal.SIGINT and self._output.is_away:
                    continue
                code = CODES[signal.Signals(number)]
                if self.code is not None:
                    self._output.restore()
                    os._exit(code)
                self.code = code
                await self._end()
