"""The tree that the demo plays with: a till, a bakery of three in a row, and some couriers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import trio

from supervisors import Backoff, ChildSpec, Inbox, Strategy, SupervisorSpec


@dataclass(frozen=True)
class Job:
    """Something to do that goes well."""


@dataclass(frozen=True)
class Trouble:
    """Something to do that goes wrong."""

    error: Exception


Task: TypeAlias = Job | Trouble


@dataclass(frozen=True)
class Pace:
    """Seconds that a worker takes for everything, so that people can watch it."""

    open_up: float
    job: float
    tidy_up: float


@dataclass(frozen=True)
class Budget:
    """How many restarts a supervisor allows within a period."""

    intensity: int
    period: float


SHOP_BUDGET = Budget(3, 60)
BAKERY_BUDGET = Budget(3, 60)
COURIERS_BUDGET = Budget(5, 60)
BUDGETS = {
    "shop": SHOP_BUDGET,
    "shop/bakery": BAKERY_BUDGET,
    "shop/couriers": COURIERS_BUDGET,
}


async def worker(inbox: Inbox[Task], pace: Pace, then: ChildSpec[Task] | None = None) -> None:
    """Does its jobs one by one and hands each to the next in the row."""
    await trio.sleep(pace.open_up)
    try:
        async for task in inbox:
            if isinstance(task, Trouble):
                raise task.error
            await trio.sleep(pace.job)
            if then is not None:
                await inbox.sibling(then).tell(task)
    except trio.Cancelled:
        with inbox.grace():
            await trio.sleep(pace.tidy_up)
        raise


_STEP = Pace(open_up=0.45, job=0.35, tidy_up=0.3)

TILL = ChildSpec("till", partial(worker, pace=Pace(open_up=1.0, job=0.3, tidy_up=0.35)))

# The names are for the host: these three get new addresses when the whole bakery is restarted.
OVEN = ChildSpec("oven", partial(worker, pace=_STEP), register="oven")
DOUGH = ChildSpec("dough", partial(worker, pace=_STEP, then=OVEN), register="dough")
MILL = ChildSpec("mill", partial(worker, pace=_STEP, then=DOUGH), register="mill")

BAKERY = SupervisorSpec(
    "bakery",
    strategy=Strategy.REST_FOR_ONE,
    intensity=BAKERY_BUDGET.intensity,
    period=BAKERY_BUDGET.period,
    children=[MILL, DOUGH, OVEN],
)

# Each comes back later and later while it keeps crashing.
_COURIER = ChildSpec(
    "courier",
    partial(worker, pace=Pace(open_up=0.3, job=0.6, tidy_up=0.3)),
    backoff=Backoff(minimum=1.0, maximum=8.0, jitter=0),
)

COURIERS = SupervisorSpec(
    "couriers",
    strategy=Strategy.DYNAMIC,
    intensity=COURIERS_BUDGET.intensity,
    period=COURIERS_BUDGET.period,
    children=[replace(_COURIER, name=name) for name in ("ada", "ben", "cleo")],
)
