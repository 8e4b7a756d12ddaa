"""The gatekeeper: decides about tools by policy and mode, or asks the host; its questions too."""

from __future__ import annotations

import math

import trio
from msgspec import Struct

from avatar_actors.avatar.actors.host_functions import HostFunctions
from avatar_actors.avatar.messages import AskSubscribers, TrackerMessage
from avatar_actors.avatar.state import asking
from avatar_actors.model.errors import SettingsError, UnknownRequest
from avatar_actors.model.events import AvatarEvent, PermissionEvent, QuestionEvent
from avatar_actors.model.permission_rules import Rules
from avatar_actors.session.messages import (
    Decided,
    GatekeeperMessage,
    GiveAnswers,
    GivePermit,
    Publish,
    Question,
    QuestionsOver,
    QuestionWithdrawn,
)
from avatar_actors.wire.facts import PermissionAsked, UserAsked
from supervisors import Address, Inbox


async def gatekeeper(
    inbox: Inbox[GatekeeperMessage],
    rules: Rules,
    patience: float,
    tracker: Address[TrackerMessage],
    host: HostFunctions,
) -> None:
    """Keeps the open questions; none of them holds up another."""
    async with trio.open_nursery() as nursery:
        questions = _OpenQuestions(patience, tracker, host, nursery)
        while True:
            message: GatekeeperMessage | None = None
            # Only the waiting has a deadline: a question in hand must not get lost to another's.
            with trio.move_on_at(questions.next_deadline()):
                message = await inbox.receive()
            match message:
                case Question():
                    await _take(questions, rules, message)
                case GivePermit() | GiveAnswers():
                    await _answer(questions, message, inbox)
                case QuestionWithdrawn(request_id):
                    await questions.close(request_id, "withdrawn by the agent")
                case QuestionsOver(turn_id):
                    for request_id in questions.of_turn(turn_id):
                        await questions.close(request_id, "nobody waits any more")
                    inbox.reply(message, None)
                case None:
                    for request_id in questions.overdue():
                        await questions.refuse(request_id, "nobody answered in time")


async def _take(questions: _OpenQuestions, rules: Rules, question: Question) -> None:
    asked = question.asked
    if isinstance(asked, PermissionAsked):
        tool = asked.tool
        verdict = rules.verdict(tool.tool_name, tool.kind, tool.parameters, tool.title)
        if verdict is not None:
            permit, why = verdict
            decision = GivePermit(request_id=question.request_id, permit=permit)
            await questions.decide(question, asking.permitted(question, asked, decision, why))
            return
    await questions.ask_host(question)


async def _answer(
    questions: _OpenQuestions,
    message: GivePermit | GiveAnswers,
    inbox: Inbox[GatekeeperMessage],
) -> None:
    """Answer a question; one that the message does not fit stays open."""
    question = questions.find(message.request_id)
    try:
        decision = asking.decision(question, message)
    except (UnknownRequest, SettingsError) as wrong:
        inbox.reject(message, wrong)
        return
    questions.take(message.request_id)
    assert question is not None
    await questions.decide(question, decision)
    inbox.reply(message, None)


class _OpenQuestion(Struct):
    question: Question
    deadline: float
    call: trio.CancelScope
    """Of the call of the host's function, if it has one."""


class _OpenQuestions:
    def __init__(
        self,
        patience: float,
        tracker: Address[TrackerMessage],
        host: HostFunctions,
        nursery: trio.Nursery,
    ) -> None:
        self._patience, self._tracker = patience, tracker
        self._host, self._nursery = host, nursery
        self._open: dict[str, _OpenQuestion] = {}

    def next_deadline(self) -> float:
        return min((one.deadline for one in self._open.values()), default=math.inf)

    def overdue(self) -> list[str]:
        now = trio.current_time()
        return [key for key, one in self._open.items() if one.deadline <= now]

    def of_turn(self, turn_id: int | None) -> list[str]:
        return [k for k, one in self._open.items() if turn_id in {None, one.question.turn_id}]

    def find(self, request_id: str) -> Question | None:
        one = self._open.get(request_id)
        return one.question if one is not None else None

    def take(self, request_id: str) -> Question | None:
        """It is open no more; the host's function is not waited for."""
        one = self._open.pop(request_id, None)
        if one is None:
            return None
        one.call.cancel()
        return one.question

    async def ask_host(self, question: Question) -> None:
        event = asking.event_of(question, self._patience)
        if not self._host.can_answer(event):
            if not await self._tracker.ask(AskSubscribers(question.turn_id, event)):
                await self._refuse_unheard(question)
                return
            self._add(question)
            return
        await self._tell(question, [event])
        scope = self._add(question)
        self._nursery.start_soon(self._consult, question, event, scope)

    async def refuse(self, request_id: str, why: str) -> None:
        """Refuse it in the host's place."""
        if (question := self.take(request_id)) is not None:
            await self.decide(question, asking.refused(question, why))

    async def close(self, request_id: str, why: str) -> None:
        """The agent does not wait for it any more."""
        if (question := self.take(request_id)) is not None:
            await self._tell(question, [asking.closed(question, why)])

    async def decide(self, question: Question, decision: asking.Decision) -> None:
        """Tell the agent and the subscribers."""
        await question.bridge.tell(Decided(decision.reply))
        await self._tell(question, [decision.closed])

    def _add(self, question: Question) -> trio.CancelScope:
        scope = trio.CancelScope()
        deadline = trio.current_time() + self._patience
        self._open[question.request_id] = _OpenQuestion(question, deadline, scope)
        return scope

    async def _consult(
        self, question: Question, event: PermissionEvent | QuestionEvent, scope: trio.CancelScope
    ) -> None:
        """Ask the host's function, as long as the question is open."""
        answer: asking.HostAnswer | None = None
        with scope:
            answer = await self._host.answer(event)
        if answer is not None and self.take(question.request_id) is not None:
            await self.decide(question, asking.by_function(question, answer))

    async def _refuse_unheard(self, question: Question) -> None:
        is_users = isinstance(question.asked, UserAsked)
        why = asking.NOBODY_FOR_QUESTIONS if is_users else asking.NOBODY_FOR_PERMISSIONS
        await self.decide(question, asking.refused(question, why))
        await self._tell(question, [asking.warning(question, why)])

    async def _tell(self, question: Question, events: list[AvatarEvent]) -> None:
        await self._tracker.tell(Publish(question.turn_id, events))
