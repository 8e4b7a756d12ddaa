"""Messages between pykka's actors, each a thread: tell, ask, `on_receive`."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue
from time import perf_counter
from typing import Any, TypeAlias

from pykka import ActorRef, ThreadingActor

from bench.contestants.rules import CROWD, FAN, RING, SECONDS_TO_ANSWER, partners

# Blocks until an actor says that it is done: an Event for the one, a countdown for the many.
Done: TypeAlias = "SimpleQueue[None]"


class Counter(ThreadingActor):
    """Adds up numbers; asked with None, says how many."""

    use_daemon_thread = True

    def __init__(self) -> None:
        super().__init__()
        self._total = 0

    def on_receive(self, message: int | None) -> int:
        if message is not None:
            self._total += message
        return self._total


def counting(n: int) -> float:
    """One sender, one counter."""
    counter = Counter.start()
    with _stopped_at_the_end([counter]):
        begin = perf_counter()
        for _ in range(n):
            counter.tell(1)
        assert counter.ask(None) == n
        return perf_counter() - begin


class Member(ThreadingActor):
    """Passes a ball on to its neighbour, one less each time; done at zero."""

    use_daemon_thread = True

    def __init__(self, done: Done) -> None:
        super().__init__()
        self._done = done
        self._neighbour: ActorRef[Member] | None = None

    def on_receive(self, message: "int | ActorRef[Member]") -> None:
        if isinstance(message, ActorRef):
            self._neighbour = message
        elif not message:
            self._done.put(None)
        elif self._neighbour is not None:
            self._neighbour.tell(message - 1)


def ping_pong(n: int) -> float:
    """Two actors and one ball; an operation is there and back."""
    return _pass_round(members=2, hops=2 * n)


def thread_ring(n: int) -> float:
    """A token goes round; an operation is one hop."""
    return _pass_round(members=RING, hops=n)


def _pass_round(members: int, hops: int) -> float:
    done: Done = SimpleQueue()
    ring = [Member.start(done) for _ in range(members)]
    with _stopped_at_the_end(ring):
        for place, member in enumerate(ring):
            member.ask(ring[(place + 1) % members])
        begin = perf_counter()
        ring[0].tell(hops)
        done.get()
        return perf_counter() - begin


def ask(n: int) -> float:
    """A request and its answer."""
    counter = Counter.start()
    with _stopped_at_the_end([counter]):
        begin = perf_counter()
        for _ in range(n):
            counter.ask(1)
        seconds = perf_counter() - begin
        assert counter.ask(None) == n
        return seconds


def ask_with_deadline(n: int) -> float:
    """The same with a time to answer in."""
    counter = Counter.start()
    with _stopped_at_the_end([counter]):
        begin = perf_counter()
        for _ in range(n):
            counter.ask(1, timeout=SECONDS_TO_ANSWER)
        seconds = perf_counter() - begin
        assert counter.ask(None) == n
        return seconds


@dataclass(frozen=True, slots=True)
class Ping:
    sender: ActorRef[Any]


@dataclass(frozen=True, slots=True)
class Pong:
    pass


class Player(ThreadingActor):
    """One of the crowd."""

    use_daemon_thread = True

    def __init__(self, me: int, pings: int, crowd: "list[ActorRef[Player]]", done: Done) -> None:
        super().__init__()
        self._targets = partners(me, pings)
        self._crowd = crowd
        self._done = done

    def on_receive(self, message: Ping | Pong) -> None:
        if isinstance(message, Ping):
            message.sender.tell(Pong())
        elif self._targets:
            self._crowd[self._targets.pop()].tell(Ping(self.actor_ref))
        else:
            self._done.put(None)


def big(n: int) -> float:
    """A crowd that pings each other at random; an operation is a ping and its pong."""
    done: Done = SimpleQueue()
    crowd: list[ActorRef[Player]] = []
    crowd += [Player.start(me, n // CROWD, crowd, done) for me in range(CROWD)]
    with _stopped_at_the_end(crowd):
        begin = perf_counter()
        for player in crowd:
            player.tell(Pong())
        for _ in crowd:
            done.get()
        return perf_counter() - begin


class Producer(ThreadingActor):
    """Sends as many numbers as it is told."""

    use_daemon_thread = True

    def __init__(self, counter: ActorRef[Counter], done: Done) -> None:
        super().__init__()
        self._counter = counter
        self._done = done

    def on_receive(self, message: int) -> None:
        for _ in range(message):
            self._counter.tell(1)
        self._done.put(None)


def fan_in(n: int) -> float:
    """Several senders, one counter."""
    done: Done = SimpleQueue()
    counter = Counter.start()
    producers = [Producer.start(counter, done) for _ in range(FAN)]
    with _stopped_at_the_end([*producers, counter]):
        begin = perf_counter()
        for producer in producers:
            producer.tell(n // FAN)
        for _ in producers:
            done.get()
        assert counter.ask(None) == n
        return perf_counter() - begin


def fan_out(n: int) -> float:
    """One sender, several counters in turn."""
    counters = [Counter.start() for _ in range(FAN)]
    with _stopped_at_the_end(counters):
        begin = perf_counter()
        for _ in range(n // FAN):
            for counter in counters:
                counter.tell(1)
        totals = [int(counter.ask(None, block=True)) for counter in counters]
        assert sum(totals) == n
        return perf_counter() - begin


@contextmanager
def _stopped_at_the_end(actors: Sequence[ActorRef[Any]]) -> Generator[None, None, None]:
    # Not after an error: then it would first work off its mailbox, and the program ends anyway.
    yield
    for actor in actors:
        actor.stop()
