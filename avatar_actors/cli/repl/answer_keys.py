"""When a key is the answer to a permission request, and when it is typing. No I/O."""

from __future__ import annotations

from typing import Final

from avatar_actors import PermissionEvent

# What they answer, the approvals know.
KEYS: Final = ("y", "n", "a", "e")

# Who is typing when the request appears does not answer it: so long no key may have come.
PAUSE: Final = 0.5


class AnswerKeys:
    """Follows the oldest open request, and the person's keys."""

    def __init__(self) -> None:
        self._request: PermissionEvent | None = None
        self._since = 0.0
        self._taken = ""

    def look(self, asks: tuple[PermissionEvent, ...], now: float) -> None:
        """These requests are open now, oldest first."""
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
        """A key was pressed for it, and no other key is for it meanwhile."""
        self._taken = request.request_id
        self._request = None

    def give_back(self) -> None:
        """What the key began is done; was it not answered, it can be."""
        self._taken = ""
