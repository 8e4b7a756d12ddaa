"""Runs what `avatar tree` shows: a turn of its own, or another program until it ends."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Final

import trio
from msgspec import Struct

from avatar_actors import (
    Avatar,
    AvatarError,
    AvatarEvent,
    EngineState,
    EngineStateEvent,
    ObservableProgram,
    Outcome,
    ProviderCapabilities,
    ThinkingEvent,
    TreeHappening,
    TreeSnapshot,
    TurnEndedEvent,
    TurnStartedEvent,
    Unwatchable,
    observable_programs,
    watch_tree,
)
from avatar_actors.cli.chat.run import CODES, handled_signals
from avatar_actors.cli.exit_codes import ExitCode, Failure, nobody_reads, terminal_gone
from avatar_actors.cli.options import CommandOptions
from avatar_actors.cli.terminal.text import one_line
from avatar_actors.cli.tree.outputs import TreeOutput
from avatar_actors.cli.tree.view import avatars_of, headline, is_calm, name_of

NOBODY: Final = (
    'no running program shows its tree; start one: avatar tree "what is in this directory?"'
)
# How long to wait for a program; one that is stopped or hangs does not answer.
_PATIENCE: Final = 2.0
_MOST_NAMES: Final = 3


class FoundProgram(Struct, frozen=True):
    """A program and its first snapshot; None if it does not answer."""

    program: ObservableProgram
    first: TreeSnapshot | None

    @property
    def line(self) -> str:
        """Its line in a list of programs."""
        if self.first is None:
            return f"process {self.program.pid}: does not answer"
        names = [name_of(avatar) for avatar in avatars_of(self.first)]
        more = ", …" if len(names) > _MOST_NAMES else ""
        shown = f": {', '.join(names[:_MOST_NAMES])}{more}" if names else ""
        return f"{headline(self.first, time.time())}{shown}"


async def found_programs() -> list[FoundProgram]:
    """This user's programs that can be watched; the newest that answer come first."""
    found: list[FoundProgram] = []

    async def look(program: ObservableProgram) -> None:
        first = None
        try:
            with trio.move_on_after(_PATIENCE):
                async with watch_tree(program.socket) as trees:
                    first = await anext(trees, None)
        except Unwatchable:
            # Gone meanwhile, or it has too many watchers.
            return
        found.append(FoundProgram(program, first))

    async with trio.open_nursery() as nursery:
        for program in observable_programs():
            nursery.start_soon(look, program)
    return sorted(found, key=lambda each: each.first.since if each.first else 0.0, reverse=True)


def candidates(found: Sequence[FoundProgram], pid: int | None) -> list[ObservableProgram]:
    """The programs that answer, the newest first, or the one with this pid; Failure if none."""
    if not found:
        raise Failure(NOBODY)
    wanted = [each for each in found if pid in {None, each.program.pid}]
    if not wanted:
        there = ", ".join(str(each.program.pid) for each in found)
        raise Failure(f"process {pid} shows no tree; these do: {there}")
    awake = [each.program for each in wanted if each.first is not None]
    if not awake:
        raise Failure(f"{wanted[0].line}; it is stopped or very busy")
    return awake


class Attached:
    """Three tasks: one follows the tree, one shows it, one handles signals."""

    def __init__(self, output: TreeOutput, left: trio.Event) -> None:
        self._output, self._left = output, left
        self._code = ExitCode.OK
        self._failure: AvatarError | Failure | None = None

    async def run(self, pid: int | None, most: float = math.inf) -> ExitCode:
        """Until the program ends, the person leaves, or `most` snapshots were shown."""
        try:
            with trio.open_signal_receiver(*handled_signals()) as signals:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._listen, signals, nursery.cancel_scope)
                    nursery.start_soon(self._attend, nursery.cancel_scope)
                    nursery.start_soon(self._leave, nursery.cancel_scope)
                    await self._follow(pid, most)
                    nursery.cancel_scope.cancel()
        finally:
            self._output.restore()
        if self._failure is not None:
            raise self._failure
        return self._code

    async def _follow(self, pid: int | None, most: float) -> None:
        try:
            found = await found_programs()
            programs = candidates(found, pid)
            if pid is None and len(found) > 1:
                self._list(found)
            await self._watch_first(programs, most)
        except (AvatarError, Failure) as error:
            self._failure = error
        except BrokenPipeError:
            self._failure = nobody_reads()

    def _list(self, found: Sequence[FoundProgram]) -> None:
        for each in found:
            self._output.warn(each.line)
        self._output.warn("showing the newest; for another one: avatar tree --pid N")

    async def _watch_first(self, programs: Sequence[ObservableProgram], most: float) -> None:
        """Watch the first that has not ended meanwhile."""
        *others, last = programs
        for program in others:
            with suppress(Unwatchable):
                await self._watch(program, most)
                return
        await self._watch(last, most)

    async def _watch(self, program: ObservableProgram, most: float) -> None:
        async with watch_tree(program.socket) as trees:
            async for snapshot in trees:
                await self._output.show(snapshot)
                most -= 1
                if most <= 0:
                    return
        self._output.say(f"process {program.pid} has ended")
        await self._output.finish()

    async def _attend(self, scope: trio.CancelScope) -> None:
        try:
            await self._output.attend()
        except* OSError:
            self._failure = terminal_gone()
            scope.cancel()

    async def _listen(self, signals: AsyncIterator[int], scope: trio.CancelScope) -> None:
        async for number in signals:
            self._code = CODES[signal.Signals(number)]
            scope.cancel()

    async def _leave(self, scope: trio.CancelScope) -> None:
        await self._left.wait()
        scope.cancel()


# After a crash the tree is shown until it has settled again, but not longer than this.
_SETTLING: Final = 10.0
_AT_REST: Final = ("", EngineState.IDLE.value, EngineState.ERROR.value)


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

    def meet(self, avatar: Avatar, can: ProviderCapabilities) -> None:
        """The avatar has started, so there is a tree."""
        self._output.meet(avatar, can)
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
                await self._output.finish(event.text)

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
        """The tree shows the end of a turn a moment later, and a restart some time later."""
        if self._last is None:
            return False
        avatars = avatars_of(self._last)
        if ended.outcome is not Outcome.CRASHED or not avatars:
            return all(avatar.doing in _AT_REST for avatar in avatars)
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
