"""What is asked of the host, and what each decision tells the agent and subscribers. Pure."""

from __future__ import annotations

import math
import time
from typing import Final

from msgspec import Struct

from avatar_actors.model.errors import UnknownRequest
from avatar_actors.model.events import (
    DiagnosticEvent,
    PermissionClosedEvent,
    PermissionEvent,
    QuestionClosedEvent,
    QuestionEvent,
)
from avatar_actors.model.questions import Answers, answers_to
from avatar_actors.model.values import Level, Permit
from avatar_actors.session.messages import GiveAnswers, GivePermit, Question
from avatar_actors.wire.commands import AnswerPermission, AnswerUser
from avatar_actors.wire.facts import PermissionAsked, UserAsked

NOBODY_FOR_PERMISSIONS: Final = (
    "nobody could be asked: pass permissions= with a function or another mode, "
    "or subscribe to PermissionEvent"
)
NOBODY_FOR_QUESTIONS: Final = (
    "nobody could be asked: pass questions= with a function, or subscribe to QuestionEvent"
)
# What a model reads; the reason above is for who wrote the host.
_NOBODY_THERE: Final = "Nobody is there to answer. Decide by yourself, or say what you need to know"
_DECLINED: Final = "The user does not want to answer this."
_FOR_THE_MODEL: Final = {
    NOBODY_FOR_PERMISSIONS: "Nobody is there who could allow this.",
    NOBODY_FOR_QUESTIONS: f"{_NOBODY_THERE}.",
}


class HostAnswer(Struct, frozen=True):
    """What the host's function wants: a permit, or answers; None declines the questions."""

    permit: Permit = Permit.REJECT_ONCE
    answers: Answers | None = None
    failure: str = ""
    """Why there is no answer of the host's."""


class Decision(Struct, frozen=True):
    """The reply to the agent and the event for the subscribers."""

    reply: AnswerPermission | AnswerUser
    closed: PermissionClosedEvent | QuestionClosedEvent


def event_of(question: Question, patience: float) -> PermissionEvent | QuestionEvent:
    """The event that asks the host."""
    deadline = 0.0 if math.isinf(patience) else time.time() + patience
    asked = question.asked
    if isinstance(asked, UserAsked):
        return QuestionEvent(
            request_id=question.request_id,
            questions=asked.questions,
            message=asked.message,
            deadline=deadline,
            tool_id=asked.tool_id,
        )
    tool = asked.tool
    return PermissionEvent(
        request_id=question.request_id,
        tool_name=tool.tool_name,
        tool_input=tool.parameters,
        options=asked.options,
        deadline=deadline,
        tool_id=tool.tool_id,
        title=tool.title,
    )


def decision(question: Question | None, given: GivePermit | GiveAnswers) -> Decision:
    """What the host's call means; UnknownRequest if no such question is open."""
    match question, given:
        case Question(asked=PermissionAsked() as asked), GivePermit():
            return permitted(question, asked, given, "host")
        case Question(asked=UserAsked() as asked), GiveAnswers():
            answers = answers_to(asked.questions, given.answers)
            return _answered(question, asked, answers, given.message or _DECLINED)
        case _:
            raise UnknownRequest(f"no open question {given.request_id!r}")


def permitted(question: Question, asked: PermissionAsked, given: GivePermit, why: str) -> Decision:
    """A permit of the host's, of the policy's or of the mode's."""
    reply = AnswerPermission(
        request_id=asked.request_id,
        permit=given.permit,
        option_id=given.option_id,
        message=given.message or _FOR_THE_MODEL.get(why, f"decided by {why}"),
        updated_input=given.updated_input,
    )
    closed = PermissionClosedEvent(request_id=question.request_id, permit=given.permit, why=why)
    return Decision(reply, closed)


def by_function(question: Question, answer: HostAnswer) -> Decision:
    """What the host's function has answered."""
    asked = question.asked
    if answer.failure:
        return refused(question, answer.failure)
    if isinstance(asked, UserAsked):
        return _answered(question, asked, answer.answers, _DECLINED)
    given = GivePermit(request_id=question.request_id, permit=answer.permit)
    return permitted(question, asked, given, "host")


def refused(question: Question, why: str) -> Decision:
    """Nobody has answered: a tool is denied, questions are declined."""
    asked = question.asked
    if isinstance(asked, PermissionAsked):
        given = GivePermit(request_id=question.request_id, permit=Permit.REJECT_ONCE)
        return permitted(question, asked, given, why)
    message = _FOR_THE_MODEL.get(why, f"{_NOBODY_THERE}: {why}.")
    reply = AnswerUser(request_id=asked.request_id, answers=None, message=message)
    return Decision(reply, QuestionClosedEvent(request_id=question.request_id, why=why))


def closed(question: Question, why: str) -> PermissionClosedEvent | QuestionClosedEvent:
    """The event if the agent is not told anything."""
    kind = PermissionClosedEvent if _is_permission(question) else QuestionClosedEvent
    return kind(request_id=question.request_id, why=why)


def warning(question: Question, why: str) -> DiagnosticEvent:
    """Tells whoever reads the log that nobody was there."""
    asked = question.asked
    what = "the model's question was declined"
    if isinstance(asked, PermissionAsked):
        what = f"{asked.tool.tool_name!r} was denied"
    source = "permissions" if _is_permission(question) else "questions"
    return DiagnosticEvent(message=f"{what}: {why}", level=Level.WARNING, source=source)


def _answered(
    question: Question, asked: UserAsked, answers: Answers | None, message: str
) -> Decision:
    is_answered = answers is not None
    reply = AnswerUser(
        request_id=asked.request_id, answers=answers, message="" if is_answered else message
    )
    closed = QuestionClosedEvent(
        request_id=question.request_id,
        is_answered=is_answered,
        why="host" if is_answered else "declined by the host",
    )
    return Decision(reply, closed)


def _is_permission(question: Question) -> bool:
    return isinstance(question.asked, PermissionAsked)
