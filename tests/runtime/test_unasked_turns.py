"""What Claude says when a background command ends, though nobody has asked: a turn of its own."""

import os
from collections.abc import AsyncIterator
from typing import Any

import trio

from avatar_actors import (
    Avatar,
    AvatarEvent,
    Budget,
    Outcome,
    PermissionEvent,
    Permit,
    TextEvent,
    Timeouts,
    ToolEvent,
    TurnEndedEvent,
    TurnStartedEvent,
    WhileBusy,
)
from tests.runtime.home import Home, script, until

WAIT: dict[str, Any] = {"wait": 60}
SPENDS: dict[str, Any] = {"usage": {"output": 7}, "cost": 0.25}


class Background:
    """A command that an agent left behind in the background, and that ends when it is told to."""

    def __init__(self, aria: Avatar, home: Home) -> None:
        self._aria, self._gate = aria, home.work / "gate-0"

    async def leave(self, *then: dict[str, Any]) -> None:
        """Have the agent begin it; the agent plays these steps when it has ended."""
        # A new one each time: of two readers, one might get the words for both.
        number = int(self._gate.name.removeprefix("gate-")) + 1
        self._gate = self._gate.with_name(f"gate-{number}")
        os.mkfifo(self._gate)
        command = {"command": f"cat {self._gate.name}"}
        task = {"task": "Bash", "run": True, "input": command, "then": list(then)}
        assert (await self._aria.chat(script(task, {"say": "started"}))).content == "started"

    async def end(self) -> None:
        """The command ends now."""
        await trio.to_thread.run_sync(self._gate.write_text, "done")


async def unasked(events: AsyncIterator[AvatarEvent]) -> list[AvatarEvent]:
    """The next unasked turn, whole."""
    found: list[AvatarEvent] = []
    async for event in events:
        found += [event] if event.unasked else []
        if found and isinstance(found[-1], TurnEndedEvent):
            break
    return found


async def test_the_end_of_a_background_command_brings_a_turn_with_all_that_a_turn_has(
    home: Home,
) -> None:
    async with home.avatar(agent="claude") as aria, aria.events() as events:
        command = Background(aria, home)
        read = {"tool": "Read", "result": "4 tests"}
        await command.leave(read, SPENDS, {"say": "It is green."})
        await command.end()
        told = await unasked(events)
        started, ended = told[0], told[-1]
        assert isinstance(started, TurnStartedEvent)
        assert isinstance(ended, TurnEndedEvent)
        assert started.prompt
        assert {event.turn_id for event in told} == {-1}
        assert (ended.outcome, ended.text) == (Outcome.COMPLETED, "It is green.")
        assert [call.tool_name for call in ended.tool_calls] == ["Read"]
        assert (ended.usage.cost_usd, ended.usage.output_tokens) == (0.25, 7)
        [*asked, last] = await aria.history()
        assert [(each.role, each.unasked) for each in asked] == [
            ("user", False),
            ("assistant", False),
        ]
        assert (last.role, last.content, last.unasked) == ("assistant", "It is green.", True)
        assert last.tool_calls == ended.tool_calls
        assert (await aria.chat(script({"say": "next"}))).content == "next"
        assert (await aria.health()).turns == 3


async def test_a_prompt_that_is_sent_meanwhile_waits_for_it_and_neither_has_words_of_the_other(
    home: Home,
) -> None:
    async with home.avatar(agent="claude") as aria, aria.events() as events:
        command = Background(aria, home)
        await command.leave({"say": "one "}, {"wait": 0.3}, {"say": "two"})
        await command.end()
        await until(events, TextEvent, lambda event: event.unasked)
        async with aria.turn(script({"say": "mine"})) as turn:
            answer = await turn.wait()
        assert (answer.outcome, answer.content) == (Outcome.COMPLETED, "mine")
        ended = await until(events, TurnEndedEvent, lambda event: event.unasked)
        assert (ended.outcome, ended.text) == (Outcome.COMPLETED, "one two")


async def test_prompts_at_the_very_moment_of_its_beginning_are_never_mixed_with_it(
    home: Home,
) -> None:
    rounds = 12
    async with home.avatar(agent="claude") as aria, aria.events(capacity=100_000) as events:
        command = Background(aria, home)
        for number in range(rounds):
            await command.leave({"say": f"unasked {number}"})
            async with trio.open_nursery() as nursery:
                nursery.start_soon(command.end)
                mine = await aria.chat(script({"say": f"mine {number}"}))
            assert (mine.outcome, mine.content) == (Outcome.COMPLETED, f"mine {number}")
        said = [(await unasked(events))[-1] for _ in range(rounds)]
        texts = [each.text for each in said if isinstance(each, TurnEndedEvent)]
        assert sorted(texts) == sorted(f"unasked {number}" for number in range(rounds))


async def test_an_interrupt_ends_it_and_the_next_prompt_is_whole(home: Home) -> None:
    async with home.avatar(agent="claude") as aria, aria.events() as events:
        command = Background(aria, home)
        await command.leave({"say": "half"}, WAIT)
        await command.end()
        await until(events, TextEvent, lambda event: event.unasked)
        assert await aria.interrupt()
        ended = await until(events, TurnEndedEvent, lambda event: event.unasked)
        assert (ended.outcome, ended.text) == (Outcome.CANCELLED, "half")
        assert (await aria.chat(script({"say": "next"}))).content == "next"
        assert (await aria.health()).restarts == 0
        assert not await aria.interrupt()


async def test_a_prompt_that_interrupts_takes_its_place(home: Home) -> None:
    async with home.avatar(agent="claude") as aria, aria.events() as events:
        command = Background(aria, home)
        await command.leave({"say": "half"}, WAIT)
        await command.end()
        await until(events, TextEvent, lambda event: event.unasked)
        answer = await aria.chat(script({"say": "now"}), while_busy=WhileBusy.INTERRUPT)
        assert (answer.outcome, answer.content) == (Outcome.COMPLETED, "now")
        ended = await until(events, TurnEndedEvent, lambda event: event.unasked)
        assert (ended.outcome, ended.text) == (Outcome.CANCELLED, "half")


async def test_the_end_of_a_waiting_prompt_leaves_it_alone(home: Home) -> None:
    async with home.avatar(agent="claude") as aria, aria.events() as events:
        command = Background(aria, home)
        await command.leave({"say": "one "}, {"wait": 0.5}, {"say": "two"})
        await command.end()
        await until(events, TextEvent, lambda event: event.unasked)
        async with aria.turn(script({"say": "never"})) as turn:
            assert await turn.interrupt()
            answer = await turn.wait()
        assert (answer.outcome, answer.content) == (Outcome.CANCELLED, "")
        ended = await until(events, TurnEndedEvent, lambda event: event.unasked)
        assert (ended.outcome, ended.text) == (Outcome.COMPLETED, "one two")
        assert (await aria.chat(script({"say": "next"}))).content == "next"


async def test_an_agent_that_is_deaf_in_it_is_restarted(home: Home) -> None:
    impatient = Timeouts(interrupt=0.3, stop=0.2)
    async with home.avatar(agent="claude", timeouts=impatient) as aria, aria.events() as events:
        command = Background(aria, home)
        await command.leave({"ignore_cancel": True}, {"say": "half"}, WAIT)
        await command.end()
        await until(events, TextEvent, lambda event: event.unasked)
        assert await aria.interrupt()
        ended = await until(events, TurnEndedEvent, lambda event: event.unasked)
        assert (ended.outcome, ended.text) == (Outcome.CANCELLED, "half")
        assert (await aria.chat(script({"say": "next"}))).content == "next"


async def test_a_crash_in_it_is_its_outcome_and_the_prompt_beside_it_has_its_own(
    home: Home,
) -> None:
    async with home.avatar(agent="claude") as aria, aria.events() as events:
        tool = {"tool": "Bash", "id": "deploy", "leave": True}
        command = Background(aria, home)
        await command.leave({"say": "half"}, tool, {"wait": 0.3}, {"kill": 9})
        await command.end()
        await until(events, ToolEvent, lambda event: event.unasked)
        beside = await aria.chat(script({"say": "never"}))
        assert (beside.outcome, beside.content) == (Outcome.CRASHED, "")
        ended = await until(events, TurnEndedEvent, lambda event: event.unasked)
        assert (ended.outcome, ended.text) == (Outcome.CRASHED, "half")
        assert ended.unknown_tools == ("deploy",)
        assert beside.can_retry
        assert (await aria.chat(script({"say": "next"}))).content == "next"


async def test_its_questions_are_the_hosts_to_answer(home: Home) -> None:
    async with home.avatar(agent="claude") as aria, aria.events() as events:
        ask = {"ask": "Write", "input": {"path": "x"}}
        command = Background(aria, home)
        await command.leave(ask, {"say": "written"})
        await command.end()
        question = await until(events, PermissionEvent)
        assert question.unasked
        await aria.answer(question.request_id, Permit.ALLOW_ONCE)
        ended = await until(events, TurnEndedEvent, lambda event: event.unasked)
        assert ended.outcome is Outcome.COMPLETED
        assert ended.text.endswith("written")


async def test_it_counts_for_the_budget(home: Home) -> None:
    budget = Budget(turns=2)
    async with home.avatar(agent="claude", budget=budget) as aria, aria.events() as events:
        command = Background(aria, home)
        await command.leave(SPENDS, {"say": "It is green."})
        await command.end()
        await unasked(events)
        assert (await aria.health()).total_cost_usd == 0.25
        assert (await aria.chat(script({"say": "one too many"}))).outcome is Outcome.OVER_BUDGET
