"""What is measured, as data: a bench, its contestants, its sizes and the bound it has to keep."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

OURS = "supervisors"
TRIO = "trio"
ASYNCIO = "asyncio"
PYKKA = "pykka"

# Given how many operations, does them and returns the figure in the bench's unit.
Program: TypeAlias = Callable[[int], float]


class Scale(Enum):
    """How much of everything: enough for a figure to trust, or for a glance in CI."""

    FULL = 7
    QUICK = 3

    @property
    def rounds(self) -> int:
        return self.value


@dataclass(frozen=True, slots=True)
class MostOfTrio:
    """The ratio to plain trio must not exceed this."""

    limit: float


@dataclass(frozen=True, slots=True)
class MostOfAll:
    """Our own figure, in the bench's unit, must not exceed this."""

    limit: float


Bound: TypeAlias = MostOfTrio | MostOfAll | None


@dataclass(frozen=True, slots=True)
class Bench:
    """One line of the table.

    `full` and `quick` are numbers of operations. A contestant in `fewer` does so many times fewer:
    figures are per operation, and nobody should wait for threads.
    """

    name: str
    about: str
    unit: str
    full: int
    quick: int
    programs: Mapping[str, Program]
    bound: Bound = None
    fewer: Mapping[str, int] = field(default_factory=dict[str, int])

    def size(self, contestant: str, scale: Scale) -> int:
        """How many operations the contestant does in one round."""
        operations = self.full if scale is Scale.FULL else self.quick
        return max(1, operations // self.fewer.get(contestant, 1))


def microseconds_each(seconds_for: Callable[[int], float]) -> Program:
    """From the seconds that n operations took to the microseconds of one."""
    return lambda n: seconds_for(n) / n * 1e6


def microseconds(seconds_for: Callable[[int], float]) -> Program:
    """From the seconds of one operation, the median of n, to microseconds."""
    return lambda n: seconds_for(n) * 1e6


def kilobytes_each(bytes_for: Callable[[int], float]) -> Program:
    """From the bytes that n of something hold to the kB of one; a kB is 1,000 bytes."""
    return lambda n: bytes_for(n) / n / 1000


def growth(seconds_for: Callable[[int], float]) -> Program:
    """How many times longer n operations take than a tenth of them; 10 is linear."""
    return lambda n: seconds_for(n) / seconds_for(n // 10)
