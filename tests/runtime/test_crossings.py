"""How many mailboxes a prompt, its end and a block of events pass through, counted."""

import trio.testing

from avatar_actors import TextEvent
from tests.runtime.home import Home, script, until
from tests.supervisors.crossings import counting_crossings

PAUSE = {"wait": 0.2}
USAGE = {"usage": {"input": 10, "output": 10}, "cost": 0.01}
PROMPT_TO_BYTE = 8
END_OF_TURN = 8
END_WITH_USAGE = 9
BLOCK_OF_EVENTS = 1


async def test_prompt_crosses_few_mailboxes_before_its_first_byte_leaves(home: Home) -> None:
    async with home.avatar() as aria:
        await aria.chat(script({"say": "warm"}))
        await trio.testing.wait_all_tasks_blocked()
        with counting_crossings() as crossings:
            await aria.chat(script({"say": "x"}))
    there = crossings.seen[: crossings.seen.index("stdin writer: Write") + 1]
    assert len(there) <= PROMPT_TO_BYTE, there


async def test_end_of_a_turn_crosses_few_mailboxes_on_its_way_to_the_caller(home: Home) -> None:
    async with home.avatar() as aria:
        with counting_crossings() as crossings:
            async with aria.turn(script({"say": "x"}, PAUSE)) as turn:
                await until(turn, TextEvent)
                await trio.testing.wait_all_tasks_blocked()
                crossings.seen.clear()
                await turn.wait()
            await trio.testing.wait_all_tasks_blocked()
    assert len(crossings.seen) <= END_OF_TURN, crossings.seen


async def test_usage_that_comes_with_the_end_of_a_turn_adds_little(home: Home) -> None:
    async with home.avatar() as aria:
        with counting_crossings() as crossings:
            async with aria.turn(script(USAGE, {"say": "x"}, PAUSE)) as turn:
                await until(turn, TextEvent)
                await trio.testing.wait_all_tasks_blocked()
                crossings.seen.clear()
                await turn.wait()
            await trio.testing.wait_all_tasks_blocked()
    assert len(crossings.seen) <= END_WITH_USAGE, crossings.seen


async def test_block_of_events_crosses_few_mailboxes(home: Home) -> None:
    steps = ({"say": "one"}, PAUSE, {"say": "two"}, {"wait": 60})
    async with home.avatar() as aria, aria.turn(script(*steps)) as turn:
        await until(turn, TextEvent)
        await trio.testing.wait_all_tasks_blocked()
        with counting_crossings() as crossings:
            await until(turn, TextEvent)
            await trio.testing.wait_all_tasks_blocked()
    assert len(crossings.seen) <= BLOCK_OF_EVENTS, crossings.seen
