"""The REPL's key bindings, and when a key answers a permission request."""

from __future__ import annotations

from typing import Final, Protocol

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition, is_searching
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from avatar_actors import PermissionEvent

KEYS: Final = ("y", "n", "a", "e")

# A key answers only after this long without typing, so that nobody answers by accident.
PAUSE: Final = 0.5


class AnswerKeys:
    """Tracks the oldest open request and when the person last typed."""

    def __init__(self) -> None:
        self._request: PermissionEvent | None = None
        self._since = 0.0
        self._taken = ""

    def look(self, asks: tuple[PermissionEvent, ...], now: float) -> None:
        """Update the open requests, oldest first."""
        waiting = [one for one in asks if one.request_id != self._taken]
        oldest = waiting[0] if waiting else None
        if oldest is not None and oldest != self._request:
            self._since = now
        self._request = oldest

    def typed(self, now: float) -> None:
        """The person is typing."""
        self._since = now

    def request(self, now: float) -> PermissionEvent | None:
        """The request that a key would answer now."""
        return self._request if now - self._since >= PAUSE else None

    def take(self, request: PermissionEvent) -> None:
        """A key was pressed for it; ignore further keys meanwhile."""
        self._taken = request.request_id
        self._request = None

    def give_back(self) -> None:
        """The key is handled; if the request is still open, it can be answered."""
        self._taken = ""


is_typing = ~is_searching


class KeyListener(Protocol):
    """Told what the keys mean."""

    def sent(self, text: str) -> None:
        """Enter was pressed."""
        ...

    def ctrl_c(self) -> None:
        """Ctrl-C, or an interrupt by signal."""
        ...

    def ctrl_d(self) -> None:
        """Ctrl-D on an empty line."""
        ...

    def takes_back(self) -> str:
        """Remove the prompt that was queued last and return it; empty if there is none."""
        ...

    @property
    def can_answer(self) -> bool:
        """Whether a key would answer a request now."""
        ...

    def answer(self, key: str) -> None:
        """One of KEYS, on an empty line, while a request is open."""
        ...


def bindings_for(listener: KeyListener, line: Buffer) -> KeyBindings:
    """The bindings of this input line; while Ctrl-R searches, keys go to the search."""
    keys = KeyBindings()
    is_empty = is_typing & Condition(lambda: not line.text)
    _add_enter(keys, listener, line)

    @keys.add("up", filter=is_empty)
    def _(_: KeyPressEvent) -> None:
        if queued := listener.takes_back():
            line.insert_text(queued)
        else:
            line.auto_up()

    @keys.add("c-c", filter=is_typing)
    @keys.add("<sigint>")
    def _(_: KeyPressEvent) -> None:
        listener.ctrl_c()

    @keys.add("c-d", filter=is_empty)
    def _(_: KeyPressEvent) -> None:
        listener.ctrl_d()

    @keys.add("c-z")
    def _(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()

    def answer(event: KeyPressEvent) -> None:
        listener.answer(event.data)

    for key in KEYS:
        keys.add(key, filter=is_empty & Condition(lambda: listener.can_answer))(answer)
    return keys


def _add_enter(keys: KeyBindings, listener: KeyListener, line: Buffer) -> None:
    @keys.add("escape", "enter", filter=is_typing)
    @keys.add("c-j", filter=is_typing)
    def _(_: KeyPressEvent) -> None:
        line.newline(copy_margin=False)

    @keys.add("enter", filter=is_typing)
    def _(_: KeyPressEvent) -> None:
        if line.document.current_line_before_cursor.endswith("\\"):
            line.delete_before_cursor()
            line.newline(copy_margin=False)
            return
        text = line.text
        if text.strip():
            line.append_to_history()
        line.reset()
        listener.sent(text)
