"""Turns of a whole avatar: events in order, one outcome, whatever the caller does."""

import pytest
import trio
import trio.testing

from avatar_actors import (
    ActivityEvent,
    AvatarDown,
    AvatarEvent,
    CostEvent,
    CostSource,
    DiagnosticEvent,
    Outcome,
    PlanEvent,
    TextEvent,
    ThinkingEvent,
    ToolEvent,
    ToolStatus,
    TurnEndedEvent,
    TurnStartedEvent,
    UnrecognisedEvent,
    WhileBusy,
)
from tests.fake_agents import launcher
from tests.runtime.home import Home, all_of, script, until

AGENTS = ["acp", "claude", "gemini-headless"]
WAIT = {"wait": 60}


@pytest.mark.parametrize("agent", AGENTS)
async def test_a_turn_tells_everything_in_order_and_its_end_last(home: Home, agent: str) -> None:
    prompt = script(
        {"tool": "Read", "input": {"path": "a.txt"}, "result": "inside"},
        {"say": "Hello World", "chunks": 5},
        {"usage": {"input": 3, "output": 4}},
    )
    async with home.avatar(agent=agent) as aria:
        async with aria.turn(prompt) as turn:
            events = await all_of(turn)
        assert turn.outcome is Outcome.COMPLETED
        assert turn.text == "Hello World"
        assert "".join(e.text for e in events if isinstance(e, TextEvent)) == "Hello World"
        assert isinstance(events[0], TurnStartedEvent)
        assert isinstance(events[-1], TurnEndedEvent)
        assert [e.seq for e in events] == sorted(e.seq for e in events)
        assert {e.turn_id for e in events} == {turn.turn_id}
        assert {(e.avatar, e.provider) for e in events} == {("aria", launcher.agent(agent).name)}
        tools = [e for e in events if isinstance(e, ToolEvent)]
        assert tools[-1].status is ToolStatus.COMPLETED
        assert "inside" in (tools[-1].result or "")
        assert (turn.usage.input_tokens, turn.usage.output_tokens) == (3, 4)


@pytest.mark.parametrize("agent", ["acp", "claude"])
async def test_thoughts_have_a_subject_and_never_get_into_the_text(home: Home, agent: str) -> None:
    prompt = script({"think": "**Look around**\nfirst the files"}, {"say": "done"})
    async with home.avatar(agent=agent) as aria, aria.turn(prompt) as turn:
        events = await all_of(turn)
    thoughts = [e for e in events if isinstance(e, ThinkingEvent) and not e.synthetic]
    assert "first the files" in "".join(e.thought for e in thoughts)
    assert {e.subject for e in thoughts if e.is_complete} == {"Look around"}
    assert turn.text == "done"


async def test_plans_costs_and_the_unknown_are_told(home: Home) -> None:
    prompt = script(
        {"plan": ["look", {"content": "write", "status": "in_progress"}]},
        {"update": {"sessionUpdate": "brand_new_kind", "x": 1}},
        {"usage": {"input": 1, "output": 2}, "cost": 0.25},
    )
    async with home.avatar() as aria, aria.turn(prompt) as turn:
        events = await all_of(turn)
    plans = [e for e in events if isinstance(e, PlanEvent)]
    assert [entry.content for entry in plans[-1].entries] == ["look", "write"]
    assert any("brand_new_kind" in e.raw for e in events if isinstance(e, UnrecognisedEvent))
    cost = [e for e in events if isinstance(e, CostEvent)][-1]
    assert (cost.cost_usd, cost.source) == (0.25, CostSource.REPORTED)
    assert turn.cost == 0.25


async def test_parallel_tools_form_a_tree_below_the_turn(home: Home) -> None:
    tools = [{"tool": "Read", "id": "a"}, {"tool": "Read", "id": "b"}]
    async with home.avatar() as aria, aria.turn(script({"parallel": tools})) as turn:
        events = await all_of(turn)
    nodes = [e for e in events if isinstance(e, ActivityEvent)]
    [root] = {e.activity_id for e in nodes if e.activity_type == "turn"}
    inner = [e for e in nodes if e.activity_type != "turn"]
    assert {e.parent_activity_id for e in inner} == {root}
    assert len({e.concurrent_group for e in inner}) == 1
    assert {e.status.value for e in nodes if e.completed_at} == {"completed"}


async def test_an_abandoned_turn_is_interrupted_and_the_next_has_its_own_answer(
    home: Home,
) -> None:
    async with home.avatar() as aria:
        async with aria.turn(script({"say": "go"}, WAIT, {"say": "late"})) as turn:
            await until(turn, TextEvent)
        assert turn.outcome is Outcome.CANCELLED
        assert turn.text == "go"
        assert (await aria.chat(script({"say": "next"}))).content == "next"


async def test_an_error_in_the_block_leaves_it_as_itself(home: Home) -> None:
    async with home.avatar() as aria:
        turn = aria.turn(script(WAIT))
        with pytest.raises(ZeroDivisionError):
            async with turn:
                raise ZeroDivisionError
        assert turn.outcome is Outcome.CANCELLED


async def test_a_turn_that_was_never_read_has_its_outcome_afterwards(home: Home) -> None:
    async with home.avatar() as aria:
        async with aria.turn(script({"say": "x"})) as turn:
            pass
        assert turn.outcome in {Outcome.CANCELLED, Outcome.COMPLETED}
        assert (await aria.chat(script({"say": "next"}))).content == "next"


async def test_a_cancelled_chat_interrupts_its_turn_in_every_phase(home: Home) -> None:
    async with home.avatar() as aria, aria.events(TurnEndedEvent) as ends:
        for number in range(40):
            with trio.move_on_after(number * 0.0005):
                await aria.chat(script({"say": "a"}, {"wait": 0.005}, {"say": "b"}))
        answer = await aria.chat(script({"say": "mine"}))
        assert (answer.content, answer.outcome) == ("mine", Outcome.COMPLETED)
        seen: dict[int, TurnEndedEvent] = {}
        while answer.turn_id not in seen:
            event = await until(ends, TurnEndedEvent)
            assert event.turn_id not in seen, "a turn ended twice"
            seen[event.turn_id] = event
        health = await aria.health()
        assert (health.waiting, health.restarts) == (0, 0)


async def test_concurrent_chats_are_queued_and_never_mixed(home: Home) -> None:
    answers: dict[int, str] = {}
    async with home.avatar() as aria, trio.open_nursery() as nursery:

        async def ask(number: int) -> None:
            said = await aria.chat(script({"say": f"<{number}>" * 20, "chunks": 20}))
            answers[number] = said.content

        for number in range(20):
            nursery.start_soon(ask, number)
    assert answers == {number: f"<{number}>" * 20 for number in range(20)}


@pytest.mark.parametrize("count", [0, 1, 3, 1000, 100_000])
async def test_rc_03_the_text_is_complete_when_chat_returns(home: Home, count: int) -> None:
    flood = [{"flood": count, "text": "x"}] if count else []
    async with home.avatar() as aria, aria.events(TextEvent, TurnEndedEvent) as events:
        answer = await aria.chat(script({"one_write": True}, *flood))
        assert len(answer.content) == count
        await aria.chat(script({"say": "next"}))
        seen: list[AvatarEvent] = []
        while sum(isinstance(each, TurnEndedEvent) for each in seen) < 2:
            seen.append(await anext(events))
        first_end = next(n for n, each in enumerate(seen) if isinstance(each, TurnEndedEvent))
        assert sum(len(e.text) for e in seen[:first_end] if isinstance(e, TextEvent)) == count
        assert {e.turn_id for e in seen[first_end + 1 :]} == {2}


async def test_late_and_double_results_never_get_into_the_next_turn(home: Home) -> None:
    async with home.avatar() as aria, aria.events(DiagnosticEvent) as remarks:
        late = {"late": [{"say": "LATE"}]}
        first = await aria.chat(script({"say": "one"}, {"result_twice": True}, late))
        # Text has no turn's name in ACP: what is late is known by its coming between two prompts.
        await until(remarks, DiagnosticEvent, lambda remark: "left out" in remark.message)
        second = await aria.chat(script({"say": "two"}))
        third = await aria.chat(script({"say": "three"}))
    assert [each.content for each in (first, second, third)] == ["one", "two", "three"]


async def test_a_reader_that_is_slow_loses_no_text(home: Home) -> None:
    async with home.avatar() as aria, aria.events(TextEvent, capacity=4) as slow:
        answer = await aria.chat(script({"flood": 20_000, "text": "abc"}))
        pieces = 0
        text = ""
        while len(text) < 60_000:
            text += (await until(slow, TextEvent)).text
            pieces += 1
    assert text == answer.content == "abc" * 20_000
    assert pieces <= 8


async def test_after_the_stop_nothing_is_taken_any_more(home: Home) -> None:
    async with home.avatar() as aria:
        await aria.stop()
        assert aria.is_down
        with pytest.raises(AvatarDown):
            await aria.chat("hello")
        with pytest.raises(AvatarDown):
            async with aria.turn("hello"):
                pass
        with pytest.raises(AvatarDown):
            await aria.health()
        await aria.stop()
        await aria.wait()


async def test_a_stop_cancels_what_runs_and_what_waits(home: Home) -> None:
    async with home.avatar() as aria, aria.turn(script({"say": "go"}, WAIT)) as running:
        await until(running, TextEvent)
        async with aria.turn("waits") as waiting:
            await trio.testing.wait_all_tasks_blocked()
            await aria.stop()
            assert (await waiting.wait()).outcome is Outcome.CANCELLED
        response = await running.wait()
        assert (response.outcome, response.content) == (Outcome.CANCELLED, "go")


async def test_two_stops_at_once_are_one(home: Home) -> None:
    async with home.avatar() as aria, trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(aria.stop)


async def test_a_queued_prompt_can_be_interrupted_before_its_turn(home: Home) -> None:
    async with home.avatar() as aria, aria.turn(script({"say": "go"}, WAIT)) as running:
        await until(running, TextEvent)
        async with aria.turn("waits", while_busy=WhileBusy.QUEUE) as waiting:
            assert await waiting.interrupt()
            assert (await waiting.wait()).outcome is Outcome.CANCELLED
            assert not await waiting.interrupt()
        assert running.outcome is None
