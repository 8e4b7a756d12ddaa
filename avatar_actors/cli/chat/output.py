"""What a run of `avatar chat` needs of whoever shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from avatar_actors import Avatar, AvatarEvent


class Output(Protocol):
    """One of three: for a person, for a pipe, for a program."""

    @property
    def is_away(self) -> bool:
        """Whether another program, an editor, has the terminal now, and its Ctrl-C."""
        ...

    async def attend(self) -> None:
        """What it does beside, until it is cancelled."""
        ...

    def meet(self, avatar: Avatar) -> None:
        """The avatar is up, and can be answered."""
        ...

    async def tell(self, events: Sequence[AvatarEvent]) -> None:
        """These have happened. OSError: nobody reads it any more."""
        ...

    def warn(self, text: str) -> None:
        """A word of the host's own, that goes with the events."""
        ...

    async def caution(self, text: str) -> None:
        """What whoever reads stderr, or looks at the terminal, has to know before the answer."""
        ...

    def restore(self) -> None:
        """Leave everything as it was found; twice is once."""
        ...
