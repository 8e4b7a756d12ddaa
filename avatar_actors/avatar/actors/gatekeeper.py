"""The gatekeeper: decides about tools by policy and mode, or asks the host."""

from __future__ import annotations

import math
import time

import trio

from avatar_actors.avatar.messages import TrackerMessage
from avatar_actors.model.errors import UnknownRequest
from avatar_actors.model.events import AvatarEvent, PermissionClosedEvent, PermissionEvent
from avatar_actors.model.permission_rules import Rules
from avatar_actors.model.values import Permit
from avatar_actors.session.messages import (
    AnswerQuestion,
    Decided,
    GatekeeperMessage,
    Publish,
    Question,
    QuestionsOver,
    QuestionWithdrawn,
)
from avatar_actors.wire.commands import AnswerPermission
from supervisors import Address, Inbox


async def gatekeeper(
    inbox: Inbox[GatekeeperMessage],
    rules: Rules,
    patience: float,
    tracker: Address[TrackerMessage],
) -> None:
    """Keeps the open questions; none of them holds up another."""
    questions = _OpenQuestions(patience, tracker)
    while True:
        message: GatekeeperMessage | None = None
        # Only the waiting has a deadline: a question in hand must not get lost to another's.
        with trio.move_on_at(questions.next_deadline()):
            message = await inbox.receive()
        match message:
            case Question(asked=asked):
                tool = asked.tool
                verdict = rules.verdict(tool.tool_name, tool.kind, tool.parameters, tool.title)
                if verdict is None:
                    await questions.ask_host(message)
                else:
                    await questions.decide(message, *verdict)
            case AnswerQuestion(request_id=request_id):
                question = questions.take(request_id)
                if question is None:
                    inbox.reject(message, UnknownRequest(f"no open question {request_id!r}"))
                else:
                    await questions.decide(question, message.permit, "host", message)
                    inbox.reply(message, None)
            case QuestionWithdrawn(request_id):
                await questions.close(questions.take(request_id), "withdrawn by the agent")
            case QuestionsOver(turn_id):
                for question in questions.of_turn(turn_id):
                    await questions.close(
                        questions.take(question.request_id), "nobody waits any more"
                    )
                inbox.reply(message, None)
            case None:
                for question in questions.overdue():
                    await questions.decide(question, Permit.REJECT_ONCE, "nobody answered in time")


class _OpenQuestions:
    def __init__(self, patience: float, tracker: Address[TrackerMessage]) -> None:
        self._patience = patience
        self._tracker = tracker
        self._open: dict[str, tuple[Question, float]] = {}

    def next_deadline(self) -> float:
        return min((deadline for _, deadline in self._open.values()), default=math.inf)

    def overdue(self) -> list[Question]:
        now = trio.current_time()
        late = [question for question, deadline in self._open.values() if deadline <= now]
        for question in late:
            del self._open[question.request_id]
        return late

    def of_turn(self, turn_id: int | None) -> list[Question]:
        questions = [question for question, _ in self._open.values()]
        return [each for each in questions if turn_id in {None, each.turn_id}]

    def take(self, request_id: str) -> Question | None:
        question, _ = self._open.pop(request_id, (None, 0.0))
        return question

    async def ask_host(self, question: Question) -> None:
        self._open[question.request_id] = question, trio.current_time() + self._patience
        tool = question.asked.tool
        waits_for_ever = math.isinf(self._patience)
        event = PermissionEvent(
            request_id=question.request_id,
            tool_name=tool.tool_name,
            tool_input=tool.parameters,
            options=question.asked.options,
            deadline=0.0 if waits_for_ever else time.time() + self._patience,
            tool_id=tool.tool_id,
            title=tool.title,
        )
        await self._tell(question, event)

    async def decide(
        self, question: Question, permit: Permit, why: str, answer: AnswerQuestion | None = None
    ) -> None:
        reply = AnswerPermission(
            request_id=question.asked.request_id,
            permit=permit,
            option_id=answer.option_id if answer else "",
            message=(answer.message if answer else "") or f"decided by {why}",
            updated_input=answer.updated_input if answer else None,
        )
        await question.bridge.tell(Decided(reply))
        closed = PermissionClosedEvent(request_id=question.request_id, permit=permit, why=why)
        await self._tell(question, closed)

    async def close(self, question: Question | None, why: str) -> None:
        if question is not None:
            closed = PermissionClosedEvent(request_id=question.request_id, why=why)
            await self._tell(question, closed)

    async def _tell(self, question: Question, event: AvatarEvent) -> None:
        await self._tracker.tell(Publish(question.turn_id, [event]))
