"""Cancelling a turn: ends its waits and kills its tools; what a turn shows is left to it."""

from __future__ import annotations

import threading

from avatar_actors.programs.embedded.tools import ToolProcess


class TurnCancelled(Exception):
    """The turn was cancelled; it ends with that as its reason."""


class Cancellable:
    """Work on one thread that another thread may cancel; a script can make it disobey."""

    def __init__(self, cwd: str) -> None:
        self.ignores_cancel = False
        self.acknowledges_after = 0.0
        self._cwd = cwd
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._children: list[ToolProcess] = []
        self._slots: list[ReplySlot] = []

    @property
    def is_cancelled(self) -> bool:
        """Whether the cancel has taken effect."""
        return self._cancelled.is_set()

    def check(self) -> None:
        """Raises TurnCancelled once the turn is cancelled."""
        if self.is_cancelled:
            raise TurnCancelled

    def wait(self, seconds: float) -> None:
        """Waits, unless the turn is cancelled meanwhile."""
        self._cancelled.wait(seconds)
        self.check()

    def start_child(self, argv: list[str]) -> ToolProcess:
        """Starts a process that the cancel of this turn kills."""
        with self._lock:
            self.check()
            child = ToolProcess(argv, self._cwd)
            self._children.append(child)
        return child

    def await_reply(self, slot: ReplySlot) -> object:
        """The reply that arrives in the slot; a cancel ends the wait."""
        with self._lock:
            self._slots.append(slot)
            if self.is_cancelled:
                self.release_on_cancel(slot)
        return slot.wait()

    def cancel(self) -> None:
        """Cancels as the script lets it: now, later or never."""
        if self.ignores_cancel:
            return
        if self.acknowledges_after:
            threading.Timer(self.acknowledges_after, self._cancel_now).start()
        else:
            self._cancel_now()

    def _cancel_now(self) -> None:
        with self._lock:
            self._cancelled.set()
            children, slots = self._children, self._slots
            for child in children:
                child.kill()
            for slot in slots:
                self.release_on_cancel(slot)

    def revive(self) -> None:
        """Forgets the cancel: steps for after the result are played in any case."""
        self._cancelled.clear()

    def release_on_cancel(self, slot: ReplySlot) -> None:
        """Ends the wait for a reply because the turn is cancelled."""
        slot.release()


class ReplySlot:
    """Where one reply arrives; a released slot gives None."""

    def __init__(self) -> None:
        self._arrived = threading.Event()
        self._value: object = None

    @property
    def is_answered(self) -> bool:
        """Whether the reply has arrived or is no longer awaited."""
        return self._arrived.is_set()

    def put(self, value: object) -> None:
        """Delivers the reply; a second one is dropped."""
        if not self._arrived.is_set():
            self._value = value
            self._arrived.set()

    def release(self) -> None:
        """Ends the wait without a reply."""
        self._arrived.set()

    def wait(self) -> object:
        """The reply, however long it takes."""
        self._arrived.wait()
        return self._value


class Replies:
    """The open requests to the client, by their id."""

    def __init__(self) -> None:
        self._slots: dict[object, ReplySlot] = {}
        self._lock = threading.Lock()

    def expect(self, request_id: object) -> ReplySlot:
        """A slot for the reply to that request."""
        with self._lock:
            slot = self._slots[request_id] = ReplySlot()
        return slot

    def deliver(self, request_id: object, value: object) -> None:
        """Hands a reply to the thread that waits for it; drops it if none does."""
        with self._lock:
            slot = self._slots.pop(request_id, None)
        if slot is not None:
            slot.put(value)
