"""What the commands of the REPL work with: all of it but the screen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from msgspec import Struct

from avatar_actors import Avatar, AvatarEngine, Permit, ProviderCapabilities, RuntimeThread
from avatar_actors.cli.agent_choice import Casting
from avatar_actors.cli.repl.context import Turns
from avatar_actors.cli.repl.conversation import Conversation
from avatar_actors.cli.repl.session_log import Minutes
from avatar_actors.cli.terminal.approvals import Input
from avatar_actors.cli.terminal.text import plain

T = TypeVar("T")


class Desk(Struct, frozen=True, kw_only=True):
    """The avatar, the thread that it runs in, and what is known of the conversation."""

    casting: Casting
    engine: AvatarEngine
    runtime: RuntimeThread
    conversation: Conversation
    minutes: Minutes
    turns: Turns

    async def ask(self, work: Callable[[Avatar], Awaitable[T]]) -> T:
        """Whatever an Avatar can do; one that gave up is replaced first."""
        await self.turns.start()
        return await self.engine.run(work)


class EngineAnswers:
    """An engine's avatar, as approvals know one."""

    def __init__(self, engine: AvatarEngine) -> None:
        self._engine = engine

    async def capabilities(self) -> ProviderCapabilities:
        """What the agent can do."""
        return await self._engine.run(Avatar.capabilities)

    async def answer(
        self, request_id: str, permit: Permit, *, updated_input: Input | None = None
    ) -> None:
        """As Avatar's."""
        await self._engine.run(
            lambda avatar: avatar.answer(request_id, permit, updated_input=updated_input)
        )


def one_line(text: str) -> str:
    """Foreign words for a line of ours: no escape codes, no controls, no line breaks."""
    return " ".join(plain(text).split())
