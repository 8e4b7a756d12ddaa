"""Runs one prompt, from the start of its avatar to its outcome, interrupts included."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Final, Protocol

import msgspec
import trio

from avatar_actors import (
    Avatar,
    AvatarError,
    AvatarEvent,
    EventStream,
    Outcome,
    ProviderCapabilities,
    Runtime,
    Turn,
    TurnEndedEvent,
    open_runtime,
)
from avatar_actors.cli.agent_choice import AgentChoice
from avatar_actors.cli.chat.prompt_source import PromptInput
from avatar_actors.cli.exit_codes import ExitCode, Failure, code_of, nobody_reads, terminal_gone


class ChatOutput(Protocol):
    """Where a run is shown: a terminal, a pipe, or a tree."""

    @property
    def is_away(self) -> bool:
        """Whether an editor has the terminal, and with it Ctrl-C."""
        ...

    async def attend(self) -> None:
        """Its own work, until cancelled."""
        ...

    def meet(self, avatar: Avatar, can: ProviderCapabilities) -> None:
        """The avatar has started and can be answered."""
        ...

    async def tell(self, events: Sequence[AvatarEvent]) -> None:
        """Show these events. OSError: nobody reads them any more."""
        ...

    def warn(self, text: str) -> None:
        """Show a line of the program's own."""
        ...

    async def caution(self, text: str) -> None:
        """Show a warning that must be seen before the answer."""
        ...

    def restore(self) -> None:
        """Leave the terminal as it was found; calling it twice does no harm."""
        ...


CODES: Final = {
    signal.SIGINT: ExitCode.INTERRUPTED,
    signal.SIGTERM: ExitCode.TERMINATED,
    signal.SIGHUP: ExitCode.TERMINATED,
    signal.SIGQUIT: ExitCode.TERMINATED,
}


def handled_signals() -> list[signal.Signals]:
    """The signals of CODES that are not ignored, as with nohup."""
    return [each for each in CODES if signal.getsignal(each) is not signal.SIG_IGN]


class Interrupts:
    """The first signal ends the run by `end`, the second exits at once.

    Nothing delays the second: the warden ends the agent once this process is gone.
    """

    def __init__(self, end: Callable[[], Awaitable[None]], output: ChatOutput) -> None:
        self.code: ExitCode | None = None
        self._end, self._output = end, output

    async def listen(self, signals: AsyncIterator[int]) -> None:
        """Handle signals until cancelled."""
        async for number in signals:
            if not self._is_meant(number):
                continue
            code = CODES[signal.Signals(number)]
            if self.code is not None:
                self._output.restore()
                os._exit(code)
            self.code = code
            await self._end()

    def _is_meant(self, number: int) -> bool:
        """Ctrl-C in the editor is not ours; a closing terminal signals twice, which counts once."""
        if number == signal.SIGINT:
            return not self._output.is_away
        return number != signal.SIGHUP or self.code is None


# How long to wait for the last events of a failed start.
_LAST_EVENTS = 5.0
# The most events that wait for a slow reader before the oldest are merged.
_CAPACITY = 65_536


class ChatRun:
    """Three tasks: one prompts the avatar, one shows its events, one handles signals."""

    def __init__(self, prompt: PromptInput, choice: AgentChoice, output: ChatOutput) -> None:
        self.ended: TurnEndedEvent | None = None
        self._prompt, self._choice, self._output = prompt, choice, output
        self._events = EventStream(capacity=_CAPACITY)
        self._last = AvatarEvent()
        self._all_shown = trio.Event()
        self._turn: Turn | None = None
        self._scope = trio.CancelScope()
        self._failure: AvatarError | Failure | None = None
        self._interrupts = Interrupts(self._interrupt, output)

    async def run(self) -> ExitCode:
        """Run to the end. AvatarError: the avatar did not start; Failure: nobody reads any more."""
        try:
            # Outside the nursery: before it, Ctrl-C is a plain KeyboardInterrupt.
            with trio.open_signal_receiver(*handled_signals()) as signals:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._interrupts.listen, signals)
                    nursery.start_soon(self._attend)
                    nursery.start_soon(self._follow)
                    with self._scope:
                        await self._send()
                    nursery.cancel_scope.cancel()
        finally:
            self._output.restore()
        if self._failure is not None:
            raise self._failure
        return self._code()

    def _code(self) -> ExitCode:
        """A cancelled turn exits with the code of the signal; without one it has failed."""
        ended, signalled = self.ended, self._interrupts.code
        if ended is None:
            return signalled or ExitCode.INTERRUPTED
        if ended.outcome is Outcome.CANCELLED:
            return signalled or ExitCode.FAILED
        return code_of(ended)

    async def _send(self) -> None:
        choice, prompt = self._choice, self._prompt
        Runtime.tune_collector()
        try:
            async with open_runtime(**choice.runtime) as runtime:
                avatar = await runtime.start(
                    choice.provider, listener=self._events, **choice.options
                )
                can = await avatar.capabilities()
                self._output.meet(avatar, can)
                if caution := choice.caution(can):
                    await self._output.caution(caution)
                async with avatar.turn(prompt.prompt, **prompt.options) as turn:
                    self._turn = turn
                    await turn.wait()
                    self.ended = turn.ended
                    if turn.ended is not None:
                        await self._tell_end(turn.ended)
        except AvatarError as error:
            self._failure = error
            with trio.move_on_after(_LAST_EVENTS):
                await self._all_shown.wait()

    async def _attend(self) -> None:
        try:
            await self._output.attend()
        except* BrokenPipeError:
            self._give_up(nobody_reads())
        except* OSError:
            self._give_up(terminal_gone())

    async def _follow(self) -> None:
        """Show the events up to the end of the turn or of the avatar, without unasked turns."""
        while self._failure is None and not isinstance(self._last, TurnEndedEvent):
            found = await self._events.take()
            if not found:
                break
            events = [event for event in found if not event.unasked]
            ends = (at for at, event in enumerate(events) if isinstance(event, TurnEndedEvent))
            if shown := events[: next(ends, len(events)) + 1]:
                await self._tell(shown)
        self._all_shown.set()

    async def _tell_end(self, ended: TurnEndedEvent) -> None:
        """Show the end of the turn of an avatar that gave up and can publish no more events."""
        await self._all_shown.wait()
        if not isinstance(self._last, TurnEndedEvent):
            seq, provider, avatar = self._last.seq + 1, self._last.provider, self._last.avatar
            end = msgspec.structs.replace(ended, seq=seq, provider=provider, avatar=avatar)
            await self._tell([end])

    async def _tell(self, events: Sequence[AvatarEvent]) -> None:
        try:
            await self._output.tell(events)
        except BrokenPipeError:
            self._give_up(nobody_reads())
        except OSError as error:
            self._give_up(Failure(f"cannot write the output: {error.strerror}"))
        self._last = events[-1]

    def _give_up(self, why: Failure) -> None:
        self._failure = why
        self._scope.cancel()

    async def _interrupt(self) -> None:
        if self._turn is None:
            self._scope.cancel()
        elif await self._turn.interrupt():
            self._output.warn("interrupting; Ctrl-C again leaves now")
