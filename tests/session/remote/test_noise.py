"""What is no message harms no message: it is told of, and the turn goes on."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from avatar_actors import DiagnosticEvent, Outcome, UnrecognisedEvent
from avatar_actors.session.remote.http import Events
from tests.runtime.home import all_of
from tests.session.remote.place import Place, play


async def test_nonsense_between_messages_is_told_of_and_passed_over(place: Place) -> None:
    async with place.avatar(path="noisy") as aria:
        async with aria.turn(play({"say": "in"}, {"say": " order"}, {"tool": "t"})) as turn:
            events = await all_of(turn)
        assert (turn.outcome, turn.text) == (Outcome.COMPLETED, "in order")
        assert (await aria.health()).restarts == 0
    told = [event for event in events if isinstance(event, DiagnosticEvent | UnrecognisedEvent)]
    # Each of the three updates has the same company, of which nothing is lost.
    assert len(told) >= 3 * 5


async def test_binary_frames_are_left_out_with_a_remark(place: Place) -> None:
    async with place.avatar(path="noisy") as aria, aria.events(DiagnosticEvent) as events:
        await aria.chat(play({"say": "x"}))
        await aria.stop()
        told = [event.message async for event in events if isinstance(event, DiagnosticEvent)]
    remark = "a binary frame of 2 bytes; left out"
    assert (remark in told) == (place.scheme == "ws")


async def test_a_message_over_the_limit_fails_alone(place: Place) -> None:
    steps = play({"say": "before"}, {"big": 200_000}, {"say": " after"})
    async with place.avatar(max_line=100_000) as aria, aria.events(DiagnosticEvent) as events:
        answer = await aria.chat(steps)
        assert (answer.outcome, answer.content) == (Outcome.COMPLETED, "before after")
        assert (await aria.health()).restarts == 0
        await aria.stop()
        told = [event.message async for event in events if isinstance(event, DiagnosticEvent)]
    assert any("over the limit" in message for message in told)


async def test_a_websocket_message_beyond_all_measure_ends_the_connection(place: Place) -> None:
    async with place.avatar(max_line=10_000) as aria:
        answer = await aria.chat(play({"big": 200_000}))
        expected = Outcome.CRASHED if place.scheme == "ws" else Outcome.COMPLETED
        assert answer.outcome is expected
        assert (await aria.chat(play({"say": "next"}))).content == "next"


STREAM = (
    b": hello\n\nevent: x\ndata: {1}\n\n: keepalive\n\ndata:two\r\ndata: lines\r\n\r\n"
    b"data: " + b"y" * 40 + b"\n\nid: 3\n\ndata: \xc3\xbc\n\n\ndata: unfinished"
)


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_any_slicing_of_a_stream_gives_the_same_events(cuts: list[int]) -> None:
    events, found = Events(limit=30), list[bytes]()
    marks = [0, *sorted(cuts), len(STREAM)]
    for start, end in itertools.pairwise(marks):
        found += events.feed(STREAM[start:end])
    assert found == [b"{1}", b"two\nlines", b"\xc3\xbc"]
    assert events.take_overlong() == 1
    assert events.take_overlong() == 0
