"""A logger that cannot harm who logs: what a host's handlers and filters raise stays here."""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
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
            super().log(level, msg, *args, **{"stacklevel": 2, **options})
        except BaseException as raised:
            # The border to foreign code. In a task, trio keeps a true Ctrl-C for later.
            if isinstance(raised, KeyboardInterrupt) and not in_trio_task():
                raise
            _report(self.name, raised)

    def process(
        self, msg: object, kwargs: MutableMapping[str, Any]
    ) -> tuple[object, MutableMapping[str, Any]]:
        """As they are: an adapter would take `extra` away."""
        return msg, kwargs


def _report(logger: str, raised: BaseException) -> None:
    """Its type and where it was raised: its words, and those of the line, may be private."""
    traceback = raised.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    with suppress(Exception):
        place = "" if traceback is None else traceback.tb_frame.f_code.co_filename
        what = f"{place} raised {type(raised).__name__}: a line of {logger} was not logged"
        sys.stderr.write(f"{what}\n")
