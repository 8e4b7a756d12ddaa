"""The messaging benches of the Savina suite, and ask: `python -m bench.savina`."""

from collections.abc import Callable, Mapping

from bench.command import main
from bench.contest import ASYNCIO, OURS, PYKKA, TRIO, Bench, MostOfTrio, Program, microseconds_each
from bench.contestants import (
    asyncio_lives,
    asyncio_messages,
    pykka_lives,
    pykka_messages,
    supervisors_lives,
    supervisors_messages,
    trio_lives,
    trio_messages,
)

FEWER = {PYKKA: 10}


def _each(
    ours: Callable[[int], float],
    on_trio: Callable[[int], float],
    on_asyncio: Callable[[int], float],
    on_pykka: Callable[[int], float],
) -> Mapping[str, Program]:
    return {
        OURS: microseconds_each(ours),
        TRIO: microseconds_each(on_trio),
        ASYNCIO: microseconds_each(on_asyncio),
        PYKKA: microseconds_each(on_pykka),
    }


BENCHES = [
    Bench(
        name="savina.ping_pong",
        about="two actors and one ball, there and back",
        unit="us",
        full=12_800,
        quick=640,
        bound=MostOfTrio(1.1),
        fewer=FEWER,
        programs=_each(
            supervisors_messages.ping_pong,
            trio_messages.ping_pong,
            asyncio_messages.ping_pong,
            pykka_messages.ping_pong,
        ),
    ),
    Bench(
        name="savina.counting",
        about="one sender, one counter",
        unit="us",
        full=64_000,
        quick=1_920,
        bound=MostOfTrio(0.2),
        fewer=FEWER,
        programs=_each(
            supervisors_messages.counting,
            trio_messages.counting,
            asyncio_messages.counting,
            pykka_messages.counting,
        ),
    ),
    Bench(
        name="savina.thread_ring",
        about="a token goes round a hundred actors, one hop",
        unit="us",
        full=25_600,
        quick=640,
        fewer=FEWER,
        programs=_each(
            supervisors_messages.thread_ring,
            trio_messages.thread_ring,
            asyncio_messages.thread_ring,
            pykka_messages.thread_ring,
        ),
    ),
    Bench(
        name="savina.fork_join_create",
        about="create an actor, send it one message, which ends it",
        unit="us",
        full=3_200,
        quick=160,
        fewer=FEWER,
        programs=_each(
            supervisors_lives.fork_join_create,
            trio_lives.fork_join_create,
            asyncio_lives.fork_join_create,
            pykka_lives.fork_join_create,
        ),
    ),
    Bench(
        name="savina.big",
        about="64 actors ping each other at random, a ping and its pong",
        unit="us",
        full=25_600,
        quick=640,
        fewer=FEWER,
        programs=_each(
            supervisors_messages.big,
            trio_messages.big,
            asyncio_messages.big,
            pykka_messages.big,
        ),
    ),
    Bench(
        name="savina.fan_in",
        about="eight senders, one counter",
        unit="us",
        full=64_000,
        quick=1_920,
        bound=MostOfTrio(0.3),
        fewer=FEWER,
        programs=_each(
            supervisors_messages.fan_in,
            trio_messages.fan_in,
            asyncio_messages.fan_in,
            pykka_messages.fan_in,
        ),
    ),
    Bench(
        name="savina.fan_out",
        about="one sender, eight counters in turn",
        unit="us",
        full=64_000,
        quick=1_920,
        bound=MostOfTrio(0.3),
        fewer=FEWER,
        programs=_each(
            supervisors_messages.fan_out,
            trio_messages.fan_out,
            asyncio_messages.fan_out,
            pykka_messages.fan_out,
        ),
    ),
    Bench(
        name="savina.ask",
        about="ask and answer, against a plain request and reply",
        unit="us",
        full=12_800,
        quick=640,
        bound=MostOfTrio(1.3),
        fewer=FEWER,
        programs=_each(
            supervisors_messages.ask,
            trio_messages.request_reply,
            asyncio_messages.request_reply,
            pykka_messages.ask,
        ),
    ),
    Bench(
        name="savina.ask_deadline",
        about="the same with a deadline, which trio's and asyncio's side does without",
        unit="us",
        full=12_800,
        quick=640,
        bound=MostOfTrio(2.2),
        fewer=FEWER,
        programs=_each(
            supervisors_messages.ask_with_deadline,
            trio_messages.request_reply,
            asyncio_messages.request_reply,
            pykka_messages.ask_with_deadline,
        ),
    ),
]

if __name__ == "__main__":
    main("bench.savina", "What a message costs, beside plain trio, asyncio and pykka.", BENCHES)
