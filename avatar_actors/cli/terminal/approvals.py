"""What a key answers to a permission request: y once, n no, a always, e with another input."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol, TypeAlias

from avatar_actors import (
    AvatarDown,
    PermissionEvent,
    Permit,
    ProviderCapabilities,
    UnknownRequest,
)
from avatar_actors.cli.exit_codes import Failure

Input: TypeAlias = dict[str, object]
# Opens the editor on an input; Failure if nothing came of it.
Edit: TypeAlias = Callable[[Input], Awaitable[Input]]


class Respondent(Protocol):
    """Who is answered: an Avatar, or what an engine has of one."""

    async def capabilities(self) -> ProviderCapabilities:
        """Whether it takes another input."""
        ...

    async def answer(
        self, request_id: str, permit: Permit, *, updated_input: Input | None = None
    ) -> None:
        """As Avatar's."""
        ...


class Approvals:
    """Answers an avatar, and remembers what was allowed for good where the agent cannot."""

    def __init__(self, avatar: Respondent, edit: Edit, note: Callable[[str], None]) -> None:
        self._avatar, self._edit, self._note = avatar, edit, note
        self._allowed: set[str] = set()

    async def hear(self, asked: PermissionEvent) -> None:
        """What was allowed for good needs no key."""
        if asked.tool_name in self._allowed:
            await self._answer(asked, Permit.ALLOW_ONCE)

    async def press(self, key: str, asked: PermissionEvent) -> None:
        """Answer this request; any other key does nothing."""
        match key.lower():
            case "y":
                await self._answer(asked, Permit.ALLOW_ONCE)
            case "n":
                await self._answer(asked, Permit.REJECT_ONCE)
            case "a":
                await self._allow_always(asked)
            case "e":
                await self._allow_edited(asked)
            case _:
                pass

    async def _allow_always(self, asked: PermissionEvent) -> None:
        if any(option.kind is Permit.ALLOW_ALWAYS for option in asked.options):
            await self._answer(asked, Permit.ALLOW_ALWAYS)
        else:
            self._allowed.add(asked.tool_name)
            await self._answer(asked, Permit.ALLOW_ONCE)

    async def _allow_edited(self, asked: PermissionEvent) -> None:
        try:
            if not (await self._avatar.capabilities()).editable_input:
                raise Failure(f"{asked.provider} takes no other input; y, n or a")
            changed = await self._edit(asked.tool_input)
        except (Failure, AvatarDown) as error:
            self._note(str(error))
            return
        if changed == asked.tool_input:
            self._note("nothing was changed; y, n or a")
        else:
            await self._answer(asked, Permit.ALLOW_ONCE, changed)

    async def _answer(
        self, asked: PermissionEvent, permit: Permit, changed: Input | None = None
    ) -> None:
        # Its turn may be over by now.
        with suppress(UnknownRequest, AvatarDown):
            await self._avatar.answer(asked.request_id, permit, updated_input=changed)
