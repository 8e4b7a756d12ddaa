"""For a pipe or a file: the text of the answer as it comes, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from avatar_actors import Avatar, AvatarEvent, TextEvent, TurnEndedEvent
from avatar_actors.cli.chat.stderr_output import Remarks
from avatar_actors.cli.terminal.nobody_to_ask import NobodyToAsk
from avatar_actors.cli.terminal.outlet import Outlet
from avatar_actors.cli.terminal.text import PlainText, plain, without_controls


class PlainOutput:
    """The answer on stdout, ended by a newline; the rest on stderr."""

    def __init__(self, outlet: Outlet, remarks: Remarks) -> None:
        self._outlet, self._remarks = outlet, remarks
        self._nobody = NobodyToAsk(remarks)
        self._text = PlainText(plain if outlet.is_terminal else without_controls)
        self._last = "\n"

    @property
    def is_away(self) -> bool:
        """Never."""
        return False

    async def attend(self) -> None:
        """Nothing."""

    def meet(self, avatar: Avatar) -> None:
        """For the answers to its requests."""
        self._nobody.meet(avatar)

    async def tell(self, events: Sequence[AvatarEvent]) -> None:
        """Write what was said."""
        said = "".join(self._said(event) for event in events)
        if said:
            await self._outlet.write(said.encode())
        self._remarks.tell(events)
        await self._nobody.hear(events)

    def warn(self, text: str) -> None:
        """On stderr."""
        self._remarks.say(text)

    async def caution(self, text: str) -> None:
        """On stderr, in any case."""
        self._remarks.warn(text)

    def restore(self) -> None:
        """Nothing was changed."""

    def _said(self, event: AvatarEvent) -> str:
        match event:
            case TextEvent(text=text):
                said = self._text.add(text)
            case TurnEndedEvent():
                said = self._text.end()
                said += "" if (said or self._last).endswith("\n") else "\n"
            case _:
                return ""
        self._last = said or self._last
        return said
