"""`avatar tree PROMPT`: a chat whose output is the tree of its own runtime."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

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
from avatar_actors.cli.terminal.text import one_line
from avatar_actors.cli.tree.outputs import TreeOutput
from avatar_actors.cli.tree.wording import avatars_of, is_calm

# After a crash the tree is shown until it has settled again, but not longer than this.
_SETTLING: Final = 10.0


class TreeOfTurn:
    """A `ChatOutput` that shows the tree instead of the answer."""

    def __init__(self, output: TreeOutput, name: str, wanted: CommandOptions) -> None:
        self._output, self._name, self._wanted = output, name, wanted
        self._is_up = trio.Event()
        self._seen = trio.Event()
        self._last: TreeSnapshot | None = None
        self._is_over = False
        self._crashes = self._returns = 0

    @property
    def is_away(self) -> bool:
        """Whether an editor has the terminal."""
        return self._output.is_away

    async def attend(self) -> None:
        """Watch our own tree, as another program would."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._output.attend)
            self._output.say(f"{self._name}: starting")
            await self._is_up.wait()
            try:
                await self._watch()
            except Unwatchable as error:
                self._output.warn(str(error))

    async def _watch(self) -> None:
        ours = [each.socket for each in observable_programs() if each.pid == os.getpid()]
        if not ours:
            raise Unwatchable("cannot find this program's own tree")
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
                await self._output.show(snapshot)
                self._seen.set()
                self._seen = trio.Event()

    def meet(self, avatar: Avatar) -> None:
        """The avatar has started, so there is a tree."""
        self._output.meet(avatar)
        self._is_up.set()

    async def tell(self, events: Sequence[AvatarEvent]) -> None:
        """Show the state of the turn; at its end, the last tree."""
        await self._output.hear(events)
        for event in events:
            if state := self._state(event):
                self._output.say(f"{self._name}: {state}")
            if isinstance(event, TurnEndedEvent):
                with trio.move_on_after(_SETTLING):
                    while not self._has_settled(event):
                        await self._seen.wait()
                self._is_over = True
                await self._output.finish()

    def _state(self, event: AvatarEvent) -> str:
        match event:
            case TurnStartedEvent():
                return "the turn has begun"
            case EngineStateEvent(new_state=state):
                return state.value.replace("_", " ")
            case ThinkingEvent(subject=subject) if subject and self._wanted.show_thinking:
                return f"thinking · {one_line(subject)}"
            case TurnEndedEvent(outcome=outcome, duration=duration):
                return f"{outcome.value.replace('_', ' ')} after {duration:.1f}s"
            case _:
                return ""

    def _has_settled(self, ended: TurnEndedEvent) -> bool:
        """A crash ends the turn before the tree has restarted the session."""
        if self._last is None:
            return False
        if ended.outcome is not Outcome.CRASHED or not avatars_of(self._last):
            return True
        return 0 < self._crashes <= self._returns and is_calm(self._last.tree)

    def warn(self, text: str) -> None:
        """Above the tree, or on stderr."""
        self._output.warn(text)

    async def caution(self, text: str) -> None:
        """Above the tree, or on stderr."""
        self._output.warn(text)

    def restore(self) -> None:
        """Give the terminal back."""
        self._output.restore()
