"""The event hub, alone."""

from functools import partial

from avatar_actors.avatar.activity_tracker import event_hub
from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.messages import Follow, HubMessage, SlowReaders, Subscribe, Unsubscribe
from avatar_actors.model.events import AvatarEvent, DiagnosticEvent, TextEvent, TurnEndedEvent
from avatar_actors.session.messages import Publish
from supervisors import Address
from tests.avatar.stage import Ear, Stage, open_stage


async def play_hub(stage: Stage) -> Address[HubMessage]:
    return await stage.play("hub", partial(event_hub, provider="p", avatar="aria"))


async def drain(stream: EventStream, count: int) -> list[AvatarEvent]:
    return [await anext(stream) for _ in range(count)]


async def test_events_are_numbered_without_a_gap_and_stamped() -> None:
    async with open_stage() as stage:
        hub, stream = await play_hub(stage), EventStream()
        await hub.ask(Subscribe(stream))
        await hub.tell(Publish(1, [TextEvent(text="a"), DiagnosticEvent(message="m")]))
        await hub.tell(Publish(0, [TextEvent(text="b")]))
        seen = await drain(stream, 3)
        assert [(e.seq, e.turn_id) for e in seen] == [(1, 1), (2, 1), (3, 0)]
        assert {(e.provider, e.avatar) for e in seen} == {("p", "aria")}
        assert all(e.timestamp > 1e9 for e in seen)


async def test_numbers_go_on_while_nobody_listens() -> None:
    async with open_stage() as stage:
        hub, stream = await play_hub(stage), EventStream()
        await hub.tell(Publish(1, [TextEvent(text="unheard")] * 5))
        await hub.ask(Subscribe(stream))
        await hub.tell(Publish(1, [TextEvent(text="a")]))
        assert (await anext(stream)).seq == 6


async def test_a_stream_of_one_turn_gets_that_turn_alone() -> None:
    async with open_stage() as stage:
        hub, mine = await play_hub(stage), EventStream(turn_id=2)
        await hub.ask(Subscribe(mine))
        for turn in (1, 2, 0, 3):
            await hub.tell(Publish(turn, [TurnEndedEvent()]))
        await hub.tell(Unsubscribe(mine))
        assert [event.turn_id async for event in mine] == [2]


async def test_the_end_of_the_hub_is_the_end_of_its_streams() -> None:
    stream = EventStream()
    async with open_stage() as stage:
        hub = await play_hub(stage)
        await hub.ask(Subscribe(stream))
        await hub.tell(Publish(1, [TextEvent(text="last words")]))
        await stage.rest()
    assert [event.turn_id async for event in stream] == [1]


async def test_who_leaves_twice_or_never_came_harms_nobody() -> None:
    async with open_stage() as stage:
        hub, stays, goes = await play_hub(stage), EventStream(), EventStream()
        await hub.ask(Subscribe(stays))
        for _ in "twice":
            await hub.tell(Unsubscribe(goes))
        await hub.tell(Publish(1, [TextEvent(text="a")]))
        assert isinstance(await anext(stays), TextEvent)


async def test_a_stream_of_all_avatars_outlives_one_hub() -> None:
    shared, own = EventStream(), EventStream()
    async with open_stage() as stage:
        hub = await play_hub(stage)
        await hub.tell(Follow(shared))
        await hub.ask(Subscribe(own))
        await hub.tell(Publish(1, [TextEvent(text="a")]))
        await stage.rest()
    assert (shared.is_closed, own.is_closed) == (False, True)
    assert isinstance(await anext(shared), TextEvent)


async def test_who_follows_no_longer_gets_no_more() -> None:
    async with open_stage() as stage:
        hub, shared = await play_hub(stage), EventStream()
        await hub.tell(Follow(shared))
        await hub.tell(Unsubscribe(shared))
        await hub.tell(Publish(1, [TextEvent(text="a")]))
        assert [event async for event in shared] == []


async def test_a_watcher_hears_of_every_subscriber_that_is_too_slow() -> None:
    ear = Ear[SlowReaders]()
    async with open_stage() as stage:
        hub, slow = await play_hub(stage), EventStream(capacity=2)
        await hub.tell(Follow(EventStream(), await stage.play("ear", ear)))
        await hub.ask(Subscribe(slow))
        for _ in range(10):
            await hub.tell(Publish(1, [TextEvent(text="a")]))
        for _ in "twice":  # the second loss counts by itself
            await hub.tell(Publish(1, [DiagnosticEvent(message=str(n)) for n in range(10)]))
        await stage.rest()
        assert {each.provider for each in ear.heard} == {"p"}
        assert sum(each.merged for each in ear.heard) == slow.merged > 0
        assert sum(each.dropped for each in ear.heard) == slow.lost > 0
