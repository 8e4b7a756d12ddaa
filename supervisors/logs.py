"""A logger that cannot harm who logs: what a host's handlers and filters raise stays here."""

import logging
import sys
from contextlib import suppress
from typing import Any

from trio.lowlevel import enable_ki_protection, in_trio_task


class SafeLogger(logging.LoggerAdapter[logging.Logger]):
    """The logger of a name. Whatever its handlers raise costs the line alone; stderr hears of it.

    `logging` itself lets out what filters raise, and what a handler's own code does.
    """

    def __init__(self, name: str) -> None:
        super().__init__(logging.getLogger(name))

    @enable_ki_protection
    def log(self, level: int, msg: object, *args: object, **options: Any) -> None:
        """Log a line, as `logging.Logger.log` does; `error`, `exception` and so on come here."""
        try:
            self.logger.log(level, msg, *args, stacklevel=2, **options)
        except BaseException as raised:
            # The border to foreign code. In a task, trio keeps a true Ctrl-C for later.
            if isinstance(raised, KeyboardInterrupt) and not in_trio_task():
                raise
            # Its type alone: its words, and those of the line, may be private.
            with suppress(Exception):
                sys.stderr.write(f"a log handler of {self.name} raised {type(raised).__name__}\n")
