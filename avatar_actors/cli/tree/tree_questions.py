"""What the agent of a turn asks for, below its tree, as `avatar chat` would ask it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import trio

from avatar_actors import Avatar, AvatarEvent, PermissionClosedEvent, PermissionEvent
from avatar_actors.cli.display import Display, Style
from avatar_actors.cli.terminal.permission_answers import Away, PersonToAsk


class TreeQuestions:
    """The picture of a chat, of which nothing is shown but its questions."""

    def __init__(self, style: Style, note: Callable[[str], None], away: Away) -> None:
        self._display = Display(style)
        self._person = PersonToAsk(note, away)
        self._drawn: PermissionEvent | None = None
        self._shown: PermissionEvent | None = None

    @property
    def is_away(self) -> bool:
        """Whether an editor has the terminal now."""
        return self._person.is_away

    def meet(self, avatar: Avatar) -> None:
        """Whom to answer."""
        self._person.meet(avatar)

    async def hear(self, events: Sequence[AvatarEvent]) -> None:
        """Take in the questions, and what became of them."""
        for event in events:
            if isinstance(event, PermissionEvent | PermissionClosedEvent):
                self._display.tell(event, trio.current_time())
        await self._person.hear(events)

    def finished(self, width: int) -> list[str]:
        """Lines that stay: what is too long for a question, and what was not allowed."""
        return self._display.finished(width)

    def lines(self, width: int, height: int) -> list[str]:
        """The first of the questions in at most so many lines; none, if nothing is asked."""
        self._drawn = next(iter(self._display.asks), None)
        if self._drawn is None:
            return []
        # The last one is the state of the turn, which the tree tells.
        return self._display.frame(width, height + 1, trio.current_time())[:-1]

    def seen(self) -> None:
        """The last lines are before the person's eyes: only what is there can be answered."""
        self._shown = self._drawn

    async def press(self, key: str) -> None:
        """Answer what is shown."""
        if self._shown is not None and self._shown in self._display.asks:
            await self._person.press(key, self._shown)
