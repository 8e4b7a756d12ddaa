"""Who answers what an agent asks for: the person at the terminal, or nobody."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import Final, Protocol, TypeAlias

import trio

from avatar_actors import (
    Avatar,
    AvatarDown,
    AvatarEvent,
    PermissionEvent,
    Permit,
    TurnEndedEvent,
    UnknownRequest,
)
from avatar_actors.cli.exit_codes import Failure
from avatar_actors.cli.terminal.approvals import Approvals, Input

# Gives the terminal away for the length of the block.
Away: TypeAlias = Callable[[], AbstractAsyncContextManager[None]]


class KeyApprovals:
    """Answers with their keys; `note` is where they read what came of it.

    `is_away` while their editor has the terminal.
    """

    def __init__(self, note: Callable[[str], None], away: Away) -> None:
        self.is_away = False
        self._note, self._away = note, away
        self._approvals: Approvals | None = None
        self._editing = trio.CancelScope()

    def meet(self, avatar: Avatar) -> None:
        """Whom to answer."""
        self._approvals = Approvals(avatar, self._edit, self._note)

    async def hear(self, events: Sequence[AvatarEvent]) -> None:
        """What was allowed for good needs no key; the editor ends with the turn."""
        for event in events:
            if isinstance(event, PermissionEvent) and self._approvals is not None:
                await self._approvals.hear(event)
            if isinstance(event, TurnEndedEvent):
                self._editing.cancel()

    async def press(self, key: str, asked: PermissionEvent) -> None:
        """Answer this request, if the key means anything."""
        if self._approvals is not None:
            await self._approvals.press(key, asked)

    async def _edit(self, given: Input) -> Input:
        from avatar_actors.cli.terminal.editor import edited  # noqa: PLC0415 - few need it

        with trio.CancelScope() as self._editing:
            async with self._away():
                self.is_away = True
                try:
                    return await edited(given)
                finally:
                    self.is_away = False
        raise Failure("it is too late for that: the turn is over")


TO_AGENT: Final = "Nobody can be asked here: this run takes no answers from a person."


class Warner(Protocol):
    """Where the person reads of it."""

    def warn(self, text: str) -> None:
        """One line."""
        ...


class DenyAll:
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
