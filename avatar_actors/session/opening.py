"""How a bridge opens the agent's session, and what its failure or end means."""

from __future__ import annotations

import itertools
from typing import Any, NoReturn

from msgspec import Struct
from msgspec.structs import replace

from avatar_actors.model import errors
from avatar_actors.model.events import (
    AvatarEvent,
    ContinuityEvent,
    DiagnosticEvent,
    SessionInfoEvent,
    UnrecognisedEvent,
)
from avatar_actors.model.permission_rules import Rules
from avatar_actors.model.prices import PriceList
from avatar_actors.model.redaction import Redactor
from avatar_actors.model.values import Continuity, Level, ProviderCapabilities
from avatar_actors.processes import exit_words
from avatar_actors.providers.lookup import too_old
from avatar_actors.session import messages
from avatar_actors.session.messages import ResumePlan
from avatar_actors.wire import commands, facts
from supervisors import Address, AskFailed, Reply

_FAILURES = {
    facts.OpenFailure.NEEDS_LOGIN: errors.AgentNeedsLogin,
    facts.OpenFailure.NOT_FOUND: errors.AgentNotFound,
}
_NOT_RESUMED = frozenset({Continuity.NEW, Continuity.FRESH})
# Fields that may hold any text: garbage, error messages, lines the wire does not know.
_REMARKS: dict[type[facts.Fact], tuple[str, ...]] = {
    DiagnosticEvent: ("message",),
    UnrecognisedEvent: ("raw",),
    facts.TurnOver: ("error", "stop_reason"),
    facts.UnaskedTurnBegun: ("cause",),
    facts.Answered: ("error",),
    facts.Opened: ("why",),
    facts.OpenFailed: ("message", "advice"),
    facts.Broken: ("message",),
}


class AgentEnd(Struct, frozen=True, kw_only=True):
    """The agent's end of this life: a process, or a connection, which has no pid.

    `life` is told apart from those before and after it in the avatar's life.
    """

    plan: ResumePlan
    pid: int | None
    life: str
    containment: str


class SessionOpening(Struct, frozen=True, kw_only=True):
    """How the agent's session is to be opened."""

    command: commands.Open
    agent: AgentEnd
    minimum: dict[str, str]
    has_store: bool
    patience: float
    interrupt_grace: float
    redactor: Redactor
    prices: PriceList
    rules: Rules
    known_tools: frozenset[str]

    def news(self, continuity: ContinuityEvent, opened: facts.Opened) -> list[AvatarEvent]:
        """What a host should know of the agent that has just started."""
        told: list[AvatarEvent] = []
        if continuity.continuity is not Continuity.NEW:
            told.append(continuity)
        if opened.model:
            told.append(SessionInfoEvent(model=opened.model))
        if old := too_old(opened.capabilities, self.minimum):
            told.append(DiagnosticEvent(message=old, level=Level.WARNING, source="agent"))
        for words in self.rules.warnings(self.known_tools):
            told.append(DiagnosticEvent(message=words, level=Level.WARNING, source="permissions"))
        return told

    def ready(
        self,
        opened: facts.Opened,
        continuity: ContinuityEvent,
        bridge: Address[messages.BridgeMessage],
        process: Address[messages.ProcessMessage],
    ) -> messages.SessionReady:
        """The news that the agent takes prompts, with the bridge's address."""
        return messages.SessionReady(
            bridge=bridge,
            process=process,
            capabilities=opened.capabilities,
            session_id=opened.session_id,
            pid=self.agent.pid,
            continuity=continuity.continuity,
            why=continuity.why,
        )

    def completed(self, said: ProviderCapabilities) -> ProviderCapabilities:
        """The agent's own capabilities, with those that we add."""
        can_find = said.can_list_sessions or self.has_store
        return replace(
            said,
            containment=self.agent.containment,
            can_continue_last=said.can_load_session and can_find,
        )


class PendingCalls:
    """Requests to the agent that wait for its answer."""

    def __init__(self) -> None:
        self._replies: dict[int, Reply[Any]] = {}
        self._numbers = itertools.count(1)

    def add(self, reply: Reply[Any]) -> int:
        """Add a request; returns its number."""
        number = next(self._numbers)
        self._replies[number] = reply
        return number

    def settle(self, answered: facts.Answered) -> None:
        """The agent has answered."""
        reply = self._replies.pop(answered.call_id, None)
        if reply is not None and answered.error:
            reply.fail(errors.Unsupported(answered.error))
        elif reply is not None:
            reply.send(answered.result)


async def death_of(
    ended: messages.StreamEnded, stderr: Address[messages.StderrTail]
) -> errors.AgentError | errors.AvatarStartError:
    """The error to end the session with after the agent's last word."""
    if ended.error is not None:
        return ended.error
    return errors.AgentDied(await cause_of_death(stderr, ended.returncode), ended.returncode)


async def cause_of_death(stderr: Address[messages.StderrTail], returncode: int | None) -> str:
    """How the agent ended, with the last lines of its stderr."""
    closed = "the agent closed its stdout"
    how = closed if returncode is None else exit_words(returncode)
    try:
        tail = await stderr.ask(messages.StderrTail(), timeout=1)
    except AskFailed:
        return how
    return "\n".join([how, *tail[-5:]])


def continuity_of(opened: facts.Opened, plan: ResumePlan) -> ContinuityEvent:
    """What the agent remembers, from the plan and from its own report."""
    continuity, why = opened.continuity, opened.why
    if plan.continuity is not Continuity.NEW and continuity is Continuity.NEW:
        continuity, why = Continuity.FRESH, plan.lost or "the agent started a new session"
    elif plan.begins is commands.Beginning.FORK and continuity is Continuity.RESUMED:
        why = f"a fork of {plan.session_id}"
    return ContinuityEvent(
        continuity=continuity, session_id=opened.session_id, why=why or plan.lost
    )


def why_not_resumed(opened: facts.Opened, plan: ResumePlan) -> str:
    """Why this is not the session that the host named, or a fork of it; else nothing."""
    if plan.begins is commands.Beginning.FORK and not opened.capabilities.can_fork_session:
        return "the agent cannot fork a session"
    if plan.is_demanded and opened.continuity in _NOT_RESUMED:
        return opened.why or "the agent cannot resume that session"
    return ""


async def end_session(
    actors: messages.OuterActors, error: errors.AgentError | errors.AvatarStartError
) -> NoReturn:
    """Tell the outer actors why the session ends, and end it."""
    returncode = error.returncode if isinstance(error, errors.AgentDied) else None
    await actors.tracker.tell(messages.SessionDown(has_died=True))
    await actors.turn_queue.tell(messages.SessionLost(str(error), returncode, has_died=True))
    raise error


def refusal_of(failed: facts.OpenFailed) -> errors.AvatarStartError:
    """The error for an agent that opened no session."""
    return _FAILURES.get(failed.failure, errors.AgentRefused)(failed.message, failed.advice)


async def refuse_start(actors: messages.OuterActors, error: errors.AvatarStartError) -> NoReturn:
    """Fail the start; the turn queue decides whether another attempt makes sense."""
    if isinstance(error, errors.AgentNeedsLogin):
        await actors.turn_queue.tell(messages.LoginRefused(error.message, error.advice))
    raise error


def without_secrets(fact: facts.Fact, redactor: Redactor) -> facts.Fact:
    """Hide secrets in diagnostics; what the agent says or does is the host's to see."""
    for name in _REMARKS.get(type(fact), ()):
        fact = replace(fact, **{name: redactor.hide(getattr(fact, name))})
    return fact
