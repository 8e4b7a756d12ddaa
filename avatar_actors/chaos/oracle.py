"""The oracle: compares what an avatar was asked with its events and answers. Pure, no I/O."""

from __future__ import annotations

from collections import Counter
from enum import Enum

from msgspec import Struct, field

from avatar_actors import (
    AvatarEvent,
    EventsLostEvent,
    Outcome,
    TextEvent,
    ThinkingEvent,
    ToolStatus,
    TurnEndedEvent,
    TurnStartedEvent,
)
from avatar_actors.chaos.questions import FLOOD, MOMENT, TOKEN, NumberedPrompt

# What a slow reader may get as one event.
_MERGED = (TextEvent, ThinkingEvent)


def is_counted(event: AvatarEvent) -> bool:
    """Whether every subscriber gets as many of these events."""
    return not isinstance(event, _MERGED)


class CallerCheck(Struct):
    """What the caller of a prompt got so far; not `is_whole`: it was told that it missed some."""

    seq: int = 0
    count: int = 0
    is_whole: bool = True
    is_in_order: bool = True

    def takes(self, event: AvatarEvent) -> bool:
        """Whether this event may come now; one without a number is the caller's own."""
        if isinstance(event, EventsLostEvent):
            self.is_whole = False
            return True
        if 0 < event.seq <= self.seq:
            self.is_in_order = False
            return False
        self.seq = event.seq
        self.count += is_counted(event)
        return True


_REMEMBERED = 256
_EXAMPLES = 50
# How a tool may have ended in a turn that was completed: unknown is one whose end was not told.
_KNOWN = frozenset(ToolStatus) - {ToolStatus.UNKNOWN}


class Breach(Enum):
    """What must never happen."""

    PROMPT_LOST = "prompts lost"
    ANSWERED_TWICE = "prompts answered twice"
    MIXED = "prompts mixed"
    EVENT_LOST = "events lost"
    EVENT_DOUBLED = "events doubled"
    EVENT_REORDERED = "events reordered"
    AFTER_CANCEL = "events after cancel"
    AFTER_END = "events after the end"


class Breaches(Struct):
    """How often each happened, and the first of them in words."""

    counts: Counter[Breach] = field(default_factory=Counter[Breach])
    examples: list[str] = field(default_factory=list[str])

    @property
    def total(self) -> int:
        """The number of breaches of all kinds."""
        return self.counts.total()

    def add(self, breach: Breach, words: str, count: int = 1) -> None:
        """Counts a breach."""
        self.counts[breach] += count
        if len(self.examples) < _EXAMPLES:
            self.examples.append(f"{breach.value}: {words}")


class _Over(Struct, frozen=True):
    """A turn that has ended, with the number of its events."""

    outcome: Outcome
    count: int


class _Open(Struct):
    """A turn that is under way, with what was heard of it."""

    question: NumberedPrompt
    has_begun: bool = False
    pieces: int = 0
    flood: int = 0
    text: list[str] = field(default_factory=list[str])
    rest: str = ""
    count: int = 0
    handed: int | None = None


class Oracle:
    """Judges one avatar across its lives.

    Tell it each prompt before it is sent (`asked`), each event of a subscriber that sees all
    (`heard`), each event that the prompt's caller gets (`handed`), and its answer (`answered`).
    """

    def __init__(self, avatar: str, breaches: Breaches) -> None:
        self._avatar, self._breaches = avatar, breaches
        self._seq = 0
        self._open: dict[int, _Open] = {}
        self._over: dict[int, _Over] = {}
        self._handed: dict[int, CallerCheck] = {}

    def new_life(self) -> None:
        """Another avatar is in this slot: it numbers events and turns from one again."""
        self._seq = 0
        self._open, self._over = {}, {}

    def asked(self, turn_id: int, question: NumberedPrompt) -> None:
        """Takes in a prompt that is about to be sent."""
        self._open[turn_id] = _Open(question)
        self._handed[turn_id] = CallerCheck()

    def heard(self, event: AvatarEvent) -> None:
        """Takes in an event, in the order of the stream."""
        if isinstance(event, EventsLostEvent):
            self._add(Breach.EVENT_LOST, "the subscriber was too slow", event.count)
            return
        if not self._is_in_order(event) or event.unasked:
            return
        if event.turn_id in self._open:
            self._open[event.turn_id].count += is_counted(event)
        if event.turn_id in self._over:
            self._after_the_end(event)
        elif isinstance(event, TextEvent):
            self._text(event)
        elif isinstance(event, TurnStartedEvent):
            self._begun(event)
        elif isinstance(event, TurnEndedEvent):
            self._ended(event)

    def handed(self, turn_id: int, event: AvatarEvent) -> None:
        """Takes in an event as the caller of the prompt got it."""
        got = self._handed[turn_id]
        if not got.takes(event):
            breach = Breach.EVENT_DOUBLED if event.seq == got.seq else Breach.EVENT_REORDERED
            self._add(breach, f"turn {turn_id}: its caller got {event.seq} after {got.seq}")

    def answered(self, turn_id: int, text: str, ended: TurnEndedEvent | None) -> None:
        """Checks what the caller got: its pieces and the outcome, which must be there.

        An end without a number is the caller's own: the avatar was gone.
        """
        got = self._handed.get(turn_id, CallerCheck())
        self.left(turn_id, text, ended)
        if ended is None or not ended.seq:
            return
        if len(ended.text) > len(text):
            words = f"turn {turn_id}: pieces {text[-80:]!r}, in its end {ended.text[-80:]!r}"
            self._add(Breach.EVENT_LOST, words)
        if got.is_whole and turn_id in self._over:
            self._compare(turn_id, got.count, self._over[turn_id].count)
        elif got.is_whole and turn_id in self._open:
            self._open[turn_id].handed = got.count  # its end is still to be heard

    def left(self, turn_id: int, text: str, ended: TurnEndedEvent | None) -> None:
        """Checks the same for a caller that left on the way and so got only the first pieces."""
        got = self._handed.pop(turn_id, CallerCheck())
        if ended is None:
            self._add(Breach.PROMPT_LOST, f"turn {turn_id} had no outcome in time")
        elif ended.seq and got.is_in_order and not ended.text.startswith(text):
            words = f"turn {turn_id}: pieces {text[-80:]!r}, in its end {ended.text[-80:]!r}"
            self._add(Breach.EVENT_LOST, words)

    def close(self) -> None:
        """Checks that nothing is open after an orderly stop."""
        for turn_id, turn in self._open.items():
            if turn.has_begun:
                self._add(Breach.EVENT_LOST, f"the end of turn {turn_id} was not told")
        self._open = {}

    def _compare(self, turn_id: int, handed: int, heard: int) -> None:
        """Where the caller has more events, the loss was noticed already: a number is missing."""
        if handed < heard:
            missing = heard - handed
            words = f"turn {turn_id}: its caller got {missing} events less than were told"
            self._add(Breach.EVENT_LOST, words, missing)

    def _is_in_order(self, event: AvatarEvent) -> bool:
        expected, self._seq = self._seq + 1, max(self._seq, event.seq)
        if event.seq == expected:
            return True
        if event.seq > expected:
            missing = event.seq - expected
            self._add(Breach.EVENT_LOST, f"{missing} before number {event.seq}", missing)
            return True
        if event.turn_id in self._over:
            return True  # judged by its turn, which is worse
        is_next = event.seq == expected - 1
        breach = Breach.EVENT_DOUBLED if is_next else Breach.EVENT_REORDERED
        self._add(breach, f"number {event.seq} after {expected - 1}")
        return False

    def _after_the_end(self, event: AvatarEvent) -> None:
        if isinstance(event, TurnEndedEvent):
            self._add(Breach.ANSWERED_TWICE, f"turn {event.turn_id}")
            return
        outcome = self._over[event.turn_id].outcome
        was_cancelled = outcome in {Outcome.CANCELLED, Outcome.TIMED_OUT}
        breach = Breach.AFTER_CANCEL if was_cancelled else Breach.AFTER_END
        self._add(breach, f"turn {event.turn_id} was {outcome.value}, then came {event!r:.200}")

    def _begun(self, event: TurnStartedEvent) -> None:
        turn = self._open.get(event.turn_id)
        if turn is None:
            self._add(Breach.MIXED, f"turn {event.turn_id}, which was not asked")
        else:
            turn.has_begun = True

    def _text(self, event: TextEvent) -> None:
        turn = self._open.get(event.turn_id)
        if turn is None:
            self._add(Breach.MIXED, f"text of turn {event.turn_id}, which was not asked")
            return
        turn.text.append(event.text)
        if turn.question.is_exact:
            turn.rest = self._judge(turn, turn.rest + event.text)
        else:
            self._look_for_strangers(turn.question, event.text)

    def _judge(self, turn: _Open, text: str) -> str:
        """Takes whole tokens off the text; returns the rest, which begins another or is empty."""
        place = 0
        while place < len(text):
            token = TOKEN.match(text, place)
            if token is not None:
                self._piece(turn, *token.groups())
                place = token.end()
                continue
            moment = MOMENT.match(text, place)
            if moment is None:
                break
            place = moment.end()
        rest = text[place:]
        if rest and (rest[0] not in "<[" or len(rest) > _REMEMBERED):
            self._add(Breach.MIXED, f"question {turn.question.number} got {rest[:80]!r}")
            return ""
        return rest

    def _piece(self, turn: _Open, avatar: str, number: str, index: str) -> None:
        question = turn.question
        if (avatar, int(number)) != (question.avatar, question.number):
            asked = f"question {question.avatar}.{question.number}"
            self._add(Breach.MIXED, f"{asked} got a piece of {avatar}.{number}")
        elif index == FLOOD:
            turn.flood += 1
            if turn.flood > question.flood:
                self._add(Breach.EVENT_DOUBLED, f"question {number}: flood piece {turn.flood}")
        elif int(index) == turn.pieces:
            turn.pieces += 1
        elif int(index) < turn.pieces:
            self._add(Breach.EVENT_DOUBLED, f"question {number}: piece {index} again")
        else:
            missing = int(index) - turn.pieces
            self._add(Breach.EVENT_LOST, f"question {number}: no piece {turn.pieces}", missing)
            turn.pieces = int(index) + 1

    def _look_for_strangers(self, question: NumberedPrompt, text: str) -> None:
        for avatar, number, _ in TOKEN.findall(text):
            if (avatar, int(number)) != (question.avatar, question.number):
                words = f"question {question.number} got a piece of {avatar}.{number}"
                self._add(Breach.MIXED, words)

    def _ended(self, event: TurnEndedEvent) -> None:
        turn = self._open.pop(event.turn_id, None)
        count = turn.count if turn is not None else 0
        self._over[event.turn_id] = _Over(event.outcome, count)
        while len(self._over) > _REMEMBERED:
            del self._over[next(iter(self._over))]
        if turn is None:
            self._add(Breach.MIXED, f"the end of turn {event.turn_id}, which was not asked")
            return
        if turn.handed is not None:
            self._compare(event.turn_id, turn.handed, count)
        whole, question = "".join(turn.text), turn.question
        if event.text != whole:
            self._add(Breach.EVENT_LOST, f"the text of turn {event.turn_id} is not its pieces")
        if event.outcome is Outcome.COMPLETED and question.is_exact:
            missing = question.pieces - turn.pieces + question.flood - turn.flood
            missing += question.tools - sum(call.status in _KNOWN for call in event.tool_calls)
            if missing > 0:
                words = (
                    f"question {question.number} was completed without {missing} pieces or tools"
                )
                self._add(Breach.EVENT_LOST, words, missing)

    def _add(self, breach: Breach, words: str, count: int = 1) -> None:
        self._breaches.add(breach, f"{self._avatar}: {words}", count)
