"""Puts what happens around the answer into words, one line each; with `-v` every event."""

from __future__ import annotations

from typing import Final, NamedTuple

from avatar_actors import (
    ActivityEvent,
    AvatarEvent,
    ContextEvent,
    Continuity,
    ContinuityEvent,
    CostEvent,
    DiagnosticEvent,
    EngineStateEvent,
    ErrorEvent,
    EventsLostEvent,
    Level,
    OrphansReapedEvent,
    Outcome,
    PermissionClosedEvent,
    PermissionEvent,
    Permit,
    PlanEvent,
    QuestionClosedEvent,
    QuestionEvent,
    QueueEvent,
    RetryEvent,
    SessionInfoEvent,
    StallEvent,
    StateEvent,
    SupervisionEvent,
    ThinkingEvent,
    ToolEvent,
    TurnEndedEvent,
    TurnStartedEvent,
    UnrecognisedEvent,
)
from avatar_actors.cli.terminal import formatting
from avatar_actors.cli.terminal.rendering import Signs
from avatar_actors.cli.terminal.text import one_line, plain

# After an avatar gave up; the status line and the error say the same.
GAVE_UP: Final = "the next prompt starts a new conversation"
_AT_ONCE: Final = 0.05


class NoticeLine(NamedTuple):
    """A line that stays, and the number of `-v` from which on it is shown."""

    look: str
    words: str
    verbose: int = 0


def notice(event: AvatarEvent, signs: Signs) -> list[NoticeLine]:
    """The lines for this event; none if it is shown elsewhere or only by `lifecycle`."""
    match event:
        case ErrorEvent():
            lines = _error(event, signs)
        case SupervisionEvent():
            lines = _supervision(event, signs)
        case ContinuityEvent():
            lines = [_continuity(event, signs)]
        case DiagnosticEvent():
            lines = [_diagnostic(event, signs)]
        case TurnStartedEvent(prompt=cause) if event.unasked:
            lines = [NoticeLine("dim", f"{signs.again} unasked: {one_line(cause)}")]
        case TurnEndedEvent():
            lines = _ending(event, signs)
        case _:
            line = _remark(event, signs)
            lines = [line] if line is not None else []
    return lines


def _remark(event: AvatarEvent, signs: Signs) -> NoticeLine | None:
    match event:
        case RetryEvent(attempt=attempt, of=of, delay=delay):
            words = f"trying again in {formatting.seconds(delay)} (attempt {attempt} of {of}): "
            return NoticeLine("warning", f"{signs.again} {words}{one_line(event.reason)}")
        case OrphansReapedEvent(count=count):
            words = f"ended {count} process(es) that the agent had left behind"
            return NoticeLine("dim", f"{signs.ok} {words}")
        case EventsLostEvent(count=count):
            words = f"{count} event(s) are missing: this screen was too slow"
            return NoticeLine("warning", f"{signs.warning} {words}")
        case UnrecognisedEvent(source=source, raw=raw):
            words = f"not understood, from {one_line(source)}: {one_line(raw, 300)}"
            return NoticeLine("dim", f"{signs.unknown} {words}", 1)
        case StateEvent(old_state=old, new_state=new, detail=detail):
            words = f"[state] {old.value} {signs.arrow} {new.value} {one_line(detail)}"
            return NoticeLine("dim", words, 1)
        case _:
            return None


_ANSWERS: Final = {
    Permit.ALLOW_ONCE: "allowed",
    Permit.ALLOW_ALWAYS: "always allowed",
    Permit.REJECT_ONCE: "denied",
    Permit.REJECT_ALWAYS: "always denied",
    Permit.CANCELLED: "cancelled",
}


def answered(
    event: PermissionClosedEvent | QuestionClosedEvent, tool: str, signs: Signs
) -> NoticeLine:
    """The answer to a request or a question; an allowed tool is shown by itself."""
    if isinstance(event, QuestionClosedEvent):
        if event.is_answered:
            return NoticeLine("dim", f"{signs.ok} answered: {tool}")
        return NoticeLine("warning", f"{signs.failed} not answered: {tool} ({one_line(event.why)})")
    words = _ANSWERS[event.permit]
    who = "by you" if event.why == "host" else one_line(event.why)
    if event.permit.allows:
        return NoticeLine("dim", f"{signs.ok} {words}: {tool} ({who})", 1)
    sign = signs.cancelled if event.permit is Permit.CANCELLED else signs.failed
    return NoticeLine("warning", f"{sign} {words}: {tool} ({who})")


def _error(event: ErrorEvent, signs: Signs) -> list[NoticeLine]:
    words = one_line(event.error)
    if event.recoverable:
        return [NoticeLine("failed", f"{signs.failed} {words}; restarting the agent")]
    advice = f"{GAVE_UP}; --continue or /resume goes on with this one"
    return [
        NoticeLine("failed", f"{signs.failed} {words}"),
        NoticeLine("dim", f"  {signs.arrow} {advice}"),
    ]


def _supervision(event: SupervisionEvent, signs: Signs) -> list[NoticeLine]:
    part = one_line(event.path).rpartition("/")[2]
    match event.notice:
        case "restarting":
            when = f"in {formatting.seconds(event.delay)}" if event.delay > _AT_ONCE else "now"
            return [NoticeLine("warning", f"{signs.again} restarting {part} {when}")]
        case "gave_up":
            words = f"{signs.failed} {part} gave up: {one_line(event.detail)} failed too often"
            return [NoticeLine("failed", words)]
        case "stuck":
            return [NoticeLine("warning", f"{signs.warning} {part} did not stop in time")]
        case _:
            words = f"[supervision] {one_line(event.notice)} {one_line(event.path)}"
            return [NoticeLine("dim", f"{words} {one_line(event.detail)}", 1)]


def _continuity(event: ContinuityEvent, signs: Signs) -> NoticeLine:
    why = one_line(event.why)
    match event.continuity:
        case Continuity.RESUMED:
            return NoticeLine("ok", f"{signs.ok} back; the conversation was resumed")
        case Continuity.FRESH:
            because = f": {why}" if why else ""
            words = f"{signs.warning} back, but without memory of the conversation{because}"
            return NoticeLine("warning", words)
        case Continuity.PENDING:
            words = "back; the next prompt will show whether the conversation was resumed"
            return NoticeLine("dim", f"{signs.ok} {words}")
        case Continuity.NEW:
            return NoticeLine("dim", f"[continuity] new session {one_line(event.session_id)}", 1)


def _diagnostic(event: DiagnosticEvent, signs: Signs) -> NoticeLine:
    words = plain(event.message).expandtabs(4).strip()
    source = one_line(event.source)
    if event.level is Level.ERROR:
        return NoticeLine("failed", f"{signs.failed} {source}: {words}")
    if event.level is Level.WARNING:
        return NoticeLine("warning", f"{signs.warning} {source}: {words}")
    # It explains why nothing happens for a while.
    if source == "rate limit":
        return NoticeLine("dim", f"{signs.waiting} {source}: {words}")
    return NoticeLine("dim", f"[{source}] {words}", 1 if event.level is Level.INFO else 2)


def _ending(event: TurnEndedEvent, signs: Signs) -> list[NoticeLine]:
    took = formatting.seconds(event.duration)
    reason = plain(event.reason).expandtabs(4).strip()
    if event.outcome is Outcome.COMPLETED:
        words = f" {signs.dot} ".join([f"{signs.ok} {took}", *formatting.used(event.usage)])
        return [NoticeLine("dim", words)]
    if event.outcome is Outcome.CANCELLED:
        because = f": {reason}" if reason not in {"", "interrupted"} else ""
        return [NoticeLine("warning", f"{signs.cancelled} interrupted after {took}{because}")]
    words, advice = _failure(event)
    told = f"{words}: {reason}" if reason else words
    lines = [NoticeLine("failed", f"{signs.failed} {told}")]
    return [*lines, NoticeLine("dim", f"  {signs.arrow} {advice}")] if advice else lines


def _failure(event: TurnEndedEvent) -> tuple[str, str]:
    match event.outcome:
        case Outcome.REFUSED:
            return "the agent refused", "rephrase the prompt, or ask another agent (-p)"
        case Outcome.TIMED_OUT:
            return "out of time", "allow more with --timeout, or ask for less"
        case Outcome.OVER_BUDGET:
            return "over budget", "raise it with --budget"
        case Outcome.REJECTED:
            return "not sent", "wait for the current turn to end, then send it again"
        case Outcome.CRASHED:
            return "the turn broke off", _after_a_crash(event)
        case _:
            return "failed", "send it again" if event.can_retry else ""


def _after_a_crash(event: TurnEndedEvent) -> str:
    if event.unknown_tools:
        number = len(event.unknown_tools)
        return f"{number} tool call(s) were running: check what they did before you send it again"
    if event.can_retry:
        return "no tool had run: send it again"
    return "check what was done, and continue from there"


def lifecycle(event: AvatarEvent) -> NoticeLine | None:
    """The line that `-v` or `-vv` adds for this event; None if there is none."""
    words, verbose = _words(event)
    return NoticeLine("dim", one_line(words, 400), verbose) if words else None


def _words(event: AvatarEvent) -> tuple[str, int]:
    match event:
        case TurnStartedEvent(turn_id=turn_id, prompt=prompt):
            return f"[turn start] {turn_id}: {prompt}", 1
        case ThinkingEvent():
            return _thinking(event), 1
        case SessionInfoEvent():
            return _session(event), 1
        case StallEvent(verdict=verdict, seconds=seconds, evidence=evidence):
            return f"[stall] {verdict.value} for {seconds:.0f}s: {evidence}", 1
        case _:
            return _detail(event), 2


def _thinking(event: ThinkingEvent) -> str:
    if event.is_start:
        about = f" {event.phase.value}, guessed" if event.synthetic else f" {event.phase.value}"
        return f"[thinking start] block {event.block_id}{about}"
    if event.is_complete:
        tokens = f", {event.token_count} tokens" if event.token_count else ""
        return f"[thinking end] block {event.block_id}{tokens}"
    return ""


def _session(event: SessionInfoEvent) -> str:
    told = {"title": event.title, "mode": event.mode, "model": event.model}
    words = [f"{name} {value}" for name, value in told.items() if value is not None]
    if event.commands is not None:
        words.append(f"{len(event.commands)} command(s)")
    return f"[session] {', '.join(words)}" if words else ""


def _detail(event: AvatarEvent) -> str:
    match event:
        case EngineStateEvent(old_state=old, new_state=new):
            words = f"[engine state] {old.value} to {new.value}"
        case ToolEvent(tool_name=name, tool_id=tool_id, status=status):
            words = f"[tool] {name} {tool_id} {status.value}"
        case ActivityEvent(activity_id=activity_id, status=status, activity_type=kind):
            words = f"[activity] {kind} {activity_id} {status.value}"
        case CostEvent(cost_usd=cost, input_tokens=tokens_in, output_tokens=tokens_out):
            words = f"[cost] {cost} USD, {tokens_in} in, {tokens_out} out ({event.source.value})"
        case ContextEvent(used_tokens=used, size_tokens=size):
            words = f"[context] {used} of {size}"
        case PlanEvent(entries=entries):
            words = f"[plan] {len(entries)} step(s)"
        case QueueEvent(waiting=waiting):
            words = f"[queue] {waiting} wait"
        case PermissionEvent(request_id=request_id, tool_name=name):
            words = f"[permission] {request_id} {name}"
        case QuestionEvent(request_id=request_id, questions=questions):
            words = f"[question] {request_id} {len(questions)} to answer"
        case _:
            words = ""
    return words
