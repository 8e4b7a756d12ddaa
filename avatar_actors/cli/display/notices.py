"""What happens around the answer, in a line each, with what to do next."""

from __future__ import annotations

from typing import Final, NamedTuple

from avatar_actors import (
    AvatarEvent,
    Continuity,
    ContinuityEvent,
    DiagnosticEvent,
    ErrorEvent,
    EventsLostEvent,
    Level,
    OrphansReapedEvent,
    Outcome,
    PermissionClosedEvent,
    Permit,
    RetryEvent,
    StateEvent,
    SupervisionEvent,
    TurnEndedEvent,
    UnrecognisedEvent,
)
from avatar_actors.cli.display.style import Signs
from avatar_actors.cli.terminal import measures
from avatar_actors.cli.terminal.harmless import one_line, without_codes

# What becomes of an avatar that nobody starts again.
GAVE_UP: Final = "the next prompt begins anew"
_AT_ONCE: Final = 0.05


class Line(NamedTuple):
    """A line that stays, and from which `-v` on it is shown."""

    look: str
    words: str
    verbose: int = 0


def happening(event: AvatarEvent, signs: Signs) -> list[Line]:
    """What to say of this event; nothing: it is seen elsewhere, or only with all events."""
    match event:
        case ErrorEvent():
            lines = _error(event, signs)
        case SupervisionEvent():
            lines = _supervision(event, signs)
        case ContinuityEvent():
            lines = [_continuity(event, signs)]
        case DiagnosticEvent():
            lines = [_diagnostic(event, signs)]
        case TurnEndedEvent():
            lines = _ending(event, signs)
        case _:
            line = _remark(event, signs)
            lines = [line] if line is not None else []
    return lines


def _remark(event: AvatarEvent, signs: Signs) -> Line | None:
    match event:
        case RetryEvent(attempt=attempt, of=of, delay=delay):
            words = f"again in {measures.seconds(delay)} (attempt {attempt} of {of}): "
            return Line("warning", f"{signs.again} {words}{one_line(event.reason)}")
        case OrphansReapedEvent(count=count):
            words = f"ended with the agent: {count} process(es) that it had left behind"
            return Line("dim", f"{signs.ok} {words}")
        case EventsLostEvent(count=count):
            words = f"{count} event(s) are missing here: this screen was too slow for them"
            return Line("warning", f"{signs.warning} {words}")
        case UnrecognisedEvent(source=source, raw=raw):
            words = f"not understood, from {one_line(source)}: {one_line(raw, 300)}"
            return Line("dim", f"{signs.unknown} {words}", 1)
        case StateEvent(old_state=old, new_state=new, detail=detail):
            words = f"[state] {old.value} {signs.arrow} {new.value} {one_line(detail)}"
            return Line("dim", words, 1)
        case _:
            return None


def answered(event: PermissionClosedEvent, tool: str, signs: Signs) -> Line:
    """What became of a question. What was allowed is seen by its tool."""
    words = event.permit.value.replace("_", " ")
    if event.permit.allows:
        return Line("dim", f"{signs.ok} {words}: {tool} ({one_line(event.why)})", 1)
    sign = signs.cancelled if event.permit is Permit.CANCELLED else signs.failed
    return Line("warning", f"{sign} {words}: {tool} ({one_line(event.why)})")


def _error(event: ErrorEvent, signs: Signs) -> list[Line]:
    words = one_line(event.error)
    if event.recoverable:
        return [Line("failed", f"{signs.failed} {words}; it is started again")]
    advice = f"{GAVE_UP}; --continue, or /resume, goes on with this conversation"
    return [
        Line("failed", f"{signs.failed} {words}"),
        Line("dim", f"  {signs.arrow} {advice}"),
    ]


def _supervision(event: SupervisionEvent, signs: Signs) -> list[Line]:
    part = one_line(event.path).rpartition("/")[2]
    match event.notice:
        case "restarting":
            when = f"in {measures.seconds(event.delay)}" if event.delay > _AT_ONCE else "now"
            return [Line("warning", f"{signs.again} restarting {part} {when}")]
        case "gave_up":
            words = f"{signs.failed} {part} gave up: {one_line(event.detail)} failed too often"
            return [Line("failed", words)]
        case "stuck":
            return [Line("warning", f"{signs.warning} {part} does not stop in time")]
        case _:
            words = f"[supervision] {one_line(event.notice)} {one_line(event.path)}"
            return [Line("dim", f"{words} {one_line(event.detail)}", 1)]


def _continuity(event: ContinuityEvent, signs: Signs) -> Line:
    why = one_line(event.why)
    match event.continuity:
        case Continuity.RESUMED:
            return Line("ok", f"{signs.ok} back, the conversation was resumed")
        case Continuity.FRESH:
            because = f": {why}" if why else ""
            words = f"{signs.warning} back, without memory of the conversation{because}"
            return Line("warning", words)
        case Continuity.PENDING:
            words = "back; the next prompt shows whether the conversation was resumed"
            return Line("dim", f"{signs.ok} {words}")
        case Continuity.NEW:
            return Line("dim", f"[continuity] new session {one_line(event.session_id)}", 1)


def _diagnostic(event: DiagnosticEvent, signs: Signs) -> Line:
    words = without_codes(event.message).strip()
    source = one_line(event.source)
    if event.level is Level.ERROR:
        return Line("failed", f"{signs.failed} {source}: {words}")
    if event.level is Level.WARNING:
        return Line("warning", f"{signs.warning} {source}: {words}")
    # It says why nothing happens for a while.
    if source == "rate limit":
        return Line("dim", f"{signs.waiting} {source}: {words}")
    return Line("dim", f"[{source}] {words}", 1 if event.level is Level.INFO else 2)


def _ending(event: TurnEndedEvent, signs: Signs) -> list[Line]:
    took = measures.seconds(event.duration)
    reason = without_codes(event.reason).strip()
    if event.outcome is Outcome.COMPLETED:
        words = f" {signs.dot} ".join([f"{signs.ok} {took}", *measures.used(event.usage)])
        return [Line("dim", words)]
    if event.outcome is Outcome.CANCELLED:
        because = f": {reason}" if reason not in {"", "interrupted"} else ""
        return [Line("warning", f"{signs.cancelled} interrupted after {took}{because}")]
    words, advice = _failure(event)
    told = f"{words}: {reason}" if reason else words
    lines = [Line("failed", f"{signs.failed} {told}")]
    return [*lines, Line("dim", f"  {signs.arrow} {advice}")] if advice else lines


def _failure(event: TurnEndedEvent) -> tuple[str, str]:
    match event.outcome:
        case Outcome.REFUSED:
            return "the agent refuses", "say it in other words, or ask another agent (-p)"
        case Outcome.TIMED_OUT:
            return "out of time", "give it more with --timeout, or ask for less"
        case Outcome.OVER_BUDGET:
            return "over budget", "raise it with --budget"
        case Outcome.REJECTED:
            return "not sent", "wait for the present turn to end, then send it again"
        case Outcome.CRASHED:
            return "the turn broke off", _after_a_crash(event)
        case _:
            return "failed", "send it again" if event.can_retry else ""


def _after_a_crash(event: TurnEndedEvent) -> str:
    if event.unknown_tools:
        number = len(event.unknown_tools)
        return f"{number} tool call(s) were under way: see what they did before you send it again"
    return "no tool had run: send it again" if event.can_retry else "see what was done, go on there"
