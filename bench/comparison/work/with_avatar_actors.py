"""This product: one runtime, an avatar for each agent."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

import trio

from avatar_actors import (
    Avatar,
    Outcome,
    Runtime,
    TextEvent,
    TurnEndedEvent,
    open_runtime,
)
from bench.comparison.work.interface import Came, Client, NotCompleted, Ready, Setting
from bench.comparison.work.playbook import main

T = TypeVar("T")
# Room for every piece of text: nothing is merged.
ROOM = 1_000_000


class OneAvatar:
    def __init__(self, avatar: Avatar) -> None:
        self._avatar = avatar

    async def call(self, prompt: str) -> str:
        return (await self._avatar.chat(prompt)).content

    async def stream(self, prompt: str) -> AsyncGenerator[str]:
        async with self._avatar.turn(prompt) as turn:
            async for event in turn:
                if isinstance(event, TextEvent) and event.text:
                    yield event.text
        assert turn.outcome is not None
        if turn.outcome is not Outcome.COMPLETED:
            raise NotCompleted(turn.outcome.value)

    async def count(self, prompt: str) -> Came:
        came = Came()
        async with (
            self._avatar.events(TextEvent, TurnEndedEvent, capacity=ROOM) as events,
            trio.open_nursery() as nursery,
        ):
            nursery.start_soon(partial(self._avatar.chat, prompt))
            async for event in events:
                if isinstance(event, TextEvent):
                    if event.text:
                        came.add(event.text)
                else:
                    break
        return came


class Avatars:
    """A runtime in a task of its own, so that it can be closed while another task has a turn."""

    def __init__(self, loop: "OnTrio", setting: Setting) -> None:
        self._loop = loop
        self._setting = setting
        self._closing, self._closed = trio.Event(), trio.Event()
        self._runtime: Runtime | None = None

    async def open(self) -> Client:
        runtime = self._runtime or await self._start_runtime()
        avatar = await runtime.start(
            self._setting.wire,
            executable=self._setting.launcher,
            env=self._setting.environment,
            working_dir=self._setting.home,
        )
        return OneAvatar(avatar)

    async def _start_runtime(self) -> Runtime:
        runtime: Runtime = await self._loop.nursery.start(self._host)
        self._runtime = runtime
        return runtime

    async def apart(self, count: int) -> Sequence[Client]:
        return ()

    async def close(self) -> None:
        if self._runtime is not None:
            self._closing.set()
            await self._closed.wait()

    async def _host(self, task_status: "trio.TaskStatus[Runtime]") -> None:
        async with open_runtime() as runtime:
            task_status.started(runtime)
            await self._closing.wait()
        self._closed.set()


class OnTrio:
    nursery: trio.Nursery

    def run(self, main: Callable[[], Awaitable[None]]) -> None:
        async def whole() -> None:
            async with trio.open_nursery() as self.nursery:
                await main()

        trio.run(whole)

    async def within(self, seconds: float, work: Callable[[], Awaitable[T]]) -> T:
        try:
            with trio.fail_after(seconds):
                return await work()
        except trio.TooSlowError:
            raise TimeoutError from None

    async def together(self, works: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
        given: dict[int, T] = {}

        async def one(number: int) -> None:
            given[number] = await works[number]()

        async with trio.open_nursery() as nursery:
            for number in range(len(works)):
                nursery.start_soon(one, number)
        return [given[number] for number in range(len(works))]

    async def beside(
        self, work: Callable[[Ready], Awaitable[None]], then: Callable[[], Awaitable[None]]
    ) -> None:
        ready = trio.Event()

        async def until_cancelled() -> None:
            with suppress(NotCompleted):
                await work(ready.set)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(until_cancelled)
            await ready.wait()
            await then()
            nursery.cancel_scope.cancel()


if __name__ == "__main__":
    logging.getLogger().addHandler(logging.NullHandler())
    on_trio = OnTrio()
    main(partial(Avatars, on_trio), on_trio)
