"""The tree of a turn that runs here: `avatar tree PROMPT` is a chat whose output is the tree."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final, TypeAlias

import trio

from avatar_actors import (
    Avatar,
    AvatarEvent,
    EngineStateEvent,
    Outcome,
    ThinkingEvent,
    TreeHappening,
    TreeSnapshot,
    TurnEndedEvent,
    TurnStartedEvent,
    Unwatchable,
    observable_programs,
    watch_tree,
)
from avatar_actors.cli.options import CommandOptions
from avatar_actors.cli.terminal.permission_answers import DenyAll
from avatar_actors.cli.terminal.text import plain
from avatar_actors.cli.tree.outputs import TreeShow
from avatar_actors.cli.tree.screen import TreeQuestions
from avatar_actors.cli.tree.wording import avatars_of, is_calm

# A person at the tree, or nobody.
Asking: TypeAlias = DenyAll | TreeQuestions
# After a crash the tree is shown until it has settled again, but not for ever.
_SETTLING: Final = 10.0


class TreeOfTurn:
    """An `Output` of a chat."""

    def __init__(self, show: TreeShow, asking: Asking, name: str, wanted: CommandOptions) -> None:
        self._show, self._asking, self._name, self._wanted = show, asking, name, wanted
        self._is_up = trio.Event()
        self._seen = trio.Event()
        self._last: TreeSnapshot | None = None
        self._is_over = False
        self._crashes = self._returns = 0

    @property
    def is_away(self) -> bool:
        """While an editor has the terminal."""
        return self._asking.is_away

    async def attend(self) -> None:
        """Watch our own tree, as any other program could."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._show.attend)
            self._show.say(f"{self._name}: starting")
            await self._is_up.wait()
            try:
                await self._watch()
            except Unwatchable as error:
                self._show.warn(str(error))

    async def _watch(self) -> None:
        ours = [each.socket for each in observable_programs() if each.pid == os.getpid()]
        if not ours:
            raise Unwatchable("this program's own tree cannot be found")
        async with watch_tree(ours[0]) as trees:
            async for snapshot in trees:
                if self._is_over:
                    return
                of_session = [
                    change.what for change in snapshot.changes if change.path.endswith("/session")
                ]
                self._crashes += of_session.count(TreeHappening.CRASHED)
                self._returns += of_session.count(TreeHappening.READY)
                self._last = snapshot
                await self._show.show(snapshot)
                self._seen.set()
                self._seen = trio.Event()

    def meet(self, avatar: Avatar) -> None:
        """The tree is there."""
        self._asking.meet(avatar)
        self._is_up.set()

    async def tell(self, events: Sequence[AvatarEvent]) -> None:
        """How it stands with the turn; at its end, the last tree."""
        await self._asking.hear(events)
        for event in events:
            if state := self._state(event):
                self._show.say(f"{self._name}: {state}")
            if isinstance(event, TurnEndedEvent):
                with trio.move_on_after(_SETTLING):
                    while not self._has_settled(event):
                        await self._seen.wait()
                self._is_over = True
                await self._show.finish()

    def _state(self, event: AvatarEvent) -> str:
        match event:
            case TurnStartedEvent():
                return "the turn has begun"
            case EngineStateEvent(new_state=state):
                return state.value.replace("_", " ")
            case ThinkingEvent(subject=subject) if subject and self._wanted.show_thinking:
                return f"thinking · {' '.join(plain(subject).split())}"
            case TurnEndedEvent(outcome=outcome, duration=duration):
                return f"{outcome.value.replace('_', ' ')} after {duration:.1f}s"
            case _:
                return ""

    def _has_settled(self, ended: TurnEndedEvent) -> bool:
        """A crash ends the turn before the tree has seen to it."""
        if self._last is None:
            return False
        if ended.outcome is not Outcome.CRASHED or not avatars_of(self._last):
            return True
        return 0 < self._crashes <= self._returns and is_calm(self._last.tree)

    def warn(self, text: str) -> None:
        """Above the tree, or on stderr."""
        self._show.warn(text)

    async def caution(self, text: str) -> None:
        """The same."""
        self._show.warn(text)

    def restore(self) -> None:
        """The terminal is as it was found."""
        self._show.restore()
