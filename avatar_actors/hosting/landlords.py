"""Who lends an engine a runtime's thread, and whether it is stopped when it is given back."""

from __future__ import annotations

import threading
from typing import Protocol

from avatar_actors.hosting.forking import after_fork
from avatar_actors.hosting.runtime_thread import RuntimeThread
from avatar_actors.model.host_settings import RuntimeOptions


class Landlord(Protocol):
    """Lends a thread for each stay of an engine."""

    def borrow(self) -> RuntimeThread:
        """A thread for one stay."""
        ...

    def give_back(self, thread: RuntimeThread) -> bool:
        """The stay is over. Whether the thread is to be stopped."""
        ...


class Shared:
    """One thread for all engines of the process that want no other, while there is one of them."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew, in the child of a fork: the thread is the parent's."""
        self._lock = threading.Lock()
        self._thread: RuntimeThread | None = None
        self._stays = 0

    def borrow(self) -> RuntimeThread:
        """The one that is there, or a new one."""
        with self._lock:
            if self._thread is None or self._thread.is_stopping:
                self._thread, self._stays = RuntimeThread(), 0
            self._stays += 1
            return self._thread

    def give_back(self, thread: RuntimeThread) -> bool:
        """The last stay's end is the thread's; who comes then gets another."""
        with self._lock:
            if thread is not self._thread:
                return False
            self._stays -= 1
            if self._stays:
                return False
            self._thread = None
            return True


class Given:
    """A thread that the host made and stops itself."""

    def __init__(self, thread: RuntimeThread) -> None:
        self._thread = thread

    def borrow(self) -> RuntimeThread:
        """The host's."""
        return self._thread

    def give_back(self, thread: RuntimeThread) -> bool:
        """It stays up."""
        return thread.is_stopping


class Private:
    """A thread of the engine's own, because it wants a runtime with certain options."""

    def __init__(self, options: RuntimeOptions) -> None:
        self._options = options

    def borrow(self) -> RuntimeThread:
        """A new one."""
        return RuntimeThread(**self._options)

    def give_back(self, thread: RuntimeThread) -> bool:
        """It ends with the stay."""
        return not thread.is_stopping


SHARED = Shared()
after_fork(SHARED.forget)
