"""Random turns that are interrupted at random moments, and the watch over what they tell."""

import random
import re
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import trio

from avatar_actors import (
    Avatar,
    AvatarDown,
    AvatarEvent,
    EventStream,
    PermissionEvent,
    Permit,
    TextEvent,
    ThinkingEvent,
    ToolEvent,
    Turn,
    TurnEndedEvent,
    UnknownRequest,
)
from bench.agents.embedded import script
from bench.agents.program import Say

AGENTS = {"acp": "acp", "gemini": "gemini", "codex": "codex-acp", "claude": "claude"}
PATIENCE = 60.0
LONGEST_DELAY = 0.03
# Everything a turn says carries its number.
MARK = re.compile(r"<(\d+)>")


@dataclass(slots=True)
class Tally:
    """What all avatars together found; `wanted` interrupts are shared out as they go."""

    wanted: int
    say: Say
    took: list[float] = field(default_factory=list[float])
    outcomes: Counter[str] = field(default_factory=Counter[str])
    afterwards: list[str] = field(default_factory=list[str])
    mixed: list[str] = field(default_factory=list[str])
    endless: int = 0
    given_up: int = 0

    def next_one(self) -> bool:
        """Whether more is to be interrupted; a turn that ended first does not count."""
        done = len(self.took)
        self.say(f"{done} of {self.wanted} interrupted")
        return done < self.wanted


class Watch:
    """Holds every event of an avatar against the turn that it says it belongs to."""

    def __init__(self, name: str, tally: Tally) -> None:
        self._name, self._tally = name, tally
        self._ended: set[int] = set()
        self._news = trio.Event()

    async def read(self, stream: EventStream) -> None:
        """All that comes, to the end of the stream."""
        async for event in stream:
            self._look_at(event)

    async def until_ended(self, turn_id: int) -> None:
        while turn_id not in self._ended:
            await self._news.wait()

    def _look_at(self, event: AvatarEvent) -> None:
        turn_id = event.turn_id
        if turn_id in self._ended:
            self._tally.afterwards.append(f"{self._name}: after turn {turn_id}: {event}")
        if isinstance(event, TurnEndedEvent):
            self._ended.add(turn_id)
            self._news.set()
            self._news = trio.Event()
        strangers = {int(mark) for mark in MARK.findall(_words_of(event))} - {turn_id}
        if strangers:
            self._tally.mixed.append(f"{self._name}: turn {turn_id} has {strangers}: {event}")


def _words_of(event: AvatarEvent) -> str:
    match event:
        case TextEvent() | TurnEndedEvent():
            return event.text
        case ThinkingEvent():
            return event.thought
        case ToolEvent():
            return f"{event.tool_id} {event.result} {event.error}"
        case _:
            return ""


async def interleave(avatar: Avatar, tally: Tally, seed: int) -> None:
    """Turns until there are enough, each interrupted at some moment."""
    dice = random.Random(seed)
    watch = Watch(avatar.name, tally)
    number = 0
    async with avatar.events(capacity=100_000) as stream, trio.open_nursery() as nursery:
        nursery.start_soon(watch.read, stream)
        while tally.next_one():
            number += 1
            try:
                with trio.move_on_after(PATIENCE) as patience:
                    await _one_turn(avatar, number, dice, tally)
            except AvatarDown:
                tally.given_up += 1
                nursery.cancel_scope.cancel()
                return
            tally.endless += patience.cancelled_caught
        if number:
            await watch.until_ended(number)
        nursery.cancel_scope.cancel()


async def _one_turn(avatar: Avatar, number: int, dice: random.Random, tally: Tally) -> None:
    interrupted: list[float] = []
    async with avatar.turn(_random_script(number, dice)) as turn:
        # The avatar numbers its turns from one, so what they say can carry the number.
        assert turn.turn_id == number
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_interrupt_later, turn, dice.uniform(0, LONGEST_DELAY), interrupted)
            async for event in turn:
                if isinstance(event, PermissionEvent) and dice.random() < 0.5:
                    await _answer(avatar, event, dice)
            ended = time.perf_counter()
            nursery.cancel_scope.cancel()
    if interrupted:
        tally.took.append((ended - interrupted[0]) * 1e3)
    tally.outcomes[turn.outcome.value if turn.outcome else "nothing"] += 1


async def _interrupt_later(turn: Turn, delay: float, interrupted: list[float]) -> None:
    await trio.sleep(delay)
    interrupted.append(time.perf_counter())
    await turn.interrupt()


async def _answer(avatar: Avatar, event: PermissionEvent, dice: random.Random) -> None:
    with suppress(UnknownRequest):  # the interrupt came first
        await avatar.answer(event.request_id, dice.choice([Permit.ALLOW_ONCE, Permit.REJECT_ONCE]))


def _random_script(number: int, dice: random.Random) -> str:
    mark = f"<{number}>"
    steps = [_random_step(mark, dice) for _ in range(dice.randint(1, 6))]
    return script(*steps, {"say": mark})


def _random_step(mark: str, dice: random.Random) -> Mapping[str, object]:
    tool = {"id": f"tool-{mark}-{dice.randrange(10**9)}", "input": {"path": "a"}}
    steps: list[Mapping[str, object]] = [
        {"say": mark * 40, "chunks": 40},
        {"flood": dice.randrange(1, 2000), "text": mark},
        {"think": f"**{mark}**\n{mark}"},
        {"tool": "Read", "result": mark, **tool},
        {"tool": "Bash", "seconds": dice.uniform(0, 0.02), **tool},
        {"ask": "Write", "result": mark, **tool},
        {"pulse": {"every": 0.001, "count": dice.randrange(1, 20), "text": mark}},
        {"wait": dice.uniform(0, 0.02)},
    ]
    return dice.choice(steps)
