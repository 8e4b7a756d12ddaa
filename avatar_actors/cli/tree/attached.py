"""Finds the programs that show their tree, and watches one of them until it ends."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Final

import trio
from msgspec import Struct

from avatar_actors import (
    AvatarError,
    ObservableProgram,
    TreeSnapshot,
    Unwatchable,
    observable_programs,
    watch_tree,
)
from avatar_actors.cli.chat.run import CODES, handled_signals
from avatar_actors.cli.exit_codes import ExitCode, Failure, nobody_reads, terminal_gone
from avatar_actors.cli.tree.outputs import TreeOutput
from avatar_actors.cli.tree.wording import avatars_of, headline, name_of

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
