"""The load on one slot: one prompt after the other, each to its outcome."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress

import trio
from msgspec import Struct

from avatar_actors import Avatar, AvatarDown, Outcome, TextEvent, Turn, TurnEndedEvent
from avatar_actors.chaos.oracle import Oracle
from avatar_actors.chaos.questions import TOKEN, NumberedPrompt
from avatar_actors.chaos.report.statistics import Prompts, RunCounters

# What has not ended by then never will: many times what a busy machine needs.
PATIENCE = 60.0
_AGAIN = 0.05
_REMEMBERED = 64


class PromptOutcome(Struct, frozen=True, kw_only=True):
    """How a prompt ended. `ended` is None if it could not even be handed in."""

    sent: float
    done: float
    text: str
    ended: TurnEndedEvent | None


class _Special:
    """A prompt of a fault, and its outcome once there is one."""

    def __init__(self, question: NumberedPrompt) -> None:
        self.question = question
        self.answer: PromptOutcome | None = None
        self.is_done = trio.Event()


class LoadGenerator:
    """Sends prompt after prompt to one avatar; a fault can have its own prompt sent next.

    `hits` counts the faults on this avatar; `is_hit` says that one is under way. `call` is the
    cancel scope of the present prompt. Holding `asking` keeps further prompts from being sent.
    `avatar` and `write` are called for every prompt.
    """

    def __init__(
        self,
        *,
        name: str,
        avatar: Callable[[], Avatar],
        write: Callable[[], NumberedPrompt],
        oracle: Oracle,
        counters: RunCounters,
        pause: float,
    ) -> None:
        self._name, self._avatar, self._write = name, avatar, write
        self._oracle, self._counters, self._pause = oracle, counters, pause
        self.prompts = Prompts()
        self.hits = 0
        self.is_hit = False
        self.call: trio.CancelScope | None = None
        self.asking = trio.Lock()
        self._special: deque[_Special] = deque()
        self._is_over = False
        self._poke = trio.Event()
        # When it was sent and done alone: texts of floods would fill the memory that is measured.
        self._answered: deque[tuple[float, float]] = deque(maxlen=_REMEMBERED)
        self._news = trio.Event()

    async def rehearse(self) -> str:
        """Sends one prompt before the faults; returns what is wrong with its answer, or nothing."""
        ended = (await self._ask(self._write())).ended
        if ended is None:
            return f"nothing came within {PATIENCE:g} s"
        is_well = ended.outcome is Outcome.COMPLETED
        return "" if is_well else ended.reason or ended.outcome.value

    async def play(self, replace: Callable[[], Awaitable[None]]) -> None:
        """Sends prompts until `finish`; calls `replace` for an avatar that gave up."""
        while not self._is_over:
            async with self.asking:
                await self._next(replace)
            self._poke = trio.Event()
            if not self._special and not self._is_over:
                with trio.move_on_after(self._pause):
                    await self._poke.wait()

    async def put(self, question: NumberedPrompt) -> PromptOutcome:
        """Has this prompt sent next; if cancelled, takes it back, also from the avatar."""
        special = _Special(question)
        self._special.append(special)
        self.poke()
        try:
            await special.is_done.wait()
        except trio.Cancelled:
            if special in self._special:
                self._special.remove(special)
            elif self.call is not None:
                self.call.cancel()
            raise
        assert special.answer is not None
        return special.answer

    def poke(self) -> None:
        """Skips the pause before the next prompt."""
        self._poke.set()

    def finish(self) -> None:
        """Sends no prompt after the present one."""
        self._is_over = True
        self.poke()

    async def answered_since(self, moment: float) -> float:
        """Waits for the answer to a prompt that was sent after this moment, and gives its time."""
        while True:
            for sent, done in self._answered:
                if sent >= moment:
                    return done
            self.poke()
            news = self._news
            with trio.move_on_after(_AGAIN):
                await news.wait()

    async def _next(self, replace: Callable[[], Awaitable[None]]) -> None:
        special = self._special.popleft() if self._special else None
        answer = await self._ask(special.question if special else self._write())
        if special:
            special.answer = answer
            special.is_done.set()
        elif answer.ended is None:
            await self._look_after(replace)

    async def _look_after(self, replace: Callable[[], Awaitable[None]]) -> None:
        """The avatar is down: a fault will replace it, or it gave up and is replaced here."""
        if self._avatar().is_down and not self.is_hit and not self._is_over:
            self._counters.given_up += 1
            await replace()
        await trio.sleep(_AGAIN)

    async def _ask(self, question: NumberedPrompt) -> PromptOutcome:
        sent, hits = time.monotonic(), self.hits
        was_hit = self.is_hit
        turn = self._avatar().turn(question.prompt, timeout=question.timeout)
        self.prompts.sent += 1
        self._oracle.asked(turn.turn_id, question)
        texts: list[str] = []
        is_handed_in = False
        with (
            trio.move_on_after(PATIENCE) as patience,
            self._callable() as scope,
            suppress(AvatarDown),
        ):
            async with turn:
                is_handed_in = True
                await self._hear_out(turn, question, texts)
        answer = PromptOutcome(
            sent=sent, done=time.monotonic(), text="".join(texts), ended=turn.ended
        )
        is_late = patience.cancel_called
        if not is_handed_in and not is_late:
            self.prompts.refused += 1
            return answer
        judge = self._oracle.left if scope.cancel_called else self._oracle.answered
        judge(turn.turn_id, answer.text, None if is_late else turn.ended)
        if turn.ended is None or is_late:
            self.prompts.lost += 1
            return answer
        self.prompts.add(turn.ended.outcome)
        self._remember(answer, turn.ended)
        if not was_hit and not self.is_hit and hits == self.hits:
            self._judge(question, answer, turn.ended)
        return answer

    async def _hear_out(self, turn: Turn, question: NumberedPrompt, texts: list[str]) -> None:
        """Reads the turn to its end; the host may interrupt it once on the way."""
        pieces, last = 0, question.cancel_after
        async for event in turn:
            self._oracle.handed(turn.turn_id, event)
            if isinstance(event, TextEvent):
                texts.append(event.text)
                pieces += len(TOKEN.findall(event.text))
                if last is not None and pieces >= last:
                    last = None
                    await turn.interrupt()

    @contextmanager
    def _callable(self) -> Generator[trio.CancelScope]:
        """Exposes a cancel scope as `call`."""
        with trio.CancelScope() as scope:
            self.call = scope
            try:
                yield scope
            finally:
                self.call = None

    def _remember(self, answer: PromptOutcome, ended: TurnEndedEvent) -> None:
        if ended.outcome is Outcome.COMPLETED:
            self._answered.append((answer.sent, answer.done))
            self._news.set()
            self._news = trio.Event()

    def _judge(
        self, question: NumberedPrompt, answer: PromptOutcome, ended: TurnEndedEvent
    ) -> None:
        """There was no fault on this avatar: its prompt must have gone well."""
        if ended.outcome is Outcome.COMPLETED:
            if question.cancel_after is None:
                self._counters.waited(answer.done - answer.sent)
        elif ended.outcome is not Outcome.CANCELLED or question.cancel_after is None:
            words = f"{self._name}: {ended.outcome.value}: {ended.reason}"
            self._counters.disturb(words)
