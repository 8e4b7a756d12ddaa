"""One stream of all avatars of a runtime: those that are there, and those that come."""

from typing import Any

import pytest
import trio

from avatar_actors import (
    AvatarDown,
    AvatarEvent,
    OrphansReapedEvent,
    QueueEvent,
    Runtime,
    StateEvent,
    SupervisionEvent,
    TextEvent,
    TurnEndedEvent,
    TurnStartedEvent,
)
from supervisors import Address, Phase
from supervisors.testing import crash
from tests.processes.census import eventually
from tests.runtime.home import Home, script, until

SAY = script({"say": "hello"})


def part(runtime: Runtime, name: str) -> Address[Any]:
    [address] = [node.address for node in runtime.tree().walk() if node.name == name]
    return address


async def test_avatars_present_and_future_come_in_one_stream(home: Home) -> None:
    async with home.runtime() as runtime:
        aria = await runtime.start("embedded", "aria", **home.options())
        async with runtime.events(TurnEndedEvent) as turns:
            bert = await runtime.start("embedded", "bert", **home.options())
            await aria.chat(SAY)
            await bert.chat(SAY)
            assert [(await anext(turns)).avatar for _ in range(2)] == ["aria", "bert"]


async def test_of_an_avatar_that_starts_later_nothing_is_missed(home: Home) -> None:
    async with home.runtime() as runtime, runtime.events() as stream:
        await runtime.start("embedded", "aria", **home.options())
        first = await anext(stream)
        assert (first.avatar, first.seq) == ("aria", 1)


async def test_the_end_of_an_avatar_does_not_end_the_stream(home: Home) -> None:
    async with home.runtime() as runtime, runtime.events(TurnStartedEvent) as turns:
        for _ in range(3):
            aria = await runtime.start("embedded", "aria", **home.options())
            await aria.chat(SAY)
            await aria.stop()
            assert (await anext(turns)).avatar == "aria"
        assert not turns.is_closed


async def test_the_end_of_the_runtime_ends_it_after_the_last_words_of_the_avatars(
    home: Home,
) -> None:
    seen: list[AvatarEvent] = []

    async def read(runtime: Runtime, *, task_status: trio.TaskStatus[None]) -> None:
        async with runtime.events(StateEvent) as stream:
            task_status.started()
            seen.extend([event async for event in stream])

    async with trio.open_nursery() as nursery, home.runtime() as runtime:
        await nursery.start(read, runtime)
        await runtime.start("embedded", "aria", **home.options())
    states = [event.new_state.value for event in seen if isinstance(event, StateEvent)]
    assert states == ["warming_up", "ready", "disconnected"]
    with pytest.raises(AvatarDown, match="the runtime has ended"):
        async with runtime.events():
            pass


async def test_who_leaves_gets_no_more_and_harms_nobody(home: Home) -> None:
    async with home.runtime() as runtime:
        aria = await runtime.start("embedded", "aria", **home.options())
        async with runtime.events(TextEvent) as stays:
            async with runtime.events(TextEvent) as goes:
                pass
            await aria.chat(SAY)
            assert isinstance(await anext(stays), TextEvent)
            assert [event async for event in goes] == []


async def test_an_event_router_that_crashed_finds_the_avatars_again(home: Home) -> None:
    async with home.runtime() as runtime:
        aria = await runtime.start("embedded", "aria", **home.options())
        async with runtime.events() as before:
            router = part(runtime, "event router")
            await crash(router)
            async for _ in before:
                pass
            assert before.is_closed
        await eventually(lambda: router.phase is Phase.RUNNING)
        async with runtime.events() as stream:
            await home.kill(aria)
            restarting = await until(
                stream, SupervisionEvent, lambda event: event.notice == "restarting"
            )
            assert restarting.avatar == "aria"


async def test_prompts_that_wait_are_counted(home: Home) -> None:
    async with (
        home.avatar() as aria,
        aria.events(QueueEvent) as events,
        aria.turn(script({"say": "go"}, {"wait": 60})) as first,
    ):
        await until(first, TextEvent)
        async with aria.turn(SAY), aria.turn(SAY) as third:
            for waiting in (1, 2):
                assert (await until(events, QueueEvent)).waiting == waiting
            await third.interrupt()
            assert (await until(events, QueueEvent)).waiting == 1
            await first.interrupt()
            assert (await until(events, QueueEvent)).waiting == 0


async def test_a_turn_that_need_not_wait_is_no_news_of_the_queue(home: Home) -> None:
    async with home.avatar() as aria, aria.events(QueueEvent) as events:
        for _ in range(2):
            await aria.chat(SAY)
        assert events.take_nowait() == []


async def test_processes_that_an_agent_left_behind_are_told(home: Home) -> None:
    async with home.runtime() as runtime, runtime.events(OrphansReapedEvent) as events:
        aria = await runtime.start("embedded", "aria", **home.options())
        await aria.chat(script({"spawn": "setsid"}, {"spawn": "stubborn"}, {"say": "done"}))
        await home.kill(aria)
        assert (await until(events, OrphansReapedEvent)).count == 2


async def test_an_agent_that_leaves_nobody_behind_is_no_news(home: Home) -> None:
    async with home.runtime() as runtime, runtime.events(OrphansReapedEvent) as events:
        aria = await runtime.start("embedded", "aria", **home.options())
        await aria.chat(SAY)
        await aria.stop()
        assert events.take_nowait() == []
