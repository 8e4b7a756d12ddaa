"""What is the same for all contestants: room in a mailbox, sizes of crowds, who pings whom."""

import random
from collections.abc import Callable

# Numbers of operations are multiples of CROWD, and so of FAN.
CAPACITY = 256
RING = 100
CROWD = 64
FAN = 8
SECONDS_TO_ANSWER = 5.0
CRASH = -1


def partners(me: int, pings: int) -> list[int]:
    """Whom a member of the crowd pings: others at random, the same for each contestant."""
    dice = random.Random(me)
    return [(me + dice.randrange(1, CROWD)) % CROWD for _ in range(pings)]


class Countdown:
    """Calls `at_zero` when it was ticked so many times; for the tasks of one thread."""

    def __init__(self, ticks: int, at_zero: Callable[[], None]) -> None:
        self._left = ticks
        self._at_zero = at_zero

    def tick(self) -> None:
        """One of them is done."""
        self._left -= 1
        if not self._left:
            self._at_zero()
