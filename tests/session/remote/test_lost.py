"""A connection that is lost: the turn ends at once, the way back is tried, nothing is pretended."""

import pytest
import trio

from avatar_actors import (
    AvatarDown,
    BridgeState,
    Continuity,
    ContinuityEvent,
    ErrorEvent,
    Outcome,
    Restarts,
    StateEvent,
    SupervisionEvent,
    TextEvent,
    ToolEvent,
    ToolStatus,
)
from tests.runtime.home import all_of, until
from tests.session.remote.conftest import sdk_server
from tests.session.remote.place import GO, TOKEN, WAIT, Place, play
from tests.session.remote.wireline import open_wireline

# Shorter than a ping of the defaults, longer than a busy machine takes.
AT_ONCE = 10
SOON = Restarts(max_restarts=100, first_delay=0.01, factor=1.0)


async def test_a_cut_ends_the_turn_at_once_with_what_was_said(place: Place) -> None:
    async with open_wireline(place.port) as line, place.avatar(line.port) as aria:
        async with aria.turn(play(GO, {"begin": "t"}, WAIT)) as turn:
            await until(turn, ToolEvent)
            await line.cut()
            with trio.fail_after(AT_ONCE):
                events = await all_of(turn)
        assert (turn.outcome, turn.text) == (Outcome.CRASHED, "go")
        assert f"the connection to {place.url(line.port)} was lost" in (turn.reason or "")
        assert turn.ended is not None
        assert len(turn.ended.unknown_tools) == 1
        tools = [event for event in events if isinstance(event, ToolEvent)]
        assert [tool.status for tool in tools] == [ToolStatus.UNKNOWN]


async def test_after_a_cut_the_session_is_resumed_and_said_to_be(place: Place) -> None:
    async with (
        open_wireline(place.port) as line,
        place.avatar(line.port) as aria,
        aria.events(ContinuityEvent) as continuity,
    ):
        before = await aria.chat(play({"say": "remember me"}))
        await line.cut()
        event = await until(continuity, ContinuityEvent)
        assert (event.continuity, event.session_id) == (Continuity.RESUMED, before.session_id)
        answer = await aria.chat(play({"history": True}))
        assert "remember me" in answer.content
        assert answer.session_id == before.session_id


async def test_a_session_that_cannot_be_resumed_is_said_to_be_fresh(place: Place) -> None:
    async with (
        open_wireline(place.port) as line,
        place.avatar(line.port, "forgetful") as aria,
        aria.events(ContinuityEvent) as continuity,
    ):
        await aria.chat(play({"say": "remember me"}))
        await line.cut()
        event = await until(continuity, ContinuityEvent)
        assert event.continuity is Continuity.FRESH
        assert "remember me" not in (await aria.chat(play({"history": True}))).content


async def test_what_the_sdks_server_forgets_is_not_called_resumed(place: Place) -> None:
    async with (
        open_wireline(place.port) as line,
        place.avatar(line.port, "plain") as aria,
        aria.events(ContinuityEvent) as continuity,
    ):
        await aria.chat(play({"say": "remember me"}))
        await line.cut()
        event = await until(continuity, ContinuityEvent)
        answer = await aria.chat(play({"history": True}))
        is_remembered = "remember me" in answer.content
        assert answer.outcome is Outcome.COMPLETED
        assert (event.continuity is Continuity.RESUMED) == is_remembered
        # Its HTTP side does not know the session again: see the agent.
        assert is_remembered == (place.scheme == "ws")
        assert ("HTTP 404" in event.why) == (place.scheme == "http")


async def test_a_peer_that_falls_silent_is_noticed_in_time(place: Place) -> None:
    options = {"dead_after": "3"}
    async with (
        open_wireline(place.port) as line,
        place.avatar(line.port, options=options, restarts=SOON) as aria,
    ):
        async with aria.turn(play({"tick": 0.2})) as turn:
            await until(turn, TextEvent)
            line.freeze()
            with trio.fail_after(3 + AT_ONCE):
                await turn.wait()
        assert turn.outcome is Outcome.CRASHED
        assert set(turn.text) == {"."}
        line.thaw()
        assert (await aria.chat(play({"say": "next"}))).content == "next"


async def test_a_quiet_connection_is_not_taken_for_a_dead_one(place: Place) -> None:
    # The SDK's server gives a sign of life every 15 seconds over HTTP; a WebSocket is asked.
    silence = {"ws": 2.0, "http": 20.0}[place.scheme]
    options = {"dead_after": f"{silence:g}"}
    async with place.avatar(options=options) as aria:
        await trio.sleep(1.2 * silence)
        assert (await aria.chat(play({"say": "still there"}))).content == "still there"
        assert (await aria.health()).restarts == 0


async def test_a_remote_that_is_away_is_tried_until_it_is_back(place: Place) -> None:
    async with (
        trio.open_nursery() as nursery,
        open_wireline(place.port) as line,
        place.avatar(line.port) as aria,
        aria.events(StateEvent, SupervisionEvent) as events,
    ):
        await aria.chat(play({"say": "remember me"}))
        line.hang_up()
        await line.cut()
        # More often than a process would be started again.
        for _ in range(7):
            await until(events, StateEvent, lambda e: e.new_state is BridgeState.WARMING_UP)
        assert not aria.is_down
        async with aria.turn(play({"history": True})) as turn:
            await nursery.start(line.listen)
            assert "remember me" in (await turn.wait()).content
        line.hang_up()


async def test_restarts_can_be_chosen_for_a_remote_too(place: Place) -> None:
    few = Restarts(max_restarts=2, first_delay=0.01, max_delay=0.01)
    async with (
        open_wireline(place.port) as line,
        place.avatar(line.port, restarts=few) as aria,
        aria.events(StateEvent) as states,
    ):
        line.hang_up()
        await line.cut()
        lives = [e async for e in states if isinstance(e, StateEvent)]
        with pytest.raises(AvatarDown, match="nothing listens"):
            await aria.wait()
        warm = [e for e in lives if e.new_state is BridgeState.WARMING_UP]
        assert len(warm) == 2


async def test_a_token_that_is_refused_on_the_way_back_ends_it_with_what_to_do(
    place: Place,
) -> None:
    with sdk_server(token="another") as elsewhere:
        async with (
            open_wireline(place.port) as line,
            place.avatar(line.port) as aria,
            aria.events(StateEvent, ErrorEvent) as events,
        ):
            line.lead_to(elsewhere)
            await line.cut()
            seen = [event async for event in events]
            with pytest.raises(AvatarDown, match=r"refused the login with HTTP 401\n.*token"):
                await aria.wait()
    last = [e for e in seen if isinstance(e, ErrorEvent)][-1]
    assert not last.recoverable
    assert "refused the login with HTTP 401" in last.error
    assert "valid token" in last.error
    assert TOKEN not in last.error
    states = [e.new_state for e in seen if isinstance(e, StateEvent)]
    assert states.count(BridgeState.WARMING_UP) == 1


async def test_the_stream_of_the_session_alone_is_enough_to_notice(place: Place) -> None:
    async with (
        open_wireline(place.port) as line,
        place.avatar(line.port) as aria,
        aria.turn(play(GO, WAIT)) as turn,
    ):
        await until(turn, TextEvent)
        await line.cut({"ws": rb"^GET", "http": rb"(?i)^GET(?s:.)*acp-session-id"}[place.scheme])
        with trio.fail_after(AT_ONCE):
            assert (await turn.wait()).outcome is Outcome.CRASHED


async def test_a_prompt_is_never_sent_twice(place: Place) -> None:
    async with open_wireline(place.port) as line, place.avatar(line.port) as aria:
        async with aria.turn(play(GO, WAIT)) as turn:
            await until(turn, TextEvent)
            await line.cut()
            assert (await turn.wait()).can_retry
        history = (await aria.chat(play({"history": True}))).content
        assert history.count("wait") == 1
