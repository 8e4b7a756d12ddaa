"""Lives of pykka's actors, each a thread. Nobody restarts one that crashed: its user does."""

import logging
from statistics import median
from time import perf_counter
from typing import Any

from pykka import ActorRef, ThreadingActor

from bench.contestants.memory import traced
from bench.contestants.rules import CRASH


class Child(ThreadingActor):
    """Waits for mail and does nothing with it."""

    use_daemon_thread = True

    def on_receive(self, message: int) -> int:
        return message


class OneMessage(ThreadingActor):
    """Ends at its first message."""

    use_daemon_thread = True

    def on_receive(self, message: int) -> None:
        self.stop()


class Fragile(ThreadingActor):
    """Answers, or crashes when told to."""

    use_daemon_thread = True

    def on_receive(self, message: int) -> int:
        if message == CRASH:
            raise ValueError("told to crash")
        return message


def create(n: int) -> float:
    """Actors, each a thread that runs when the next is made."""
    begin = perf_counter()
    children = [Child.start() for _ in range(n)]
    seconds = perf_counter() - begin
    stop(children)
    return seconds


def fork_join_create(n: int) -> float:
    """Create an actor, send it one message, which ends it; an operation is one such life."""
    begin = perf_counter()
    children: list[ActorRef[OneMessage]] = []
    for _ in range(n):
        child = OneMessage.start()
        child.tell(1)
        children.append(child)
    for child in children:
        child.actor_stopped.wait()
    return perf_counter() - begin


def restart(n: int) -> float:
    """From a crash to the answer of the next actor, nothing logged; the median of n in seconds."""
    times: list[float] = []
    logging.disable()
    child = Fragile.start()
    try:
        child.ask(1)
        for _ in range(n):
            begin = perf_counter()
            child.tell(CRASH)
            child.actor_stopped.wait()
            child = Fragile.start()
            child.ask(1)
            times.append(perf_counter() - begin)
    finally:
        child.stop()
        logging.disable(logging.NOTSET)
    return median(times)


def idle_memory(n: int) -> float:
    """The bytes that n idle actors hold, without the stacks of their threads."""
    with traced() as held:
        before = held()
        children = [Child.start() for _ in range(n)]
        for child in children:
            child.ask(1)
        in_use = held() - before
    stop(children)
    return in_use


def start_and_stop_in_order(n: int) -> float:
    """Each ready before the next; stopped in reverse, each waited for."""
    begin = perf_counter()
    children: list[ActorRef[Child]] = []
    for _ in range(n):
        child = Child.start()
        child.ask(1)
        children.append(child)
    for child in reversed(children):
        child.stop()
    return perf_counter() - begin


def start_and_stop_at_once(n: int) -> float:
    """All side by side, and all stopped at once."""
    begin = perf_counter()
    stop([Child.start() for _ in range(n)])
    return perf_counter() - begin


def stop(children: list[ActorRef[Any]]) -> None:
    """Tell all of them to stop, then wait for their ends."""
    for child in children:
        child.stop(block=False)
    for child in children:
        child.actor_stopped.wait()
