"""A model's questions to its user, and functions that answer for the host, on whole avatars."""

import threading
from typing import Any

import pytest
import trio

from avatar_actors import (
    DiagnosticEvent,
    EngineState,
    EngineStateEvent,
    GivenAnswers,
    Outcome,
    PermissionClosedEvent,
    PermissionEvent,
    Permit,
    QuestionClosedEvent,
    QuestionEvent,
    SettingsError,
    TextEvent,
    Timeouts,
    UnknownRequest,
)
from tests.runtime.home import Home, all_of, script, until

AGENTS = ["acp", "claude"]
ASK: dict[str, Any] = {"ask": "Write", "input": {"file_path": "a.txt", "content": "x"}}
COLOUR: dict[str, Any] = {
    "question": "Which colour?",
    "header": "Colour",
    "options": ["red", "blue"],
    "text": True,
}


@pytest.mark.parametrize("agent", AGENTS)
async def test_the_hosts_answer_reaches_the_model(home: Home, agent: str) -> None:
    async with home.avatar(agent=agent) as aria, aria.turn(script(COLOUR)) as turn:
        asked = await until(turn, QuestionEvent)
        [question] = asked.questions
        assert (question.text, question.header) == ("Which colour?", "Colour")
        assert [option.label for option in question.options] == ["red", "blue"]
        with pytest.raises(SettingsError, match="there is no question"):
            await aria.answer_question(asked.request_id, {"no such": "red"})
        await aria.answer_question(asked.request_id, "blue")
        closed = await until(turn, QuestionClosedEvent)
        assert (closed.request_id, closed.is_answered) == (asked.request_id, True)
        assert (await turn.wait()).content == "[blue]"
        with pytest.raises(UnknownRequest):
            await aria.answer_question(asked.request_id, "red")


@pytest.mark.parametrize("agent", AGENTS)
async def test_words_of_ones_own_and_several_options_reach_the_model(
    home: Home, agent: str
) -> None:
    answers: list[GivenAnswers] = ["mauve", ["red", "blue"]]

    async def answer(_: QuestionEvent) -> GivenAnswers:
        return answers.pop(0)

    async with home.avatar(agent=agent, questions=answer) as aria:
        assert (await aria.chat(script(COLOUR))).content == "[mauve]"
        assert (await aria.chat(script({**COLOUR, "multiple": True}))).content == "[red, blue]"


@pytest.mark.parametrize("agent", AGENTS)
async def test_without_anybody_to_ask_the_model_is_told_at_once(home: Home, agent: str) -> None:
    async with home.avatar(agent=agent) as aria, aria.events(DiagnosticEvent) as notes:
        answer = await aria.chat(script(COLOUR))
        assert answer.outcome is Outcome.COMPLETED
        told = {"acp": "[decline]", "claude": "[Nobody is there to answer."}
        assert answer.content.startswith(told[agent])
        note = await until(notes, DiagnosticEvent, lambda e: e.source == "questions")
        assert "pass questions=" in note.message


@pytest.mark.parametrize("agent", AGENTS)
async def test_without_anybody_to_ask_a_tool_is_denied_at_once(home: Home, agent: str) -> None:
    async with home.avatar(agent=agent) as aria, aria.events(PermissionClosedEvent) as closed:
        assert (await aria.chat(script(ASK))).content == "[denied]"
        why = (await until(closed, PermissionClosedEvent)).why
        assert "pass permissions=" in why
        async with aria.turn(script(ASK), kinds=(TextEvent,)) as turn:
            assert (await turn.wait()).content == "[denied]"


async def test_a_subscriber_counts_if_it_gets_permission_events(home: Home) -> None:
    async with home.runtime() as runtime:
        aria = await runtime.start("embedded", "aria", **home.options())
        async with runtime.events(PermissionEvent) as requests, trio.open_nursery() as nursery:

            async def answer_all() -> None:
                async for event in requests:
                    assert isinstance(event, PermissionEvent)
                    await aria.answer(event.request_id, Permit.ALLOW_ONCE)

            nursery.start_soon(answer_all)
            assert (await aria.chat(script(ASK))).content == "[allowed]"
            nursery.cancel_scope.cancel()
        async with runtime.events(TextEvent):
            assert (await aria.chat(script(ASK))).content == "[denied]"


@pytest.mark.parametrize("agent", AGENTS)
async def test_a_function_decides_about_tools(home: Home, agent: str) -> None:
    async def ask(request: PermissionEvent) -> Permit:
        is_mine = request.tool_input["file_path"] == "a.txt"
        return Permit.ALLOW_ONCE if is_mine else Permit.REJECT_ONCE

    other = {**ASK, "input": {"file_path": "b.txt", "content": "x"}}
    async with home.avatar(agent=agent, permissions=ask) as aria:
        assert (await aria.chat(script(ASK))).content == "[allowed]"
        assert (await aria.chat(script(other))).content == "[denied]"


async def test_a_plain_function_may_block_without_holding_up_the_loop(home: Home) -> None:
    is_waiting, may_go = threading.Event(), threading.Event()

    def ask(_: PermissionEvent) -> Permit:
        is_waiting.set()
        may_go.wait(60)
        return Permit.ALLOW_ONCE

    async with home.runtime() as runtime, trio.open_nursery() as nursery:
        aria = await runtime.start("embedded", "aria", **home.options(permissions=ask))
        bert = await runtime.start("embedded", "bert", **home.options())
        said: list[str] = []

        async def talk() -> None:
            said.append((await aria.chat(script(ASK))).content)

        nursery.start_soon(talk)
        assert await trio.to_thread.run_sync(is_waiting.wait, 60)
        assert (await bert.chat(script({"say": "free"}))).content == "free"
        may_go.set()
    assert said == ["[allowed]"]


async def test_a_function_ends_with_its_turn(home: Home) -> None:
    begun, ended = trio.Event(), trio.Event()

    async def ask(_: QuestionEvent) -> GivenAnswers:
        begun.set()
        try:
            await trio.sleep_forever()
        finally:
            ended.set()

    async with home.avatar(questions=ask) as aria:
        async with aria.turn(script(COLOUR)) as turn:
            await begun.wait()
            await turn.interrupt()
            events = await all_of(turn)
        await ended.wait()
        [closed] = [event for event in events if isinstance(event, QuestionClosedEvent)]
        assert not closed.is_answered
        assert turn.outcome is Outcome.CANCELLED
        assert (await aria.chat(script({"say": "next"}))).content == "next"


async def test_an_open_question_is_the_state_and_is_named_when_the_turn_times_out(
    home: Home,
) -> None:
    async with home.avatar() as aria:
        async with aria.turn(script(ASK), timeout=0.5) as turn:
            events = await all_of(turn)
        states = [event.new_state for event in events if isinstance(event, EngineStateEvent)]
        assert EngineState.WAITING_APPROVAL in states
        assert turn.outcome is Outcome.TIMED_OUT
        assert turn.reason == "no end within 0.5 s; nobody answered whether 'Write' may run"
        async with aria.turn(script(COLOUR), timeout=0.5) as asking:
            await all_of(asking)
        assert asking.reason.endswith("nobody answered the model's question 'Which colour?'")


async def test_a_question_is_declined_at_its_deadline(home: Home) -> None:
    async with (
        home.avatar(timeouts=Timeouts(permission=0.2)) as aria,
        aria.turn(script(COLOUR)) as turn,
    ):
        asked = await until(turn, QuestionEvent)
        assert asked.deadline - asked.timestamp == pytest.approx(0.2, abs=0.1)
        closed = await until(turn, QuestionClosedEvent)
        assert closed.why == "nobody answered in time"
        assert (await turn.wait()).content == "[decline]"


async def test_a_wrong_answer_of_a_function_declines(home: Home) -> None:
    async with home.avatar(questions=lambda _: 5) as aria:  # type: ignore[arg-type, return-value]
        assert (await aria.chat(script(COLOUR))).content == "[decline]"
    with pytest.raises(SettingsError, match="questions must be a function"):
        async with home.avatar(questions="me"):  # type: ignore[arg-type]
            pass
