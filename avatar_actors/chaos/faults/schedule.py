"""When which fault hits whom: pure data of a seed, so that a run can be had again."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import groupby

import msgspec
from msgspec import Struct

from avatar_actors.chaos.faults.kinds import KINDS, FaultKind

_DIGEST = 16


class FaultOrder(Enum):
    """How the kinds come: side by side, or one after the other, each in a slice of the time."""

    MIXED = "mixed"
    BY_KIND = "by_kind"


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
    order: FaultOrder = FaultOrder.MIXED


class Slice(Struct, frozen=True, kw_only=True):
    """A part of the time, and its faults: all of one `kind`, or of any if that is None."""

    kind: FaultKind | None
    begin: float
    end: float
    faults: tuple[PlannedFault, ...]


def schedule(wish: ScheduleWish) -> tuple[PlannedFault, ...]:
    """The faults, by their time, with exponential gaps."""
    dice = random.Random(wish.seed)
    moments = _mixed if wish.order is FaultOrder.MIXED else _by_kind
    return tuple(
        PlannedFault(
            number=number,
            at=round(at, 6),
            avatar=dice.randrange(wish.avatars),
            kind=kind,
            seconds=round(dice.uniform(0.2, 1.0), 3),
            times=dice.randint(1, 3),
            seed=dice.randrange(2**31),
            variant=dice.choice(KINDS[kind].variants),
        )
        for number, (at, kind) in enumerate(moments(dice, wish), start=1)
    )


def slices(faults: Sequence[PlannedFault], order: FaultOrder, seconds: float) -> tuple[Slice, ...]:
    """The slices of a schedule of this order and length."""
    if order is FaultOrder.MIXED or not faults:
        return (Slice(kind=None, begin=0.0, end=seconds, faults=tuple(faults)),)
    groups = [(kind, tuple(group)) for kind, group in groupby(faults, lambda fault: fault.kind)]
    length = seconds / len(groups)
    return tuple(
        Slice(kind=kind, begin=place * length, end=(place + 1) * length, faults=group)
        for place, (kind, group) in enumerate(groups)
    )


def digest(faults: Sequence[PlannedFault]) -> str:
    """A short name of a schedule: the same for the same faults, byte for byte."""
    return hashlib.sha256(msgspec.json.encode(faults)).hexdigest()[:_DIGEST]


def _mixed(dice: random.Random, wish: ScheduleWish) -> Iterator[tuple[float, FaultKind]]:
    """Each kind comes as often as its weight, in random order."""
    kinds = _bag(dice, wish.kinds)
    at = dice.expovariate(1 / wish.every)
    while at < wish.seconds and wish.kinds:
        yield at, next(kinds)
        at += dice.expovariate(1 / wish.every)


def _by_kind(dice: random.Random, wish: ScheduleWish) -> Iterator[tuple[float, FaultKind]]:
    """Each kind in a slice as long as any other's, in which it comes once at least."""
    kinds = tuple(dict.fromkeys(wish.kinds))
    length = wish.seconds / max(len(kinds), 1)
    for place, kind in enumerate(kinds):
        at = min(dice.expovariate(1 / wish.every), length / 2)
        while at < length:
            yield place * length + at, kind
            at += dice.expovariate(1 / wish.every)


def _bag(dice: random.Random, kinds: Sequence[FaultKind]) -> Iterator[FaultKind]:
    """A shuffled bag again and again: rare kinds come, and no run is all of one kind."""
    bag = [kind for kind in kinds for _ in range(KINDS[kind].weight)]
    while bag:
        dice.shuffle(bag)
        # A copy: the next shuffle begins where this one left off.
        yield from tuple(bag)
