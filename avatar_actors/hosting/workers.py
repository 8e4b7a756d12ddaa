"""Threads for handlers: as many as are busy at once, each given back when it is idle."""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from avatar_actors.hosting.bell import Bell
from avatar_actors.hosting.forking import after_fork

# Seconds after which an idle thread ends.
_IDLE = 5.0


class Workers:
    """Runs every job at once: a slow one never holds up another."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew, in the child of a fork: threads and jobs are the parent's."""
        self._changed = threading.Condition()
        self._jobs: deque[Callable[[], object]] = deque()
        self._idle = 0
        self._numbers = itertools.count(1)

    def submit(self, job: Callable[[], object]) -> None:
        """Run this soon, in some thread; it must not raise."""
        with self._changed:
            self._jobs.append(job)
            if self._idle >= len(self._jobs):
                self._changed.notify()
                return
        name = f"avatar-handler-{next(self._numbers)}"
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            job()

    def _next(self) -> Callable[[], object] | None:
        with self._changed:
            self._idle += 1
            try:
                self._changed.wait_for(lambda: self._jobs, _IDLE)
                return self._jobs.popleft() if self._jobs else None
            finally:
                self._idle -= 1


WORKERS = Workers()
after_fork(WORKERS.forget)


async def hear_all(bells: Sequence[Bell], timeout: float) -> bool:  # noqa: ASYNC109 - any loop
    """Wait for all of them, in a task of asyncio or trio; False if one did not ring in time."""
    if all(bell.is_rung for bell in bells):
        return True
    end, heard = time.monotonic() + timeout, Bell()

    def wait() -> None:
        for bell in bells:
            bell.hear_sync(max(0.0, end - time.monotonic()))
        heard.ring()

    WORKERS.submit(wait)
    await heard.hear()
    return all(bell.is_rung for bell in bells)
