"""The fan-out of events: numbers, stamps, and which stream gets what."""

from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.messages import Follow
from avatar_actors.avatar.state.event_fanout import EventFanout
from avatar_actors.model.events import DiagnosticEvent, TextEvent, TurnEndedEvent


def listening(*streams: EventStream) -> EventFanout:
    fanout = EventFanout("p", "aria")
    for stream in streams:
        fanout.subscribe(stream)
    return fanout


def test_events_are_numbered_without_a_gap_and_stamped() -> None:
    stream = EventStream()
    fanout = listening(stream)
    fanout.publish(1, [TextEvent(text="a"), DiagnosticEvent(message="m")])
    fanout.publish(0, [TextEvent(text="b")])
    seen = stream.take_nowait()
    assert [(e.seq, e.turn_id) for e in seen] == [(1, 1), (2, 1), (3, 0)]
    assert {(e.provider, e.avatar) for e in seen} == {("p", "aria")}
    assert all(e.timestamp > 1e9 for e in seen)


def test_numbers_go_on_while_nobody_listens() -> None:
    stream, fanout = EventStream(), listening()
    fanout.publish(1, [TextEvent(text="unheard")] * 5)
    fanout.subscribe(stream)
    fanout.publish(1, [TextEvent(text="a")])
    assert [event.seq for event in stream.take_nowait()] == [6]


def test_a_stream_of_one_turn_gets_that_turn_alone() -> None:
    mine = EventStream(turn_id=2)
    fanout = listening(mine)
    for turn in (1, 2, 0, 3):
        fanout.publish(turn, [TurnEndedEvent()])
    assert [event.turn_id for event in mine.take_nowait()] == [2]


def test_removing_a_stream_twice_or_one_that_never_came_harms_nobody() -> None:
    stays, goes = EventStream(), EventStream()
    fanout = listening(stays)
    fanout.remove(goes)
    fanout.remove(goes)
    fanout.publish(1, [TextEvent(text="a")])
    assert len(stays.take_nowait()) == 1
    assert goes.is_closed


def test_a_stream_that_follows_no_longer_gets_no_more() -> None:
    shared, fanout = EventStream(), listening()
    fanout.follow(Follow(shared))
    fanout.remove(shared)
    fanout.publish(1, [TextEvent(text="a")])
    assert shared.take_nowait() == []


def test_what_slow_readers_lost_is_told_each_time() -> None:
    slow = EventStream(capacity=2)
    fanout = listening(slow)
    lost = [fanout.publish(1, [TextEvent(text="a")]) for _ in range(10)]
    for _ in "twice":  # the second loss counts by itself
        lost.append(fanout.publish(1, [DiagnosticEvent(message=str(n)) for n in range(10)]))
    told = [each for each in lost if each is not None]
    assert {each.provider for each in told} == {"p"}
    assert sum(each.merged for each in told) == slow.merged > 0
    assert sum(each.dropped for each in told) == slow.lost > 0
