"""Logs exceptions that the host's own code raises: handlers, callbacks, dispatchers."""

from __future__ import annotations

import threading

from supervisors import SafeLogger

log = SafeLogger("avatar_actors.handlers")


def report(error: BaseException, what: str) -> None:
    """Log it, whatever it is: no thread or loop of ours ends with it.

    Only in the main thread KeyboardInterrupt and SystemExit are raised again: Ctrl-C and
    `stop_on_signals` raise them there, in whatever is running.
    """
    if isinstance(error, (KeyboardInterrupt, SystemExit)) and _is_main_thread():
        raise error
    log.error("%s", what, exc_info=error)


def is_end_of_task(error: BaseException) -> bool:
    """Whether the asyncio task itself was cancelled or closed, not what its handler awaited."""
    import asyncio  # noqa: PLC0415 - who is here has it already

    if isinstance(error, GeneratorExit):
        # One that `close` throws in ends the handler first, and is then raised in the caller.
        return error.__traceback__ is None or error.__traceback__.tb_next is None
    if not isinstance(error, asyncio.CancelledError):
        return False
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
