"""Questions to the client that wait for their reply."""

from __future__ import annotations

import threading


class Slot:
    """The place where one reply arrives; a released slot gives None."""

    def __init__(self) -> None:
        self._arrived = threading.Event()
        self._value: object = None

    @property
    def is_answered(self) -> bool:
        """Whether a reply is here, or none is awaited any more."""
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
    """The open questions by their id."""

    def __init__(self) -> None:
        self._slots: dict[object, Slot] = {}
        self._lock = threading.Lock()

    def expect(self, request_id: object) -> Slot:
        """A slot for the reply to that request."""
        with self._lock:
            slot = self._slots[request_id] = Slot()
        return slot

    def deliver(self, request_id: object, value: object) -> None:
        """Gives a reply to who waits for it; nobody may, and then it is dropped."""
        with self._lock:
            slot = self._slots.pop(request_id, None)
        if slot is not None:
            slot.put(value)

    def release_all(self) -> None:
        """Ends every wait, for no reply can come any more."""
        with self._lock:
            slots = list(self._slots.values())
        for slot in slots:
            slot.release()
