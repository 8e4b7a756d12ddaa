"""One prompt from the start of its avatar to its outcome, interrupts included."""

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
    Turn,
    TurnEndedEvent,
    open_runtime,
)
from avatar_actors.cli.agent_choice import AgentChoice
from avatar_actors.cli.chat.prompt_source import PromptInput
from avatar_actors.cli.exit_codes import ExitCode, Failure, code_of, nobody_reads, terminal_gone


class ChatOutput(Protocol):
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


CODES: Final = {
    signal.SIGINT: ExitCode.INTERRUPTED,
    signal.SIGTERM: ExitCode.TERMINATED,
    signal.SIGHUP: ExitCode.TERMINATED,
    signal.SIGQUIT: ExitCode.TERMINATED,
}


def heeded() -> list[signal.Signals]:
    """Those that this program was not told to ignore, as by nohup."""
    return [each for each in CODES if signal.getsignal(each) is not signal.SIG_IGN]


class Interrupts:
    """Counts the signals.

    `end` begins to end what runs. The second signal's way out is one that nothing delays: the
    warden ends the agent once this process is gone.
    """

    def __init__(self, end: Callable[[], Awaitable[None]], output: ChatOutput) -> None:
        self.code: ExitCode | None = None
        self._end, self._output = end, output

    async def listen(self, signals: AsyncIterator[int]) -> None:
        """Until cancelled."""
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
        """The editor has its own Ctrl-C; a terminal that closes says so twice, and counts once."""
        if number == signal.SIGINT:
            return not self._output.is_away
        return number != signal.SIGHUP or self.code is None


# The last events of a start that failed may take so long to arrive.
_LAST_EVENTS = 5.0
# So many events wait for a slow reader of the output before the first of them are merged.
_CAPACITY = 65_536


class ChatRun:
    """Three at work: one talks with the avatar, one tells its events, one hears signals."""

    def __init__(self, asked: PromptInput, casting: AgentChoice, output: ChatOutput) -> None:
        self.ended: TurnEndedEvent | None = None
        self._asked, self._casting, self._output = asked, casting, output
        self._heard = EventStream(capacity=_CAPACITY)
        self._told = AvatarEvent()
        self._all_is_told = trio.Event()
        self._turn: Turn | None = None
        self._scope = trio.CancelScope()
        self._failure: AvatarError | Failure | None = None
        self._interrupts = Interrupts(self._interrupt, output)

    async def run(self) -> ExitCode:
        """To the end. AvatarError: there was no avatar; Failure: nobody reads any more."""
        try:
            # Outside of the nursery: what comes before is a plain KeyboardInterrupt.
            with trio.open_signal_receiver(*heeded()) as signals:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._interrupts.listen, signals)
                    nursery.start_soon(self._attend)
                    nursery.start_soon(self._follow)
                    with self._scope:
                        await self._talk()
                    nursery.cancel_scope.cancel()
        finally:
            self._output.restore()
        if self._failure is not None:
            raise self._failure
        return self._code()

    def _code(self) -> ExitCode:
        """Who was interrupted says by which signal."""
        if self.ended is not None and self.ended.outcome is not Outcome.CANCELLED:
            return code_of(self.ended.outcome)
        return self._interrupts.code or ExitCode.INTERRUPTED

    async def _talk(self) -> None:
        casting, asked = self._casting, self._asked
        try:
            async with open_runtime(**casting.runtime) as runtime:
                avatar = await runtime.start(
                    casting.provider, listener=self._heard, **casting.options
                )
                self._output.meet(avatar)
                if caution := casting.caution(await avatar.capabilities()):
                    await self._output.caution(caution)
                async with avatar.turn(asked.prompt, **asked.options) as turn:
                    self._turn = turn
                    await turn.wait()
                    self.ended = turn.ended
                    if turn.ended is not None:
                        await self._tell_end(turn.ended)
        except AvatarError as error:
            self._failure = error
            with trio.move_on_after(_LAST_EVENTS):
                await self._all_is_told.wait()

    async def _attend(self) -> None:
        try:
            await self._output.attend()
        except* BrokenPipeError:
            self._give_up(nobody_reads())
        except* OSError:
            self._give_up(terminal_gone())

    async def _follow(self) -> None:
        """Tell the events up to the end of the turn, or of the avatar."""
        while self._failure is None and not isinstance(self._told, TurnEndedEvent):
            events = await self._heard.take()
            if not events:
                break
            ends = (at for at, event in enumerate(events) if isinstance(event, TurnEndedEvent))
            await self._tell(events[: next(ends, len(events)) + 1])
        self._all_is_told.set()

    async def _tell_end(self, ended: TurnEndedEvent) -> None:
        """An avatar that gave up has ended its turn, but has no tracker left to say so."""
        await self._all_is_told.wait()
        if not isinstance(self._told, TurnEndedEvent):
            seq, provider, avatar = self._told.seq + 1, self._told.provider, self._told.avatar
            end = msgspec.structs.replace(ended, seq=seq, provider=provider, avatar=avatar)
            await self._tell([end])

    async def _tell(self, events: Sequence[AvatarEvent]) -> None:
        try:
            await self._output.tell(events)
        except BrokenPipeError:
            self._give_up(nobody_reads())
        except OSError as error:
            self._give_up(Failure(f"the output cannot be written: {error.strerror}"))
        self._told = events[-1]

    def _give_up(self, why: Failure) -> None:
        self._failure = why
        self._scope.cancel()

    async def _interrupt(self) -> None:
        if self._turn is None:
            self._scope.cancel()
        elif await self._turn.interrupt():
            self._output.warn("interrupting; once more leaves at once")
