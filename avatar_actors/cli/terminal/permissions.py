"""Answers an agent's permission requests: by a person's keys, with an editor, or by denying all."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol, TypeAlias, TypeVar

import msgspec

from avatar_actors import (
    Avatar,
    AvatarDown,
    AvatarEvent,
    PermissionEvent,
    Permit,
    UnknownRequest,
)
from avatar_actors.cli.exit_codes import Failure

ToolInput: TypeAlias = dict[str, object]
# Lets a person change an input; Failure if that does not work.
Edit: TypeAlias = Callable[[ToolInput], Awaitable[ToolInput]]
# Runs a command in the terminal; its exit code.
RunEditor: TypeAlias = Callable[[list[str]], Awaitable[int]]
TO_AGENT: Final = "Nobody can be asked here: this run takes no answers from a person."


T = TypeVar("T")


class AvatarCall(Protocol):
    """Calls the avatar, here or in the thread of an engine."""

    def __call__(self, work: Callable[[Avatar], Awaitable[T]], /) -> Awaitable[T]:
        """What the work returns."""
        ...


class Approvals:
    """What each key answers: y once, n no, a always, e with a changed input.

    Where the agent has no "always", the tools that were allowed for good are remembered here.
    """

    def __init__(self, edit: Edit, note: Callable[[str], None]) -> None:
        self.call: AvatarCall | None = None
        self._edit, self._note = edit, note
        self._allowed: set[str] = set()

    async def hear(self, asked: PermissionEvent) -> None:
        """Answer a request for a tool that was allowed for good."""
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
        if self.call is None:
            return
        try:
            if not (await self.call(Avatar.capabilities)).editable_input:
                raise Failure(f"{asked.provider} does not accept a changed input; press y, n or a")
            changed = await self._edit(asked.tool_input)
        except (Failure, AvatarDown) as error:
            self._note(str(error))
            return
        if changed == asked.tool_input:
            self._note("nothing was changed; press y, n or a")
        else:
            await self._answer(asked, Permit.ALLOW_ONCE, changed)

    async def _answer(
        self, asked: PermissionEvent, permit: Permit, changed: ToolInput | None = None
    ) -> None:
        # The turn may have ended meanwhile.
        with suppress(UnknownRequest, AvatarDown):
            if self.call is not None:
                await self.call(
                    lambda avatar: avatar.answer(asked.request_id, permit, updated_input=changed)
                )


class DenyAll:
    """Denies every request where nobody can be asked, and says so."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self.avatar: Avatar | None = None
        self._warn = warn

    async def hear(self, events: Sequence[AvatarEvent]) -> None:
        """Deny the requests among these events."""
        for event in events:
            if isinstance(event, PermissionEvent) and self.avatar is not None:
                tool = event.tool_name or event.title or "a tool"
                self._warn(
                    f"{tool} was denied, nobody can be asked here; to allow it: "
                    "--permission unrestricted"
                )
                # The turn may have ended meanwhile.
                with suppress(UnknownRequest, AvatarDown):
                    await self.avatar.answer(event.request_id, Permit.REJECT_ONCE, message=TO_AGENT)


async def edited(given: ToolInput, run: RunEditor) -> ToolInput:
    """The input as $VISUAL, $EDITOR or vi left it; Failure if that is not a JSON object."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="avatar-edit-") as folder:
        path = Path(folder) / "input.json"
        path.write_bytes(msgspec.json.format(msgspec.json.encode(given), indent=2) + b"\n")
        try:
            code = await run([*shlex.split(editor), str(path)])
        except (OSError, ValueError) as error:
            raise Failure(f"cannot run the editor {editor!r} ({error}); set $EDITOR") from error
        if code != 0:
            raise Failure(f"the editor {editor!r} ended with {code}")
        try:
            return msgspec.json.decode(path.read_bytes(), type=ToolInput)
        except (OSError, msgspec.DecodeError) as error:
            raise Failure(f"the edited input is not a JSON object: {error}") from error
