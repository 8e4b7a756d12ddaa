"""Watching a program that runs elsewhere: which ones there are, and the tree of one of them."""

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
from avatar_actors.cli.chat.run import CODES, heeded
from avatar_actors.cli.exit_codes import ExitCode, Failure, nobody_reads, terminal_gone
from avatar_actors.cli.tree.outputs import TreeShow
from avatar_actors.cli.tree.wording import avatars_of, headline, name_of

NOBODY: Final = 'no program shows its tree; start one: avatar tree "what is in this directory?"'
# A program that is stopped, or whose loop hangs, does not answer.
_PATIENCE: Final = 2.0
_MOST_NAMES: Final = 3


class FoundProgram(Struct, frozen=True):
    """A program and its first word; None if it does not answer."""

    program: ObservableProgram
    first: TreeSnapshot | None

    @property
    def line(self) -> str:
        """For a list of several."""
        if self.first is None:
            return f"process {self.program.pid}: does not answer"
        names = [name_of(avatar) for avatar in avatars_of(self.first)]
        more = ", …" if len(names) > _MOST_NAMES else ""
        shown = f": {', '.join(names[:_MOST_NAMES])}{more}" if names else ""
        return f"{headline(self.first, time.time())}{shown}"


async def sightings() -> list[FoundProgram]:
    """Every program of this user that can be watched; those that answer, and the newest, first."""
    found: list[FoundProgram] = []

    async def look(program: ObservableProgram) -> None:
        first = None
        try:
            with trio.move_on_after(_PATIENCE):
                async with watch_tree(program.socket) as trees:
                    first = await anext(trees, None)
        except Unwatchable:
            # Gone meanwhile, or crowded: it is not to be watched by us.
            return
        found.append(FoundProgram(program, first))

    async with trio.open_nursery() as nursery:
        for program in observable_programs():
            nursery.start_soon(look, program)
    return sorted(found, key=lambda each: each.first.since if each.first else 0.0, reverse=True)


def candidates(found: Sequence[FoundProgram], pid: int | None) -> list[ObservableProgram]:
    """Those with this process id, or all, the newest first; Failure if nobody is there."""
    if not found:
        raise Failure(NOBODY)
    wanted = [each for each in found if pid in {None, each.program.pid}]
    if not wanted:
        there = ", ".join(str(each.program.pid) for each in found)
        raise Failure(f"process {pid} shows no tree; there are: {there}")
    awake = [each.program for each in wanted if each.first is not None]
    if not awake:
        raise Failure(f"{wanted[0].line}; it is stopped, or very busy")
    return awake


class Attached:
    """Three at work: one follows the tree, one shows it, one hears signals."""

    def __init__(self, show: TreeShow, left: trio.Event) -> None:
        self._show, self._left = show, left
        self._code = ExitCode.OK
        self._failure: AvatarError | Failure | None = None

    async def run(self, pid: int | None, most: float = math.inf) -> ExitCode:
        """Until the program ends, somebody leaves, or there were so many snapshots."""
        try:
            with trio.open_signal_receiver(*heeded()) as signals:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._listen, signals, nursery.cancel_scope)
                    nursery.start_soon(self._attend, nursery.cancel_scope)
                    nursery.start_soon(self._leave, nursery.cancel_scope)
                    await self._follow(pid, most)
                    nursery.cancel_scope.cancel()
        finally:
            self._show.restore()
        if self._failure is not None:
            raise self._failure
        return self._code

    async def _follow(self, pid: int | None, most: float) -> None:
        try:
            found = await sightings()
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
            self._show.warn(each.line)
        self._show.warn("the newest is shown; another one: avatar tree --pid N")

    async def _watch_first(self, programs: Sequence[ObservableProgram], most: float) -> None:
        """Of those that have not ended meanwhile."""
        *others, last = programs
        for program in others:
            with suppress(Unwatchable):
                await self._watch(program, most)
                return
        await self._watch(last, most)

    async def _watch(self, program: ObservableProgram, most: float) -> None:
        async with watch_tree(program.socket) as trees:
            async for snapshot in trees:
                await self._show.show(snapshot)
                most -= 1
                if most <= 0:
                    return
        self._show.say(f"process {program.pid} has ended")
        await self._show.finish()

    async def _attend(self, all_of_it: trio.CancelScope) -> None:
        try:
            await self._show.attend()
        except* OSError:
            self._failure = terminal_gone()
            all_of_it.cancel()

    async def _listen(self, signals: AsyncIterator[int], all_of_it: trio.CancelScope) -> None:
        async for number in signals:
            self._code = CODES[signal.Signals(number)]
            all_of_it.cancel()

    async def _leave(self, all_of_it: trio.CancelScope) -> None:
        await self._left.wait()
        all_of_it.cancel()
