"""Denies what an agent asks for where nobody is asked, and says how it could be allowed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final, Protocol

from avatar_actors import Avatar, AvatarDown, AvatarEvent, PermissionEvent, Permit, UnknownRequest

TO_AGENT: Final = "Nobody can be asked here: this run takes no answers from a person."


class Warner(Protocol):
    """Where the person reads of it."""

    def warn(self, text: str) -> None:
        """One line."""
        ...


class NobodyToAsk:
    """Answers for a person who is not there."""

    is_away: Final = False

    def __init__(self, remarks: Warner) -> None:
        self._remarks = remarks
        self._avatar: Avatar | None = None

    def meet(self, avatar: Avatar) -> None:
        """Whom to answer."""
        self._avatar = avatar

    async def hear(self, events: Sequence[AvatarEvent]) -> None:
        """Deny each request among these."""
        for event in events:
            if isinstance(event, PermissionEvent) and self._avatar is not None:
                tool = event.tool_name or event.title or "a tool"
                self._remarks.warn(
                    f"{tool} was denied, nobody can be asked here; to allow it: "
                    "--permission unrestricted"
                )
                # Its turn may be over by now.
                with suppress(UnknownRequest, AvatarDown):
                    await self._avatar.answer(
                        event.request_id, Permit.REJECT_ONCE, message=TO_AGENT
                    )
