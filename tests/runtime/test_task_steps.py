"""How many task steps an event that comes by itself takes, and a short turn: counts, no clock."""

import trio
import trio.testing

from avatar_actors import TextEvent
from tests.runtime.home import Home, script, until

EVENTS, TURNS = 20, 5
# Seconds: a wake-up a second and avatar was the price once.
QUIET = 1.5
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


async def test_avatars_that_idle_wake_nobody(home: Home) -> None:
    steps = Steps()
    async with home.runtime() as runtime:
        for name in ("aria", "basso", "coro"):
            avatar = await runtime.start("embedded", name, **home.options())
            await avatar.chat(script({"say": "x"}))
        await trio.testing.wait_all_tasks_blocked()
        trio.lowlevel.add_instrument(steps)
        # Until nobody has run for so long: never, if one of them wakes up more often.
        await trio.testing.wait_all_tasks_blocked(cushion=QUIET)
        trio.lowlevel.remove_instrument(steps)
    # The test itself, and perhaps the one look at all descriptors that comes every five seconds.
    assert steps.count <= 3
