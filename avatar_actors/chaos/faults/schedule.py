"""The schedule: which fault hits which slot when, from a seed, so that a run can be repeated."""

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
    """Whether the kinds are mixed or come one after the other, each in a slice of the time."""

    MIXED = "mixed"
    BY_KIND = "by_kind"


class PlannedFault(Struct, frozen=True, kw_only=True):
    """One fault. `at` is in seconds after the faults begin; `avatar` is the number of the slot.

    `seconds`, `times`, `seed` and `variant` are parameters that some kinds use.
    """

    number: int
    at: float
    avatar: int
    kind: FaultKind
    seconds: float
    times: int
    seed: int
    variant: str = ""


class ChaosOptions(Struct, frozen=True, kw_only=True):
    """The options of a run. `every`: mean seconds between two faults; no `kinds`: all."""

    avatars: int = 20
    seconds: float = 60.0
    every: float = 0.5
    seed: int = 1
    kinds: tuple[FaultKind, ...] = ()
    provider: str = "embedded"
    order: FaultOrder = FaultOrder.MIXED


class Slice(Struct, frozen=True, kw_only=True):
    """A part of the time with its faults, all of one `kind`, or of any kind if that is None."""

    kind: FaultKind | None
    begin: float
    end: float
    faults: tuple[PlannedFault, ...]


def schedule(options: ChaosOptions, kinds: tuple[FaultKind, ...]) -> tuple[PlannedFault, ...]:
    """Faults of these kinds in the order of their times, with exponential gaps.

    Equal options and kinds give equal schedules.
    """
    dice = random.Random(options.seed)
    moments = _mixed if options.order is FaultOrder.MIXED else _by_kind
    return tuple(
        PlannedFault(
            number=number,
            at=round(at, 6),
            avatar=dice.randrange(options.avatars),
            kind=kind,
            seconds=round(dice.uniform(0.2, 1.0), 3),
            times=dice.randint(1, 3),
            seed=dice.randrange(2**31),
            variant=dice.choice(KINDS[kind].variants),
        )
        for number, (at, kind) in enumerate(moments(dice, options, kinds), start=1)
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
    """A short name for a schedule: the same for the same faults."""
    return hashlib.sha256(msgspec.json.encode(faults)).hexdigest()[:_DIGEST]


def _mixed(
    dice: random.Random, options: ChaosOptions, kinds: tuple[FaultKind, ...]
) -> Iterator[tuple[float, FaultKind]]:
    """Every kind as often as its weight says, in random order."""
    bag = _bag(dice, kinds)
    at = dice.expovariate(1 / options.every)
    while at < options.seconds and kinds:
        yield at, next(bag)
        at += dice.expovariate(1 / options.every)


def _by_kind(
    dice: random.Random, options: ChaosOptions, kinds: tuple[FaultKind, ...]
) -> Iterator[tuple[float, FaultKind]]:
    """Every kind in a slice of equal length, at least once."""
    each_once = tuple(dict.fromkeys(kinds))
    length = options.seconds / max(len(each_once), 1)
    for place, kind in enumerate(each_once):
        at = min(dice.expovariate(1 / options.every), length / 2)
        while at < length:
            yield place * length + at, kind
            at += dice.expovariate(1 / options.every)


def _bag(dice: random.Random, kinds: Sequence[FaultKind]) -> Iterator[FaultKind]:
    """Shuffles the same bag again and again: rare kinds come too, and no run has only one kind."""
    bag = [kind for kind in kinds for _ in range(KINDS[kind].weight)]
    while bag:
        dice.shuffle(bag)
        # A copy: the next shuffle begins where this one left off.
        yield from tuple(bag)
