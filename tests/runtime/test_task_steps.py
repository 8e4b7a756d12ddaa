"""How many task steps an event that comes by itself takes, and a short turn: counts, no clock."""

import trio
import trio.testing

from avatar_actors import TextEvent
from tests.runtime.home import Home, script, until

EVENTS, TURNS = 20, 5
# The bridge reads, the activity tracker publishes, the caller takes; the rest is for timers.
STEPS_PER_EVENT = 3.5
# 21 when all is quiet.
STEPS_PER_TURN = 25
PULSE = {"pulse": {"every": 0.02, "count": EVENTS + 5, "text": "{i} "}}


class Steps(trio.abc.Instrument):
    """Counts every step of every task while it is installed."""

    def __init__(self) -> None:
        self.count = 0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.count += 1


async def test_an_event_that_comes_by_itself_takes_few_task_steps(home: Home) -> None:
    steps = Steps()
    async with home.avatar() as aria, aria.turn(script(PULSE)) as turn:
        await until(turn, TextEvent)
        trio.lowlevel.add_instrument(steps)
        for _ in range(EVENTS):
            await until(turn, TextEvent)
        trio.lowlevel.remove_instrument(steps)
    assert steps.count <= STEPS_PER_EVENT * EVENTS


async def test_a_short_turn_takes_few_task_steps(home: Home) -> None:
    steps = Steps()
    async with home.avatar() as aria:
        await aria.chat(script({"say": "warm"}))
        await trio.testing.wait_all_tasks_blocked()
        trio.lowlevel.add_instrument(steps)
        for _ in range(TURNS):
            await aria.chat(script({"say": "x"}))
        trio.lowlevel.remove_instrument(steps)
    assert steps.count <= STEPS_PER_TURN * TURNS, steps.count / TURNS
