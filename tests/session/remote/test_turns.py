"""A turn with an agent that runs elsewhere, made with the SDK, is a turn like any other."""

import trio

from avatar_actors import (
    CancelResult,
    Escalation,
    Outcome,
    PermissionEvent,
    Permit,
    TextEvent,
    ThinkingEvent,
    ToolEvent,
    ToolStatus,
)
from supervisors.testing import freeze
from tests.runtime.home import all_of, until
from tests.session.remote.place import GO, TOKEN, WAIT, Place, play
from tests.session.remote.wireline import open_wireline
from tests.thorough import for_conformance


async def test_text_thoughts_and_tools_come_as_events(place: Place) -> None:
    steps = play({"think": "hm"}, {"say": "hello"}, {"tool": "t"})
    async with place.avatar() as aria, aria.turn(steps) as turn:
        events = await all_of(turn)
    assert (turn.outcome, turn.text) == (Outcome.COMPLETED, "hello")
    assert "hm" in [event.thought for event in events if isinstance(event, ThinkingEvent)]
    tools = [event for event in events if isinstance(event, ToolEvent)]
    assert [tool.status for tool in tools] == [ToolStatus.STARTED, ToolStatus.COMPLETED]


async def test_a_permission_is_asked_and_the_answer_arrives(place: Place) -> None:
    async with place.avatar() as aria, aria.turn(play({"ask": "t"})) as turn:
        asked = await until(turn, PermissionEvent)
        await aria.answer(asked.request_id, Permit.ALLOW_ONCE)
        assert (await turn.wait()).content == "selected yes"


async def test_an_interrupt_cancels_the_turn_by_the_protocol(place: Place) -> None:
    async with place.avatar() as aria:
        async with aria.turn(play(GO, WAIT)) as turn:
            await until(turn, TextEvent)
            assert await turn.interrupt()
            answer = await turn.wait()
        assert (answer.outcome, answer.content) == (Outcome.CANCELLED, "go")
        assert (await aria.chat(play({"say": "next"}))).content == "next"
        assert (await aria.health()).restarts == 0


async def test_a_cancelled_turn_withdraws_its_question(place: Place) -> None:
    async with place.avatar() as aria:
        async with aria.turn(play({"ask": "t"})) as turn:
            await until(turn, PermissionEvent)
            await turn.interrupt()
        assert turn.outcome is Outcome.CANCELLED
        assert (await aria.chat(play({"say": "next"}))).content == "next"


async def test_a_thousand_chunks_come_in_order(place: Place) -> None:
    async with place.avatar() as aria:
        answer = await aria.chat(play({"chunks": 1000}))
    assert answer.content == "".join(f"{number} " for number in range(1000))


async def test_a_message_of_many_megabytes_arrives_whole(place: Place) -> None:
    size = 8 * 1024 * 1024
    async with place.avatar() as aria:
        answer = await aria.chat(play({"big": size}))
        assert answer.content == "x" * size
        prompt = play({"say": "y" * size})
        assert (await aria.chat(prompt)).content == "y" * size


async def test_what_is_not_ascii_arrives_as_it_was_sent(place: Place) -> None:
    words = "Grüße, \u2028 𝄞 漢字 " * 500
    async with place.avatar() as aria:
        assert (await aria.chat(play({"say": words}))).content == words


@for_conformance
async def test_an_agent_waits_for_a_session_that_does_not_listen(place: Place) -> None:
    # Of which the tracker's mailbox may hold 16 MiB, and the sockets on the way some.
    size = 8192 * 6000
    async with open_wireline(place.port) as line, place.avatar(line.port, max_answer=size) as aria:
        async with aria.turn(play({"blocks": 6000})) as turn:
            with freeze(aria._actors.tracker):  # pyright: ignore[reportPrivateUsage]
                before = -1
                while line.passed != before:
                    before = line.passed
                    await trio.sleep(1)
            assert before < size / 2
            assert len((await turn.wait()).content) == size
        assert line.passed > size


async def test_two_avatars_on_one_server_keep_apart(place: Place) -> None:
    async with place.avatar() as aria, place.avatar() as ben:
        async with aria.turn(play(GO, WAIT)) as turn:
            await until(turn, TextEvent)
            assert (await ben.chat(play({"say": "mine"}))).content == "mine"
            assert turn.outcome is None
            await turn.interrupt()
        assert turn.text == "go"


async def test_its_processes_are_not_ours(place: Place) -> None:
    async with place.avatar() as aria:
        assert (await aria.health()).pid is None
        assert (await aria.capabilities()).containment == "remote: its processes are not ours"
        async with aria.turn(play({"begin": "t"}, WAIT)) as turn:
            await until(turn, ToolEvent)
            (tool,) = [each for each in await aria.activities() if each.activity_type != "turn"]
            assert await aria.cancel_activity(tool.activity_id) is CancelResult.UNSUPPORTED
            ended = await aria.cancel_activity(tool.activity_id, Escalation.TURN)
            assert ended is CancelResult.ESCALATED


async def test_the_working_directory_can_be_one_of_the_agents_machine(place: Place) -> None:
    async with place.avatar(options={"cwd": "/srv/far/away"}) as aria:
        assert "cwd /srv/far/away" in (await aria.chat(play({"history": True}))).content
    async with place.avatar() as aria:
        assert f"cwd {place.work}" in (await aria.chat(play({"history": True}))).content


async def test_the_token_is_sent_and_nowhere_shown(place: Place) -> None:
    async with place.avatar() as aria, aria.events() as events:
        await aria.chat(play(GO))
        await aria.stop()
        seen = [repr(event) async for event in events]
    assert seen
    assert TOKEN not in "".join(seen)
