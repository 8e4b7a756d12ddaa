"""When which fault hits whom: pure data of a seed, so that a run can be had again."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

from avatar_actors.chaos.kinds import KINDS, FaultKind

_DIGEST = 16


class PlannedFault(Struct, frozen=True, kw_only=True):
    """One fault. `at`: seconds after the faults begin; `avatar`: the place that it hits.

    `seconds`, `times`, `seed` and `variant` are what a kind may need to be told.
    """

    number: int
    at: float
    avatar: int
    kind: FaultKind
    seconds: float
    times: int
    seed: int
    variant: str = ""


class ScheduleWish(Struct, frozen=True, kw_only=True):
    """What a schedule is made of: the same wish, the same schedule."""

    seed: int
    seconds: float
    every: float
    avatars: int
    kinds: tuple[FaultKind, ...]


def schedule(wish: ScheduleWish) -> tuple[PlannedFault, ...]:
    """Faults with exponential gaps; each kind comes as often as its weight, in random order."""
    dice = random.Random(wish.seed)
    kinds = _bag(dice, wish.kinds)
    faults: list[PlannedFault] = []
    at = dice.expovariate(1 / wish.every)
    while at < wish.seconds and wish.kinds:
        kind = next(kinds)
        faults.append(
            PlannedFault(
                number=len(faults) + 1,
                at=round(at, 6),
                avatar=dice.randrange(wish.avatars),
                kind=kind,
                seconds=round(dice.uniform(0.2, 1.0), 3),
                times=dice.randint(1, 3),
                seed=dice.randrange(2**31),
                variant=dice.choice(KINDS[kind].variants),
            )
        )
        at += dice.expovariate(1 / wish.every)
    return tuple(faults)


def digest(faults: Sequence[PlannedFault]) -> str:
    """A short name of a schedule: the same for the same faults, byte for byte."""
    return hashlib.sha256(msgspec.json.encode(faults)).hexdigest()[:_DIGEST]


def _bag(dice: random.Random, kinds: Sequence[FaultKind]) -> Iterator[FaultKind]:
    """A shuffled bag again and again: rare kinds come, and no run is all of one kind."""
    bag = [kind for kind in kinds for _ in range(KINDS[kind].weight)]
    while bag:
        dice.shuffle(bag)
        # A copy: the next shuffle begins where this one left off.
        yield from tuple(bag)
