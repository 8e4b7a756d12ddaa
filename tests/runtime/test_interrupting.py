"""Interrupts, timeouts, prompts while busy, and cancelling one activity."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from avatar_actors import (
    ActivityEvent,
    ActivityStatus,
    CancelResult,
    Escalation,
    Outcome,
    SettingsError,
    SupervisionEvent,
    TextEvent,
    Timeouts,
    ToolEvent,
    ToolStatus,
    TurnEndedEvent,
    UnknownRequest,
    WhileBusy,
)
from supervisors.testing import freeze
from tests.processes.census import eventually, offspring
from tests.runtime.home import Home, script, until
from tests.thorough import for_conformance

AGENTS = ["acp", "claude", pytest.param("gemini-headless", marks=for_conformance)]
GO: dict[str, Any] = {"say": "go"}
WAIT: dict[str, Any] = {"wait": 60}
BUSY: list[list[dict[str, Any]]] = [
    [WAIT],
    [{"tool": "Bash", "seconds": 60}],
    [{"ask": "Write", "input": {"path": "x"}}],
    [{"flood": 5_000_000, "text": "x"}],
    [{"pulse": {"every": 0.001, "count": 60_000, "text": "."}}],
]


def runs(command: str) -> bool:
    """Whether somebody below this test runs it."""
    lines: list[bytes] = []
    for pid in offspring():
        with suppress(OSError):
            lines.append(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" "))
    return any(command.encode() in line for line in lines)


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("number", range(len(BUSY)))
async def test_an_interrupt_ends_the_turn_whatever_it_does(
    home: Home, agent: str, number: int
) -> None:
    if agent == "gemini-headless" and number == 2:
        pytest.skip("headless gemini asks nobody")
    async with home.avatar(agent=agent) as aria:
        async with aria.turn(script(GO, *BUSY[number])) as turn:
            await until(turn, TextEvent)
            assert await turn.interrupt()
            response = await turn.wait()
        assert response.outcome is Outcome.CANCELLED
        assert response.content.startswith("go")
        answer = await aria.chat(script({"say": "next"}))
        assert (answer.content, answer.success) == ("next", True)
        assert (await aria.health()).restarts == 0


async def test_an_interrupt_without_a_turn_says_so(home: Home) -> None:
    async with home.avatar() as aria:
        assert not await aria.interrupt()
        async with aria.turn(script({"say": "x"})) as turn:
            await turn.wait()
            assert not await turn.interrupt()


async def test_many_interrupts_are_one(home: Home) -> None:
    async with home.avatar() as aria:
        await aria.chat("1+1")
        async with aria.turn(script(GO, {"ack_after": 0.05}, WAIT)) as turn:
            await until(turn, TextEvent)
            async with trio.open_nursery() as nursery:
                for _ in range(10):
                    nursery.start_soon(aria.interrupt)
            assert (await turn.wait()).outcome is Outcome.CANCELLED
        assert (await aria.chat(script({"say": "next"}))).content == "next"


@pytest.mark.parametrize("agent", AGENTS)
async def test_a_deaf_agent_is_restarted_after_the_grace(home: Home, agent: str) -> None:
    timeouts = Timeouts(interrupt=0.2, stop=0.2)
    async with home.avatar(agent=agent, timeouts=timeouts) as aria:
        async with aria.turn(script(GO, {"deaf": -1})) as turn:
            await until(turn, TextEvent)
            await turn.interrupt()
            response = await turn.wait()
        assert response.outcome is Outcome.CANCELLED
        assert (await aria.chat(script({"say": "next"}))).content == "next"


@pytest.mark.parametrize("fault", [{"ignore_cancel": True}, {"ack_after": 60}])
async def test_an_agent_that_does_not_obey_is_restarted(home: Home, fault: dict[str, Any]) -> None:
    async with home.avatar(timeouts=Timeouts(interrupt=0.2, stop=0.2)) as aria:
        async with aria.events(SupervisionEvent) as notices:
            async with aria.turn(script(fault, GO, WAIT)) as turn:
                await until(turn, TextEvent)
                await turn.interrupt()
                response = await turn.wait()
            assert "did not acknowledge" in response.error
            crashed = await until(notices, SupervisionEvent, lambda e: e.notice == "crashed")
            assert "AgentDeaf" in crashed.detail
        assert (await aria.health()).restarts <= 1
        assert (await aria.chat(script({"say": "next"}))).content == "next"


async def test_a_turn_that_takes_too_long_is_timed_out(home: Home) -> None:
    async with home.avatar() as aria:
        answer = await aria.chat(script(GO, WAIT), timeout=0.2)
        assert (answer.outcome, answer.content) == (Outcome.TIMED_OUT, "go")
        assert "0.2 s" in answer.error
        assert (await aria.chat(script({"say": "next"}))).success


@pytest.mark.parametrize("seconds", [-1.0, 0.0, float("nan")])
async def test_a_timeout_that_cannot_be_harms_nobody(home: Home, seconds: float) -> None:
    async with home.avatar() as aria:
        with pytest.raises(SettingsError):
            await aria.chat("hello", timeout=seconds)
        assert (await aria.chat(script({"say": "next"}))).success


async def test_a_cancelled_scope_waits_for_the_acknowledgement(home: Home) -> None:
    async with home.avatar() as aria:
        turn = aria.turn(script(GO, WAIT))
        with trio.CancelScope() as scope:
            async with turn:
                await until(turn, TextEvent)
                scope.cancel()
                await trio.sleep_forever()
        assert scope.cancelled_caught
        assert turn.outcome is Outcome.CANCELLED


async def test_a_prompt_while_busy_is_queued_by_default(home: Home) -> None:
    async with home.avatar() as aria, aria.turn(script(GO, {"wait": 0.1})) as first:
        await until(first, TextEvent)
        assert (await aria.chat(script({"say": "second"}))).content == "second"
        assert (await first.wait()).outcome is Outcome.COMPLETED


async def test_a_prompt_while_busy_may_be_rejected(home: Home) -> None:
    async with (
        home.avatar(while_busy=WhileBusy.REJECT) as aria,
        aria.turn(script(GO, WAIT)) as first,
    ):
        await until(first, TextEvent)
        answer = await aria.chat("second")
        assert (answer.outcome, answer.error) == (Outcome.REJECTED, "another turn is running")
        await first.interrupt()
        await first.wait()
        assert (await aria.chat(script({"say": "third"}))).content == "third"


async def test_a_prompt_while_busy_may_interrupt_and_goes_first(home: Home) -> None:
    order: list[str] = []
    async with home.avatar() as aria, aria.turn(script(GO, WAIT)) as first:
        await until(first, TextEvent)
        async with trio.open_nursery() as nursery:

            async def ask(name: str, how: WhileBusy) -> None:
                assert (await aria.chat(script({"say": name}), while_busy=how)).content == name
                order.append(name)

            nursery.start_soon(ask, "queued", WhileBusy.QUEUE)
            await trio.testing.wait_all_tasks_blocked()
            nursery.start_soon(ask, "urgent", WhileBusy.INTERRUPT)
            response = await first.wait()
            assert response.error == "interrupted by a new prompt"
            assert response.outcome is Outcome.CANCELLED
    assert order == ["urgent", "queued"]


async def test_steering_is_refused_where_the_agent_cannot(home: Home) -> None:
    async with home.avatar() as aria, aria.turn(script(GO, WAIT)) as first:
        assert not (await aria.capabilities()).steering
        await until(first, TextEvent)
        answer = await aria.chat("more", while_busy=WhileBusy.STEER)
        assert answer.outcome is Outcome.REJECTED


async def test_a_steered_prompt_gets_into_the_turn_and_ends_with_it(home: Home) -> None:
    async with (
        home.avatar(agent="claude") as aria,
        aria.turn(script(GO, {"wait": 0.3})) as first,
    ):
        assert (await aria.capabilities()).steering
        await until(first, TextEvent)
        answer = await aria.chat(script({"say": "steered"}), while_busy=WhileBusy.STEER)
        response = await first.wait()
        assert answer.outcome is response.outcome is Outcome.COMPLETED
        assert "steered" in response.content


async def test_a_cancelled_steered_prompt_holds_nobody_up(home: Home) -> None:
    async with (
        home.avatar(agent="claude") as aria,
        aria.turn(script(GO, WAIT)) as first,
    ):
        await until(first, TextEvent)
        began = trio.current_time()
        with trio.move_on_after(0.1):
            await aria.chat("more", while_busy=WhileBusy.STEER)
        assert trio.current_time() - began < 10
        assert first.outcome is None


async def test_a_running_tool_is_stopped_by_its_processes(home: Home) -> None:
    tool = {"tool": "Bash", "id": "t", "input": {"command": "sleep 61"}, "run": True}
    async with home.avatar() as aria, aria.turn(script(tool, {"say": "after"})) as turn:
        await until(turn, ToolEvent, lambda e: e.status is ToolStatus.STARTED)
        await eventually(lambda: runs("sleep 61"))
        [node] = [a for a in await aria.activities() if a.activity_type != "turn"]
        assert await aria.cancel_activity(node.activity_id) is CancelResult.STOPPED
        ended = await until(turn, ToolEvent, lambda e: e.status.is_over)
        assert ended.status is not ToolStatus.COMPLETED
        response = await turn.wait()
        assert (response.outcome, response.content) == (Outcome.COMPLETED, "after")
        again = await aria.cancel_activity(node.activity_id)
        assert again is CancelResult.ALREADY_DONE


async def test_stopping_one_tool_leaves_the_one_beside_it_alone(home: Home) -> None:
    tools = [
        {"tool": "Bash", "id": name, "input": {"command": f"sleep {seconds}"}, "run": True}
        for name, seconds in (("a", 61), ("b", 62))
    ]
    async with home.avatar() as aria, aria.turn(script({"parallel": tools})) as turn:
        await eventually(lambda: runs("sleep 61") and runs("sleep 62"))
        for _ in tools:
            await until(turn, ToolEvent, lambda e: e.status is ToolStatus.STARTED)
        nodes = {a.detail: a for a in await aria.activities() if a.activity_type != "turn"}
        [first] = [node for detail, node in nodes.items() if "61" in detail]
        assert await aria.cancel_activity(first.activity_id) is CancelResult.STOPPED
        await until(turn, ToolEvent, lambda e: e.status.is_over)
        running = {a.activity_id for a in await aria.activities() if a.activity_type != "turn"}
        assert running == {n.activity_id for n in nodes.values()} - {first.activity_id}


async def test_what_cannot_be_stopped_alone_is_said_or_escalated(home: Home) -> None:
    tool = {"tool": "Read", "id": "t", "leave": True}
    async with home.avatar() as aria, aria.turn(script(tool, WAIT)) as turn:
        await until(turn, ToolEvent)
        [node] = [a for a in await aria.activities() if a.activity_type != "turn"]
        assert await aria.cancel_activity(node.activity_id) is CancelResult.UNSUPPORTED
        assert turn.outcome is None
        result = await aria.cancel_activity(node.activity_id, Escalation.TURN)
        assert result is CancelResult.ESCALATED
        assert (await turn.wait()).outcome is Outcome.CANCELLED


async def test_a_turn_is_an_activity_that_can_be_stopped_once(home: Home) -> None:
    async with home.avatar() as aria:
        async with aria.turn(script(GO, WAIT)) as turn:
            await until(turn, TextEvent)
            [node] = await aria.activities()
            assert await aria.cancel_activity(node.activity_id) is CancelResult.STOPPED
            assert (await turn.wait()).outcome is Outcome.CANCELLED
        assert await aria.cancel_activity(node.activity_id) is CancelResult.ALREADY_DONE
        with pytest.raises(UnknownRequest):
            await aria.cancel_activity("never heard of")


async def test_a_late_cancel_of_one_turn_never_hits_the_next(home: Home) -> None:
    results: list[CancelResult] = []
    async with home.runtime() as runtime:
        aria = await runtime.start("embedded", "aria", **home.options())
        [queue] = [n.address for n in runtime.tree().walk() if n.name == "turn queue"]
        first = aria.turn(script(GO, {"wait": 0.2}))
        second = aria.turn(script(GO, {"wait": 0.5}, {"say": "whole"}))
        async with first, second, trio.open_nursery() as nursery:
            await until(first, TextEvent)

            async def cancel() -> None:
                results.append(await aria.cancel_activity(f"turn-{first.turn_id}"))

            with freeze(queue):
                nursery.start_soon(cancel)
                await until(second, TextEvent)
            assert (await second.wait()).content == "gowhole"
        assert first.outcome is second.outcome is Outcome.COMPLETED
        assert results == [CancelResult.ALREADY_DONE]


async def test_a_background_task_of_claude_is_stopped_by_its_protocol(home: Home) -> None:
    prompt = script({"task": "Bash", "seconds": 60}, {"say": "started"})
    async with home.avatar(agent="claude") as aria, aria.events() as events:
        assert (await aria.chat(prompt)).content == "started"
        tasks = [a for a in await aria.activities() if a.activity_type == "background_task"]
        assert [task.status for task in tasks] == [ActivityStatus.RUNNING]
        result = await aria.cancel_activity(tasks[0].activity_id)
        assert result is CancelResult.STOPPED
        ended = await until(
            events,
            ActivityEvent,
            lambda e: e.activity_id == tasks[0].activity_id and e.completed_at > 0,
        )
        assert ended.status is ActivityStatus.CANCELLED
        assert await aria.cancel_activity(ended.activity_id) is CancelResult.ALREADY_DONE
        assert (await aria.chat(script({"say": "next"}))).content == "next"


async def test_an_interrupt_of_a_stopped_process_restarts_it(home: Home) -> None:
    before = offspring()
    async with home.avatar(timeouts=Timeouts(interrupt=0.2, stop=0.2)) as aria:
        async with aria.turn(script(GO, WAIT)) as turn:
            await until(turn, TextEvent)
            pid = (await aria.health()).pid
            assert pid in offspring() - before
            os.kill(pid, signal.SIGSTOP)
            began = time.monotonic()
            await turn.interrupt()
            assert (await turn.wait()).outcome is Outcome.CANCELLED
            assert time.monotonic() - began < 20
        assert (await aria.chat(script({"say": "next"}))).content == "next"


async def test_nothing_of_a_turn_follows_its_end(home: Home) -> None:
    async with home.avatar() as aria, aria.events(capacity=100_000) as events:
        for number in range(15):
            async with aria.turn(script({"pulse": {"every": 0.0005, "count": 30}})) as turn:
                with trio.move_on_after(number * 0.001):
                    await turn.wait()
        last = await aria.chat(script({"say": "last"}))
        ended: set[int] = set()
        while last.turn_id not in ended:
            event = await anext(events)
            assert event.turn_id not in ended
            if isinstance(event, TurnEndedEvent):
                ended.add(event.turn_id)
