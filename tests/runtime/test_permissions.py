"""Permissions, tool policy, budget and rate limit on whole avatars."""

from typing import Any

import pytest
import trio
import trio.testing

from avatar_actors import (
    Budget,
    DiagnosticEvent,
    EngineState,
    EngineStateEvent,
    Level,
    Outcome,
    PermissionClosedEvent,
    PermissionEvent,
    PermissionMode,
    Permit,
    RateLimit,
    Timeouts,
    ToolEvent,
    ToolPolicy,
    ToolStatus,
    TurnEndedEvent,
    UnknownRequest,
)
from tests.runtime.home import Home, all_of, script, until

AGENTS = ["acp", "claude"]
ASK: dict[str, Any] = {"ask": "Write", "input": {"file_path": "a.txt", "content": "x"}}
MODES = [
    (PermissionMode.SAFE, "[denied]", "safe mode"),
    (PermissionMode.UNRESTRICTED, "[allowed]", "unrestricted mode"),
]


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(
    ("permit", "said"),
    [
        (Permit.ALLOW_ONCE, "[allowed]"),
        (Permit.ALLOW_ALWAYS, "[allowed]"),
        (Permit.REJECT_ONCE, "[denied]"),
    ],
)
async def test_the_hosts_answer_reaches_the_agent(
    home: Home, agent: str, permit: Permit, said: str
) -> None:
    async with home.avatar(agent=agent) as aria, aria.turn(script(ASK)) as turn:
        question = await until(turn, PermissionEvent)
        assert question.tool_input["file_path"] == "a.txt"
        assert question.deadline == 0.0
        await aria.answer(question.request_id, permit)
        closed = await until(turn, PermissionClosedEvent)
        assert (closed.request_id, closed.permit) == (question.request_id, permit)
        assert said in (await turn.wait()).content
        with pytest.raises(UnknownRequest):
            await aria.answer(question.request_id, permit)


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(("mode", "said", "why"), MODES)
async def test_other_modes_decide_without_the_host(
    home: Home, agent: str, mode: PermissionMode, said: str, why: str
) -> None:
    async with (
        home.avatar(agent=agent, permissions=mode) as aria,
        aria.turn(script(ASK)) as turn,
    ):
        events = await all_of(turn)
    assert said in turn.text
    assert not [event for event in events if isinstance(event, PermissionEvent)]
    whys = {event.why for event in events if isinstance(event, PermissionClosedEvent)}
    assert whys <= {why}


@pytest.mark.parametrize("agent", AGENTS)
async def test_a_denied_tool_is_denied_also_without_restrictions(home: Home, agent: str) -> None:
    policy = ToolPolicy(deny=("Write", "edit"))
    async with home.avatar(
        agent=agent, permissions=PermissionMode.UNRESTRICTED, tools=policy
    ) as aria:
        answer = await aria.chat(script(ASK))
    assert "[denied]" in answer.content


@pytest.mark.parametrize("agent", AGENTS)
async def test_an_allowed_tool_asks_nobody(home: Home, agent: str) -> None:
    policy = ToolPolicy(allow=("Write(a.*)", "edit(a.*)"))
    async with home.avatar(agent=agent, tools=policy) as aria:
        allowed = await aria.chat(script(ASK))
        other = {**ASK, "input": {"file_path": "b.txt", "content": "x"}}
        denied = await aria.chat(script(other))
    assert "[allowed]" in allowed.content
    assert "[denied]" in denied.content


async def test_a_question_that_nobody_answers_is_denied_at_its_deadline(home: Home) -> None:
    async with (
        home.avatar(timeouts=Timeouts(permission=0.2)) as aria,
        aria.turn(script(ASK)) as turn,
    ):
        question = await until(turn, PermissionEvent)
        assert question.deadline - question.timestamp == pytest.approx(0.2, abs=0.1)
        closed = await until(turn, PermissionClosedEvent)
        assert (closed.permit, closed.why) == (Permit.REJECT_ONCE, "nobody answered in time")
        assert "[denied]" in (await turn.wait()).content


async def test_the_question_of_one_avatar_blocks_no_other(home: Home) -> None:
    async with home.runtime() as runtime:
        aria = await runtime.start("embedded", "aria", **home.options())
        bert = await runtime.start("embedded", "bert", **home.options())
        async with aria.turn(script(ASK)) as mine, bert.turn(script(ASK)) as other:
            question = await until(mine, PermissionEvent)
            second = await until(other, PermissionEvent)
            await bert.answer(second.request_id, Permit.REJECT_ONCE)
            assert "[denied]" in (await other.wait()).content
            assert (await bert.chat(script({"say": "free"}))).content == "free"
            with pytest.raises(UnknownRequest):
                await bert.answer(question.request_id, Permit.ALLOW_ONCE)
            await aria.answer(question.request_id, Permit.ALLOW_ONCE)
            assert "[allowed]" in (await mine.wait()).content


@pytest.mark.parametrize("agent", AGENTS)
async def test_an_interrupt_closes_the_question_before_the_turn_ends(
    home: Home, agent: str
) -> None:
    async with home.avatar(agent=agent) as aria, aria.turn(script(ASK)) as turn:
        question = await until(turn, PermissionEvent)
        await turn.interrupt()
        events = await all_of(turn)
        closed = [event for event in events if isinstance(event, PermissionClosedEvent)]
        assert [event.request_id for event in closed] == [question.request_id]
        assert not closed[0].permit.allows
        assert turn.outcome is Outcome.CANCELLED
        with pytest.raises(UnknownRequest):
            await aria.answer(question.request_id, Permit.ALLOW_ONCE)
        assert (await aria.chat(script({"say": "next"}))).content == "next"


@pytest.mark.parametrize("agent", AGENTS)
async def test_a_crash_closes_the_question_before_the_turn_ends(home: Home, agent: str) -> None:
    async with (
        home.avatar(agent=agent) as aria,
        aria.events(EngineStateEvent) as states,
        aria.turn(script(ASK)) as turn,
    ):
        question = await until(turn, PermissionEvent)
        await home.kill(aria)
        ended = {EngineState.IDLE, EngineState.ERROR}
        await until(states, EngineStateEvent, lambda e: e.new_state in ended)
        events = await all_of(turn)
        closed = [event for event in events if isinstance(event, PermissionClosedEvent)]
        assert [event.request_id for event in closed] == [question.request_id]
        assert isinstance(events[-1], TurnEndedEvent)
        assert turn.outcome is Outcome.CRASHED
        with pytest.raises(UnknownRequest):
            await aria.answer(question.request_id, Permit.ALLOW_ONCE)
        assert (await aria.chat(script({"say": "next"}))).content == "next"


async def test_a_question_of_a_background_turn_ends_with_its_process(home: Home) -> None:
    prompt = script({"task": "Bash", "seconds": 0.05, "then": [ASK]}, {"say": "started"})
    async with home.avatar(agent="claude") as aria, aria.events() as events:
        await aria.chat(prompt)
        question = await until(events, PermissionEvent)
        await home.kill(aria)
        closed = await until(events, PermissionClosedEvent)
        assert closed.request_id == question.request_id
        with pytest.raises(UnknownRequest):
            await aria.answer(question.request_id, Permit.ALLOW_ONCE)


async def test_a_tool_that_is_asked_about_is_pending_until_it_may_run(home: Home) -> None:
    async with home.avatar() as aria, aria.turn(script(ASK)) as turn:
        seen: list[ToolStatus] = []
        async for event in turn:
            if isinstance(event, ToolEvent):
                seen.append(event.status)
            if isinstance(event, PermissionEvent):
                await aria.answer(event.request_id, Permit.ALLOW_ONCE)
    rest = seen[seen.index(ToolStatus.APPROVAL) :]
    assert rest == [ToolStatus.APPROVAL, ToolStatus.STARTED, ToolStatus.COMPLETED]


async def test_an_overspent_budget_ends_the_turn_and_refuses_the_next(home: Home) -> None:
    spend = {"usage": {"input": 1, "output": 1}, "cost": 0.6}
    async with (
        home.avatar(budget=Budget(cost_usd=1.0)) as aria,
        aria.events(DiagnosticEvent) as notes,
    ):
        assert (await aria.chat(script({"say": "a"}, spend))).outcome is Outcome.COMPLETED
        second = await aria.chat(script({"say": "b"}, spend, {"wait": 60}, {"say": "late"}))
        assert (second.outcome, second.content) == (Outcome.OVER_BUDGET, "b")
        third = await aria.chat(script({"say": "c"}))
        assert (third.outcome, third.content) == (Outcome.OVER_BUDGET, "")
        assert "1 USD" in third.error
        note = await until(notes, DiagnosticEvent, lambda e: e.source == "budget")
        assert "%" in note.message
        assert (await aria.health()).total.cost_usd == pytest.approx(1.2)


async def test_turns_may_be_counted(home: Home) -> None:
    async with home.avatar(budget=Budget(turns=1)) as aria:
        assert (await aria.chat(script({"say": "a"}))).success
        assert (await aria.chat(script({"say": "b"}))).outcome is Outcome.OVER_BUDGET


async def test_a_rate_limit_holds_prompts_back_and_an_interrupt_frees_them(home: Home) -> None:
    async with home.avatar(rate_limit=RateLimit(1)) as aria:
        assert (await aria.chat(script({"say": "a"}))).success
        async with aria.turn(script({"say": "b"})) as held:
            await trio.testing.wait_all_tasks_blocked()
            assert held.outcome is None
            assert await held.interrupt()
            assert (await held.wait()).outcome is Outcome.CANCELLED


async def test_a_deny_that_fits_no_tool_is_warned_about_at_the_start(home: Home) -> None:
    policy = ToolPolicy(deny=("Wriet", "write"))
    async with home.runtime() as runtime, runtime.events(DiagnosticEvent) as remarks:
        await runtime.start("embedded", **home.options(tools=policy))
        warning = await until(remarks, DiagnosticEvent, lambda e: e.source == "permissions")
    assert warning.level is Level.WARNING
    assert warning.message.startswith("deny 'Wriet' fits no known tool of this agent")


async def test_capitals_do_not_count_in_a_deny(home: Home) -> None:
    options = home.options(
        permissions=PermissionMode.UNRESTRICTED, tools=ToolPolicy(deny=("wRITE",))
    )
    async with home.runtime() as runtime:
        aria = await runtime.start("embedded", **options)
        answer = await aria.chat(script(ASK))
    assert "[denied]" in answer.content
