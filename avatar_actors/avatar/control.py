"""How a host's handle reaches the actors of its avatar, and what it says when they are gone."""

from __future__ import annotations

from typing import Any, TypeVar

from avatar_actors.avatar import messages
from avatar_actors.avatar.ending import reason_of
from avatar_actors.avatar.tree import Actors
from avatar_actors.model.errors import AvatarDown
from supervisors import Address, AskFailed, Monitor, Phase, Request

R = TypeVar("R")


class Contact:
    """Asks the actors; AvatarDown, with the reason, where there is nobody left to answer."""

    def __init__(self, name: str, actors: Actors) -> None:
        self.name = name
        self.actors = actors
        self.monitor: Monitor = actors.supervisor.monitor()

    @property
    def is_down(self) -> bool:
        """Whether the avatar has stopped or given up."""
        # Not `in {…}`: an enum's hash is a call, and this is asked of all avatars at each start.
        phase = self.actors.supervisor.phase
        return phase is Phase.STOPPED or phase is Phase.GONE

    async def wait(self) -> None:
        """Until it has stopped; AvatarDown with the reason if it gave up."""
        reason = reason_of(await self.monitor.down())
        if reason:
            raise AvatarDown(f"{self.name} has ended: {reason}")

    async def session(self) -> messages.SessionReady:
        """The session as it is now; AvatarDown while there is none."""
        session = await self.ask(self.actors.turn_queue, messages.CurrentSession())
        if session is None:
            raise AvatarDown(f"{self.name} has no session now; it is being restarted")
        return session

    async def ask(self, actor: Address[Any], request: Request[R]) -> R:
        """The actor's answer."""
        try:
            return await actor.ask(request)
        except AskFailed as error:
            if self.is_down:
                await self.wait()
                raise AvatarDown(f"{self.name} was stopped") from error
            raise AvatarDown(f"{self.name}: {error}") from error
