"""A subscriber's stream: lossless in text, ordered, bounded, and never in anybody's way."""

import time

import pytest
import trio
import trio.testing
from hypothesis import example, given, settings
from hypothesis import strategies as st

from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.events import (
    AvatarEvent,
    DiagnosticEvent,
    EventsLostEvent,
    PermissionEvent,
    TextEvent,
    ThinkingEvent,
    ToolEvent,
    TurnEndedEvent,
)

Batches = list[list[AvatarEvent]]

pieces = st.text("abc", max_size=3)
turns = st.integers(1, 2)
blocks = st.sampled_from("xy")
events: st.SearchStrategy[AvatarEvent] = st.one_of(
    st.builds(TextEvent, turn_id=turns, text=pieces),
    st.builds(ThinkingEvent, turn_id=turns, thought=pieces, block_id=blocks),
    st.builds(DiagnosticEvent, message=pieces),
    st.builds(TurnEndedEvent, turn_id=turns),
)
batches = st.lists(st.lists(events, max_size=6), max_size=30)


async def read_slowly(written: Batches, reads: list[int], capacity: int) -> list[AvatarEvent]:
    """Writes batch after batch; in between the reader takes only so many events."""
    stream, seen = EventStream(capacity=capacity), list[AvatarEvent]()
    for number, batch in enumerate(written):
        stream.push(batch)
        for _ in range(reads[number % len(reads)]):
            with trio.move_on_after(0):
                seen.append(await anext(stream))
    stream.close()
    seen += [event async for event in stream]
    return seen


def text_of(seen: list[AvatarEvent], turn: int) -> str:
    return "".join(e.text for e in seen if isinstance(e, TextEvent) and e.turn_id == turn)


def thought_of(seen: list[AvatarEvent], turn: int, block: str) -> str:
    thoughts = [e for e in seen if isinstance(e, ThinkingEvent)]
    return "".join(e.thought for e in thoughts if (e.turn_id, e.block_id) == (turn, block))


@settings(deadline=None)
@given(batches, st.lists(st.integers(0, 4), min_size=1, max_size=5), st.integers(1, 12))
def test_no_text_is_lost_under_any_slow_reader(
    written: Batches, reads: list[int], capacity: int
) -> None:
    seen = trio.run(read_slowly, written, reads, capacity)
    told = [event for batch in written for event in batch]
    for turn in (1, 2):
        assert text_of(seen, turn) == text_of(told, turn)


@settings(deadline=None)
@given(batches, st.lists(st.integers(0, 4), min_size=1, max_size=5), st.integers(1, 12))
def test_ends_are_never_lost_and_what_is_lost_is_counted(
    written: Batches, reads: list[int], capacity: int
) -> None:
    seen = trio.run(read_slowly, written, reads, capacity)
    told = [event for batch in written for event in batch]
    ends = [[e for e in each if isinstance(e, TurnEndedEvent)] for each in (seen, told)]
    assert ends[0] == ends[1]
    notes = [[e for e in each if isinstance(e, DiagnosticEvent)] for each in (seen, told)]
    lost = sum(e.count for e in seen if isinstance(e, EventsLostEvent))
    assert len(notes[0]) + lost >= len(notes[1])
    rest = iter(notes[1])
    assert all(note in rest for note in notes[0]), "out of order"


@settings(deadline=None)
@given(batches, st.integers(1, 40))
# A batch of exactly the capacity: its two pieces of one text stay two.
@example([[TextEvent(turn_id=1, text="a"), TextEvent(turn_id=1, text="b")]], 2)
def test_a_reader_that_keeps_up_sees_every_event_as_it_was(written: Batches, capacity: int) -> None:
    fitting = [batch[:capacity] for batch in written]
    seen = trio.run(read_slowly, fitting, [capacity + 1], capacity)
    assert seen == [event for batch in fitting for event in batch]


async def test_a_text_ends_before_its_turn_does() -> None:
    stream = EventStream(capacity=2)
    for turn in range(20):
        stream.push([TextEvent(turn_id=turn, text=letter) for letter in "abc"])
        stream.push([TurnEndedEvent(turn_id=turn)])
    stream.close()
    seen = [event async for event in stream]
    for turn in range(20):
        mine = [event for event in seen if event.turn_id == turn]
        assert isinstance(mine[-1], TurnEndedEvent)
        assert text_of(mine, turn) == "abc"


async def test_an_event_that_is_told_twice_is_read_twice() -> None:
    stream, piece = EventStream(capacity=2), TextEvent(text="x")
    stream.push([piece, piece, DiagnosticEvent(message="m"), piece, piece, TurnEndedEvent()])
    stream.close()
    seen = [event async for event in stream]
    assert text_of(seen, 0) == "xxxx"


async def test_a_million_unread_pieces_are_one_event() -> None:
    stream = EventStream(capacity=10)
    piece = TextEvent(text="x")
    for _ in range(1000):
        stream.push([piece] * 1000)
    stream.close()
    seen = [event async for event in stream]
    assert len(seen) <= 10
    assert len(text_of(seen, 0)) == 1_000_000


def test_events_up_to_the_capacity_are_all_kept_and_both_counters_are_exact() -> None:
    stream = EventStream(capacity=4)
    pieces = [TextEvent(text="a"), TextEvent(text="b")]
    notes = [DiagnosticEvent(message=str(number)) for number in range(3)]
    stream.push([*pieces, *notes])
    assert (stream.merged, stream.lost) == (1, 0)
    assert stream.take_nowait() == [TextEvent(text="ab"), *notes]


def test_one_event_over_the_capacity_is_lost_and_told() -> None:
    stream = EventStream(capacity=4)
    stream.push([DiagnosticEvent(message=str(number)) for number in range(5)])
    lost, *kept = stream.take_nowait()
    assert isinstance(lost, EventsLostEvent)
    assert (lost.count + len(kept), stream.lost, stream.merged) == (5, lost.count, 0)


@pytest.mark.parametrize("capacity", [0, -1])
def test_a_stream_without_room_is_refused(capacity: int) -> None:
    with pytest.raises(SettingsError, match="capacity must be a whole number, at least 1"):
        EventStream(capacity=capacity)


UNMERGEABLE: list[tuple[AvatarEvent, AvatarEvent]] = [
    (TextEvent(text="a"), ThinkingEvent(thought="b", block_id="x")),
    (TextEvent(text="a", turn_id=1), TextEvent(text="b", turn_id=2)),
    (TextEvent(text="a"), ToolEvent(tool_id="t")),
    (PermissionEvent(request_id="1"), DiagnosticEvent(message="m")),
]


@pytest.mark.parametrize(("one", "other"), UNMERGEABLE)
async def test_an_unread_stream_costs_its_writer_little(
    one: AvatarEvent, other: AvatarEvent
) -> None:
    stream = EventStream(capacity=1024)
    began = time.process_time()
    for _ in range(10_000):
        stream.push([one])
        stream.push([other])
    # 0.1 s on a quiet machine; quadratic work took minutes.
    assert time.process_time() - began < 10


async def test_memory_is_bounded_by_the_text_when_thoughts_stand_between() -> None:
    stream = EventStream(capacity=16)
    for _ in range(2000):
        stream.push([TextEvent(text="a"), ThinkingEvent(thought="b", block_id="x")])
    stream.close()
    seen = [event async for event in stream]
    assert text_of(seen, 0) == "a" * 2000
    assert len(seen) <= 64


async def test_kinds_are_chosen_with_their_children() -> None:
    stream = EventStream(kinds=(TextEvent,))
    stream.push([TextEvent(text="a"), DiagnosticEvent(message="m")])
    all_kinds = EventStream(kinds=(AvatarEvent,))
    all_kinds.push([TextEvent(text="a"), DiagnosticEvent(message="m")])
    for each in (stream, all_kinds):
        each.close()
    assert [event async for event in stream] == [TextEvent(text="a")]
    assert len([event async for event in all_kinds]) == 2


async def test_a_waiting_reader_wakes_for_news_and_for_the_end() -> None:
    stream, seen = EventStream(kinds=(TextEvent,)), list[AvatarEvent]()

    async def read() -> None:
        async for event in stream:
            seen.append(event)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        await trio.testing.wait_all_tasks_blocked()
        stream.push([DiagnosticEvent(message="not for you")])
        await trio.testing.wait_all_tasks_blocked()
        assert seen == []
        stream.push([TextEvent(text="a")])
        await trio.testing.wait_all_tasks_blocked()
        assert seen == [TextEvent(text="a")]
        stream.close()


async def test_a_reader_lets_others_run() -> None:
    stream, others = EventStream(capacity=100_000), list[int]()
    stream.push([TextEvent(text="x")] * 50_000)

    async def other() -> None:
        while True:
            others.append(1)
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(other)
        for _ in range(50_000):
            await anext(stream)
        nursery.cancel_scope.cancel()
    assert len(others) >= 20


async def test_the_texts_of_two_avatars_are_not_mixed() -> None:
    stream = EventStream(capacity=2)
    for _ in range(10):
        for name in ("aria", "bert"):
            stream.push([TextEvent(avatar=name, turn_id=1, text=name[0])])
            stream.push([ThinkingEvent(avatar=name, turn_id=1, thought=name[0])])
    stream.close()
    said = {"aria": "", "bert": ""}
    async for event in stream:
        if isinstance(event, TextEvent):
            said[event.avatar] += event.text
        elif isinstance(event, ThinkingEvent):
            assert set(event.thought) == {event.avatar[0]}
    assert said == {"aria": "a" * 10, "bert": "b" * 10}


async def test_what_was_merged_is_counted() -> None:
    stream = EventStream(capacity=4)
    for _ in range(100):
        stream.push([TextEvent(turn_id=1, text="x")])
    left = stream.take_nowait()
    assert (stream.merged, stream.lost) == (100 - len(left), 0)
    assert "".join(event.text for event in left if isinstance(event, TextEvent)) == "x" * 100
    assert stream.take_nowait() == []


async def test_kinds_are_asked_for_with_their_children() -> None:
    stream = EventStream(kinds=(AvatarEvent,))
    stream.push([TextEvent(text="a"), DiagnosticEvent()])
    assert len(stream.take_nowait()) == 2
    stream = EventStream(kinds=(ThinkingEvent, DiagnosticEvent))
    stream.push([TextEvent(text="a"), DiagnosticEvent(), TextEvent(text="b")])
    assert [type(event) for event in stream.take_nowait()] == [DiagnosticEvent]


async def test_a_second_reader_is_refused_and_the_first_one_goes_on() -> None:
    stream, seen = EventStream(), list[AvatarEvent]()

    async def read() -> None:
        seen.append(await anext(stream))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(trio.BusyResourceError):
            await anext(stream)
        stream.push([TextEvent(text="a")])
    assert [type(event) for event in seen] == [TextEvent]
