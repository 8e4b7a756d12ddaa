"""Tracks the permission requests of Claude Code, and the questions to its user among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from avatar_actors.model.questions import Answers, QuestionOption, UserQuestion
from avatar_actors.model.values import JsonObject, PermissionOption, Permit
from avatar_actors.wire.claude.lines import as_object, as_objects
from avatar_actors.wire.claude.outgoing import control_success
from avatar_actors.wire.claude.tools import ClaudeTools
from avatar_actors.wire.commands import AnswerPermission, AnswerUser
from avatar_actors.wire.facts import Fact, PermissionAsked, RequestWithdrawn, UserAsked
from avatar_actors.wire.json_values import text_at
from avatar_actors.wire.phases import Phase, PhaseTracker
from avatar_actors.wire.shared_events import remark

MAX_PENDING: Final = 64
ONCE: Final = PermissionOption("allow_once", Permit.ALLOW_ONCE, "Allow once")
ALWAYS: Final = PermissionOption("allow_always", Permit.ALLOW_ALWAYS, "Allow in this session")
CANCELLED: Final = {"behavior": "deny", "message": "cancelled", "interrupt": True}
REJECT: Final = PermissionOption("reject_once", Permit.REJECT_ONCE, "Reject")

ASK_USER: Final = "AskUserQuestion"
# More than a person would answer. The tool's own schema allows 4 questions of 4 options (2.1.325).
MOST_QUESTIONS: Final = 32
MOST_OPTIONS: Final = 256


class ClaudeQuestion(Struct, frozen=True):
    """A request that waits for its answer."""

    tool_id: str
    tool_input: JsonObject
    suggestions: tuple[JsonObject, ...]
    questions: tuple[UserQuestion, ...] = ()
    """What the model asks the user; then it is not about a tool."""


class ClaudePermissions:
    """The open requests; each gets exactly one answer unless the CLI withdraws it."""

    def __init__(
        self, progress: PhaseTracker, tools: ClaudeTools, send: Callable[[bytes], None]
    ) -> None:
        self._progress = progress
        self._tools = tools
        self._send = send
        self._pending: dict[str, ClaudeQuestion] = {}

    def ask(self, request_id: str, request: JsonObject) -> list[Fact]:
        """The CLI asks whether a tool may run; the tool may be a question to the user."""
        if request_id in self._pending:
            return [remark(f"permission request {request_id[:80]!r} came twice")]
        if self._progress.phase is Phase.CANCELLING:
            self._send(control_success(request_id, CANCELLED))
            return []
        if len(self._pending) >= MAX_PENDING:
            self._send(control_success(request_id, _deny("too many permission requests wait")))
            return [remark(f"more than {MAX_PENDING} permission requests wait; one was rejected")]
        tool_input = as_object(request.get("input"))
        tool_id, name = text_at(request, "tool_use_id"), text_at(request, "tool_name")
        questions = questions_in(tool_input) if name == ASK_USER else ()
        pending = ClaudeQuestion(tool_id, tool_input, _suggestions(request), questions)
        self._pending[request_id] = pending
        if questions:
            return [UserAsked(request_id=request_id, questions=questions, tool_id=tool_id)]
        tool = self._tools.approval(name, tool_id, tool_input)
        options = (ONCE, ALWAYS, REJECT) if pending.suggestions else (ONCE, REJECT)
        return [PermissionAsked(request_id=request_id, tool=tool, options=options)]

    def answer(self, answer: AnswerPermission) -> list[Fact]:
        """The host has decided."""
        pending = self._pending.pop(answer.request_id, None)
        if pending is None and answer.permit is Permit.CANCELLED:
            return []
        if pending is None:
            return [remark(f"permission request {answer.request_id[:80]!r} is not open")]
        if not answer.permit.allows:
            self._send(control_success(answer.request_id, _deny(answer.message)))
            return []
        self._send(control_success(answer.request_id, _allow(answer, pending)))
        return [*self._tools.approved(pending.tool_id)]

    def answer_user(self, answer: AnswerUser) -> list[Fact]:
        """The user has answered, or declined: then the model hears why."""
        pending = self._pending.pop(answer.request_id, None)
        if pending is None:
            return [remark(f"the question {answer.request_id[:80]!r} is not open")]
        if answer.answers is None:
            self._send(control_success(answer.request_id, _deny(answer.message)))
            return []
        given = answered_input(pending.tool_input, pending.questions, answer.answers)
        response: JsonObject = {"behavior": "allow", "updatedInput": given}
        self._send(control_success(answer.request_id, response))
        return []

    def withdraw(self, request_id: str) -> list[Fact]:
        """The CLI no longer waits for this answer."""
        known = self._pending.pop(request_id, None)
        return [RequestWithdrawn(request_id)] if known else []

    def forget_all(self) -> list[Fact]:
        """Drop all requests without an answer."""
        requests = list(self._pending)
        self._pending.clear()
        return [RequestWithdrawn(request_id) for request_id in requests]

    def cancel_all(self) -> list[Fact]:
        """Deny all requests: the turn is being cancelled."""
        for request_id in self._pending:
            self._send(control_success(request_id, CANCELLED))
        return self.forget_all()


def _allow(answer: AnswerPermission, pending: ClaudeQuestion) -> JsonObject:
    # 2.1.197 treats an answer without updatedInput as a denial.
    given = answer.updated_input
    response: JsonObject = {
        "behavior": "allow",
        "updatedInput": pending.tool_input if given is None else given,
    }
    if answer.permit is Permit.ALLOW_ALWAYS and pending.suggestions:
        response["updatedPermissions"] = list(pending.suggestions)
    return response


def _deny(message: str) -> JsonObject:
    return {"behavior": "deny", "message": message or "The user does not allow this."}


def _suggestions(request: JsonObject) -> tuple[JsonObject, ...]:
    """What "always" means: the rules for this very call, or all suggestions if they do not suffice.

    2.1.325 suggests beside the rule also the mode acceptEdits: more than was asked for, so it is
    left out where it can be. Where a path is the reason (`blocked_path`) neither the rule nor the
    directory keeps it from asking again, only the mode does (measured). Its first suggestion has
    the destination "localSettings", which writes a file into the working directory: all of them go
    to the session.
    """
    offered = as_objects(request.get("permission_suggestions"))
    rules = [one for one in offered if one.get("type") == "addRules"]
    chosen = offered if request.get("blocked_path") or not rules else rules
    return tuple({**one, "destination": "session"} for one in chosen)


def questions_in(tool_input: JsonObject) -> tuple[UserQuestion, ...]:
    """The questions; none if the input is not what the tool takes."""
    asked = as_objects(tool_input.get("questions"))
    questions = [_user_question(number, one) for number, one in enumerate(asked, 1)]
    if len(questions) > MOST_QUESTIONS or not all(map(_is_whole, questions)):
        return ()
    return tuple(questions)


def answered_input(
    tool_input: JsonObject, questions: tuple[UserQuestion, ...], answers: Answers
) -> JsonObject:
    """The input that carries the answers: by the text of each question, as the tool reads them."""
    by_text = {
        one.text: ", ".join(answers[one.question_id])
        for one in questions
        if one.question_id in answers
    }
    return {**tool_input, "answers": by_text}


def _user_question(number: int, asked: JsonObject) -> UserQuestion:
    options = as_objects(asked.get("options"))
    return UserQuestion(
        question_id=f"q{number}",
        text=text_at(asked, "question"),
        header=text_at(asked, "header"),
        options=tuple(
            QuestionOption(text_at(one, "label"), text_at(one, "description")) for one in options
        ),
        is_multiple=asked.get("multiSelect") is True,
        # The tool always offers "Other".
        takes_text=True,
    )


def _is_whole(question: UserQuestion) -> bool:
    return bool(question.text) and len(question.options) <= MOST_OPTIONS
