"""What supervision costs: create, restart, idle memory, ten thousand children.

`python -m bench.supervision`
"""

from bench.command import main
from bench.contest import (
    ASYNCIO,
    OURS,
    PYKKA,
    TRIO,
    Bench,
    MostOfAll,
    MostOfTrio,
    growth,
    kilobytes_each,
    microseconds,
    microseconds_each,
)
from bench.contestants import asyncio_lives, pykka_lives, supervisors_lives, trio_lives

FEWER = {PYKKA: 10}
MUCH_FEWER = {PYKKA: 50}

BENCHES = [
    Bench(
        name="supervision.create",
        about="a temporary child, against a bare task with a channel",
        unit="us",
        full=2_000,
        quick=60,
        bound=MostOfTrio(3),
        fewer=FEWER,
        programs={
            OURS: microseconds_each(supervisors_lives.create),
            TRIO: microseconds_each(trio_lives.create),
            ASYNCIO: microseconds_each(asyncio_lives.create),
            PYKKA: microseconds_each(pykka_lives.create),
        },
    ),
    Bench(
        name="supervision.restart",
        about="from a crash to the next life's answer, p50, against try and except in a loop",
        unit="us",
        full=1_000,
        quick=60,
        bound=MostOfTrio(3),
        fewer=FEWER,
        programs={
            OURS: microseconds(supervisors_lives.restart),
            TRIO: microseconds(trio_lives.restart),
            ASYNCIO: microseconds(asyncio_lives.restart),
            PYKKA: microseconds(pykka_lives.restart),
        },
    ),
    Bench(
        name="supervision.restart_logged",
        about="the same with our crashes logged, to a handler that writes nothing",
        unit="us",
        full=1_000,
        quick=60,
        fewer=FEWER,
        programs={
            OURS: microseconds(supervisors_lives.restart_logged),
            TRIO: microseconds(trio_lives.restart),
            ASYNCIO: microseconds(asyncio_lives.restart),
            PYKKA: microseconds(pykka_lives.restart),
        },
    ),
    Bench(
        name="supervision.idle_memory",
        about="Python memory of an idle actor (pykka's without its thread's stack)",
        unit="kB",
        full=1_000,
        quick=60,
        bound=MostOfAll(6),
        fewer=FEWER,
        programs={
            OURS: kilobytes_each(supervisors_lives.idle_memory),
            TRIO: kilobytes_each(trio_lives.idle_memory),
            ASYNCIO: kilobytes_each(asyncio_lives.idle_memory),
            PYKKA: kilobytes_each(pykka_lives.idle_memory),
        },
    ),
    Bench(
        name="supervision.ordered",
        about="start and stop 1,000 children one after the other, per child",
        unit="us",
        full=1_000,
        quick=50,
        fewer=FEWER,
        programs={
            OURS: microseconds_each(supervisors_lives.start_and_stop_in_order),
            TRIO: microseconds_each(trio_lives.start_and_stop_in_order),
            ASYNCIO: microseconds_each(asyncio_lives.start_and_stop_in_order),
            PYKKA: microseconds_each(pykka_lives.start_and_stop_in_order),
        },
    ),
    Bench(
        name="supervision.ordered_10x",
        about="start and stop 10,000 children one after the other, per child",
        unit="us",
        full=10_000,
        quick=500,
        fewer=MUCH_FEWER,
        programs={
            OURS: microseconds_each(supervisors_lives.start_and_stop_in_order),
            TRIO: microseconds_each(trio_lives.start_and_stop_in_order),
            ASYNCIO: microseconds_each(asyncio_lives.start_and_stop_in_order),
            PYKKA: microseconds_each(pykka_lives.start_and_stop_in_order),
        },
    ),
    Bench(
        name="supervision.ordered_growth",
        about="how many times longer 10,000 take than 1,000",
        unit="x",
        full=10_000,
        quick=500,
        bound=MostOfAll(13),
        programs={
            OURS: growth(supervisors_lives.start_and_stop_in_order),
            TRIO: growth(trio_lives.start_and_stop_in_order),
            ASYNCIO: growth(asyncio_lives.start_and_stop_in_order),
        },
    ),
    Bench(
        name="supervision.dynamic",
        about="start and stop 1,000 children all at once, per child",
        unit="us",
        full=1_000,
        quick=50,
        fewer=FEWER,
        programs={
            OURS: microseconds_each(supervisors_lives.start_and_stop_at_once),
            TRIO: microseconds_each(trio_lives.start_and_stop_at_once),
            ASYNCIO: microseconds_each(asyncio_lives.start_and_stop_at_once),
            PYKKA: microseconds_each(pykka_lives.start_and_stop_at_once),
        },
    ),
    Bench(
        name="supervision.dynamic_10x",
        about="start and stop 10,000 children all at once, per child",
        unit="us",
        full=10_000,
        quick=500,
        fewer=MUCH_FEWER,
        programs={
            OURS: microseconds_each(supervisors_lives.start_and_stop_at_once),
            TRIO: microseconds_each(trio_lives.start_and_stop_at_once),
            ASYNCIO: microseconds_each(asyncio_lives.start_and_stop_at_once),
            PYKKA: microseconds_each(pykka_lives.start_and_stop_at_once),
        },
    ),
    Bench(
        name="supervision.dynamic_growth",
        about="how many times longer 10,000 take than 1,000",
        unit="x",
        full=10_000,
        quick=500,
        bound=MostOfAll(13),
        programs={
            OURS: growth(supervisors_lives.start_and_stop_at_once),
            TRIO: growth(trio_lives.start_and_stop_at_once),
            ASYNCIO: growth(asyncio_lives.start_and_stop_at_once),
        },
    ),
]

if __name__ == "__main__":
    main(
        "bench.supervision",
        "What supervision costs, beside plain trio, asyncio and pykka.",
        BENCHES,
    )
