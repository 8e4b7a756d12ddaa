"""A supervision tree to watch: children crash and come back, a budget runs out, all ends in order.

`python -m examples.supervision_demo`: in a terminal it is drawn live, in about 25 seconds; piped,
it is told line by line at once.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import os
import signal
import sys
from typing import TYPE_CHECKING

import trio
import trio.testing

from examples.bakery import BAKERY, COURIERS, SHOP_BUDGET, TILL, Job, Task, Trouble
from examples.frame import Caption
from examples.live_screen import LiveScreen
from examples.spans import with_colours, without_colours
from examples.tree_output import LineOutput, LiveOutput, TreeOutput
from supervisors import Address, GaveUp, Notice, Ready, Supervisor, open_supervisor
from supervisors.testing import Watch, watch

if TYPE_CHECKING:
    from collections.abc import Sequence

STARTS = Caption(
    "1/6  The tree starts in order",
    "Each child is ready before the next one starts. A supervisor is ready when its children are.",
)
COMES_BACK = Caption(
    "2/6  A worker crashes and comes back",
    "The till gets a wooden coin. Its address stays good and its mail (▪) waits for its next life. "
    "Only the message it died of is gone.",
)
REST_GOES_ALONG = Caption(
    "3/6  rest_for_one takes the rest along",
    "The oven depends on the dough. When the dough crashes, the oven is stopped, then both start "
    "in order. The mill, which came before, works on.",
)
BACKS_OFF = Caption(
    "4/6  Backoff",
    "Ben has a flat tyre, twice. He comes back after 1 second, then after 2. "
    "The other couriers do not notice.",
)
ESCALATES = Caption(
    "5/6  Out of budget: trouble goes up",
    "The oven smokes again and again. The bakery has no restart left and gives up; "
    "its own supervisor, the shop, starts the whole bakery anew.",
)
STOPS = Caption(
    "6/6  The orderly stop",
    "The last started goes first, and each one gets the time to tidy up. "
    "The couriers have no order among them: they leave together.",
)
INTERRUPTED = Caption("Interrupted", "The tree still stops in order, last started first.")
THE_END = Caption(
    "The end", "Everything has stopped. How it is written: docs/supervisors/tutorial.md"
)


async def story(shop: Supervisor, show: TreeOutput) -> None:
    """All chapters; what they wait for is the tree's own notices."""
    with watch(shop) as seen:
        till, ben = await start_the_tree(shop, show)
        async with trio.open_nursery() as daily_life:
            daily_life.start_soon(customers, [till, shop.named("mill")], 0.45)
            daily_life.start_soon(customers, list((await couriers(shop)).values()), 0.5)
            await a_worker_comes_back(show, seen, till)
            await the_rest_goes_along(show, seen, shop)
            await one_backs_off(show, seen, ben)
            await the_trouble_goes_up(show, seen, shop)
            daily_life.cancel_scope.cancel()
        show.begin(STOPS)
        await trio.sleep(0.8)
        await shop.stop()


async def start_the_tree(shop: Supervisor, show: TreeOutput) -> tuple[Address[Task], Address[Task]]:
    show.begin(STARTS)
    await trio.sleep(0.4)
    till = await shop.start(TILL)
    await shop.start(BAKERY)
    await shop.start(COURIERS)
    await trio.sleep(0.7)
    return till, (await couriers(shop))["ben"]


async def couriers(shop: Supervisor) -> dict[str, Address[Task]]:
    return {child.name: child.address for child in await shop.supervisor("couriers").children()}


async def customers(served: Sequence[Address[Task]], pause: float) -> None:
    """The daily life of the shop: something to do for everybody in turn."""
    for address in itertools.cycle(served):
        await address.tell(Job())
        await trio.sleep(pause)


async def a_worker_comes_back(show: TreeOutput, seen: Watch, till: Address[Task]) -> None:
    show.begin(COMES_BACK)
    await trio.sleep(1.1)
    seen.all()
    await till.tell(Trouble(ValueError("a wooden coin")))
    for _ in range(5):
        await till.tell(Job())
    await seen.next(Ready, till.path)
    await trio.sleep(1.4)


async def the_rest_goes_along(show: TreeOutput, seen: Watch, shop: Supervisor) -> None:
    show.begin(REST_GOES_ALONG)
    await trio.sleep(1.1)
    seen.all()
    await shop.named("dough").tell(Trouble(RuntimeError("no yeast left")))
    await seen.next(Ready, "shop/bakery/oven")
    await trio.sleep(0.9)


async def one_backs_off(show: TreeOutput, seen: Watch, ben: Address[Task]) -> None:
    show.begin(BACKS_OFF)
    await trio.sleep(0.8)
    for _ in range(2):
        seen.all()
        await ben.tell(Trouble(ConnectionError("a flat tyre")))
        await seen.next(Ready, ben.path)
        await trio.sleep(0.3)
    await trio.sleep(0.3)


async def the_trouble_goes_up(show: TreeOutput, seen: Watch, shop: Supervisor) -> None:
    show.begin(ESCALATES)
    await trio.sleep(1.2)
    while await the_oven_comes_back_after_smoke(seen, shop):
        pass
    await seen.next(Ready, "shop/bakery")
    await trio.sleep(1)


async def the_oven_comes_back_after_smoke(seen: Watch, shop: Supervisor) -> bool:
    await trio.sleep(0.2)
    seen.all()
    oven = shop.named("oven")
    await oven.tell(Trouble(OSError("smoke")))
    while True:
        match await seen.next(Notice):
            case Ready(path=oven.path):
                return True
            case GaveUp():
                return False
            case _:
                pass


async def perform(show: TreeOutput) -> int:
    """Play the story; 0, or 128 + the signal that ended it."""
    signals: list[int] = []
    curtain = trio.CancelScope()
    async with trio.open_nursery() as nursery:
        await nursery.start(watch_signals, curtain, signals, show)
        with curtain:
            async with open_supervisor(
                "shop", intensity=SHOP_BUDGET.intensity, period=SHOP_BUDGET.period
            ) as shop:
                await nursery.start(show.follow, shop)
                await story(shop, show)
        if not signals:
            show.begin(THE_END)
        show.end()
        nursery.cancel_scope.cancel()
    return 128 + signals[0] if signals else 0


async def watch_signals(
    curtain: trio.CancelScope,
    signals: list[int],
    show: TreeOutput,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Ctrl-C and a polite kill end the story; the tree stops in order as always."""
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as received:
        task_status.started()
        async for number in received:
            signals.append(number)
            show.begin(INTERRUPTED)
            curtain.cancel()


async def play_live(screen: LiveScreen) -> int:
    return await perform(LiveOutput(screen))


async def tell() -> int:
    return await perform(LineOutput(sys.stdout))


def can_draw() -> bool:
    """Whether this is a terminal that can move its cursor."""
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def run(speed: float) -> int:
    if not can_draw():
        return trio.run(tell, clock=trio.testing.MockClock(autojump_threshold=0))
    paint = without_colours if os.environ.get("NO_COLOR") else with_colours
    screen = LiveScreen(sys.stdout, paint)
    clock = None if speed == 1 else trio.testing.MockClock(rate=speed)
    with screen.taken():
        return trio.run(play_live, screen, clock=clock)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m examples.supervision_demo", description=__doc__
    )
    parser.add_argument("--speed", type=float, default=1.0, help="2 is twice as fast (default 1)")
    options = parser.parse_args()
    if options.speed <= 0:
        parser.error("--speed must be above 0")
    # The demo shows the crashes itself; without this, Python prints their tracebacks too.
    logging.getLogger("supervisors").addHandler(logging.NullHandler())
    code = 0
    try:
        code = run(options.speed)
    except* BrokenPipeError:
        # The reader went away (`| head -1`). Python would complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except* KeyboardInterrupt:
        code = 128 + signal.SIGINT
    return code


if __name__ == "__main__":
    sys.exit(main())
