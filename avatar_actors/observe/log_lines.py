"""The log line of each event (logger, level, text), and the filter that hides secrets in it.

Lines hold no content of turns. Where they are written is left to `log_output`.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager
from functools import singledispatch

from msgspec import Struct

from avatar_actors.model.errors import AvatarStartError, SettingsError
from avatar_actors.model.events import (
    AvatarEvent,
    ContinuityEvent,
    DiagnosticEvent,
    ErrorEvent,
    EventsLostEvent,
    OrphansReapedEvent,
    StallEvent,
    StateEvent,
    SupervisionEvent,
    TurnEndedEvent,
    TurnStartedEvent,
    UnrecognisedEvent,
)
from avatar_actors.model.redaction import Redactor
from avatar_actors.model.values import BridgeState, Continuity, Level, Outcome, StallVerdict, Usage
from supervisors import StartFailed

TURNS = "avatar_actors.turns"
SESSIONS = "avatar_actors.sessions"
SUPERVISION = "avatar_actors.supervision"
AGENTS = "avatar_actors.agents"
BUDGET = "avatar_actors.budget"

_LONGEST = 500
_NOT_FAILED = {Outcome.COMPLETED, Outcome.CANCELLED}
_STATES = {
    BridgeState.WARMING_UP: (logging.DEBUG, "the agent is being started"),
    BridgeState.READY: (logging.INFO, "its session is ready"),
    BridgeState.BUSY: (logging.DEBUG, "its session is busy"),
    BridgeState.DISCONNECTED: (logging.INFO, "its session has ended"),
    BridgeState.ERROR: (logging.WARNING, "its session was lost"),
}
_NOTICES = {
    "ready": (logging.DEBUG, "is running"),
    "crashed": (logging.WARNING, "crashed"),
    "restarting": (logging.WARNING, "is restarted in {delay:.3g} s"),
    "gave_up": (logging.ERROR, "gave up"),
    "stuck": (logging.ERROR, "ignores its stop and is left behind"),
}
_LEVELS = {
    Level.DEBUG: logging.DEBUG,
    Level.INFO: logging.INFO,
    Level.WARNING: logging.WARNING,
    Level.ERROR: logging.ERROR,
}


class LogLine(Struct, frozen=True):
    """One line of the log."""

    logger: str
    level: int
    text: str


def line_of(event: AvatarEvent) -> LogLine | None:
    """The line for an event; None for those that are not logged."""
    line = _line(event)
    if line is None or not event.avatar:
        return line
    return LogLine(line.logger, line.level, f"{event.avatar} ({event.provider}): {line.text}")


def one_line(text: str) -> str:
    """The beginning of the first line, without characters that a terminal would act on."""
    first = next(iter(text.splitlines()), "")[:_LONGEST]
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in first)


@singledispatch
def _line(_: AvatarEvent) -> LogLine | None:
    return None


@_line.register
def _started(event: TurnStartedEvent) -> LogLine:
    cause = _because(event.prompt) if event.unasked else ""
    return LogLine(TURNS, logging.INFO, f"turn {event.turn_id} started{cause}")


@_line.register
def _ended(event: TurnEndedEvent) -> LogLine:
    level = logging.INFO if event.outcome in _NOT_FAILED else logging.WARNING
    words = f"turn {event.turn_id} {event.outcome.value} after {event.duration:.3g} s"
    return LogLine(TURNS, level, words + _used(event.usage) + _because(event.reason))


@_line.register
def _stalled(event: StallEvent) -> LogLine:
    level = logging.WARNING if event.verdict is StallVerdict.WEDGED else logging.INFO
    words = f"nothing heard for {event.seconds:.3g} s, {event.verdict.value.replace('_', ' ')}"
    return LogLine(TURNS, level, words + _because(event.evidence))


@_line.register
def _moved(event: StateEvent) -> LogLine:
    level, words = _STATES[event.new_state]
    if event.old_state is BridgeState.BUSY and event.new_state is BridgeState.READY:
        level, words = logging.DEBUG, "its session is free again"
    return LogLine(SESSIONS, level, words + _because(event.detail))


@_line.register
def _continued(event: ContinuityEvent) -> LogLine:
    level = logging.WARNING if event.continuity is Continuity.FRESH else logging.INFO
    words = f"the agent's memory of the session: {event.continuity.value}"
    return LogLine(SESSIONS, level, words + _because(event.why))


@_line.register
def _reaped(event: OrphansReapedEvent) -> LogLine:
    words = f"{event.count} process(es) that the agent left behind are gone"
    return LogLine(SESSIONS, logging.INFO, words)


@_line.register
def _supervised(event: SupervisionEvent) -> LogLine:
    level, words = _NOTICES.get(event.notice, (logging.INFO, event.notice))
    part = event.path.rpartition("/")[2]
    words = f"{part} {words.format(delay=event.delay)}"
    return LogLine(SUPERVISION, level, words + _because(event.detail))


@_line.register
def _remarked(event: DiagnosticEvent) -> LogLine:
    if event.source == "stderr":
        return LogLine(AGENTS, logging.DEBUG, f"stderr: {one_line(event.message)}")
    logger = BUDGET if event.source == "budget" else AGENTS
    return LogLine(logger, _LEVELS[event.level], one_line(event.message))


@_line.register
def _unrecognised(event: UnrecognisedEvent) -> LogLine:
    words = f"a message of {len(event.raw)} characters was not understood ({event.source})"
    return LogLine(AGENTS, logging.DEBUG, words)


@_line.register
def _failed(event: ErrorEvent) -> LogLine | None:
    # An error that the avatar recovers from is reported by its state.
    if event.recoverable:
        return None
    return LogLine(SUPERVISION, logging.ERROR, one_line(event.error))


@_line.register
def _lost(event: EventsLostEvent) -> LogLine:
    return LogLine(
        SUPERVISION, logging.WARNING, f"{event.count} event(s) came too fast to be logged"
    )


def _because(why: str) -> str:
    return f": {one_line(why)}" if why else ""


def _used(usage: Usage) -> str:
    words = f", {usage.tokens} tokens" if usage.tokens else ""
    return words if usage.cost_usd is None else f"{words}, {usage.cost_usd:.6g} USD"


LOGGED: tuple[type[AvatarEvent], ...] = tuple(
    kind for kind in _line.registry if kind not in {object, AvatarEvent}
)
LOGGERS = (TURNS, SESSIONS, SUPERVISION, AGENTS, BUDGET)


PACKAGE = "avatar_actors"
_OURS = (PACKAGE, "supervisors")
_TRACEBACKS = logging.Formatter()

# Without a configured `logging`, Python prints warnings and errors to stderr. These loggers only
# repeat events, so they stay silent then; crashes and failing handlers have other loggers.
for _name in LOGGERS:
    logging.getLogger(_name).addHandler(logging.NullHandler())


def _calm_start_failure(record: logging.LogRecord) -> bool:
    """Make a failed start an INFO: its error is raised in who started the avatar."""
    error = record.exc_info[1] if record.exc_info else None
    while isinstance(error, StartFailed):
        error = error.__cause__
    if isinstance(error, (AvatarStartError, SettingsError)):
        record.levelno, record.levelname = logging.INFO, "INFO"
    return True


logging.getLogger("supervisors").addFilter(_calm_start_failure)


class SecretsFilter(logging.Filter):
    """Passes every record and changes only those that show a secret. For any thread.

    Filters are called outside of what `logging` guards, so nothing is raised here: a record that
    cannot be checked goes out without its text.
    """

    def __init__(self) -> None:
        super().__init__()
        self._of_avatars: dict[str, Redactor] = {}
        self._ended: set[str] = set()
        self.known = Redactor()

    def learn(self, avatar: str, redactor: Redactor) -> None:
        """Hide an avatar's secrets, and forget those of avatars that have ended."""
        # First learn: what both have must be hidden all the time.
        self.known.learn(redactor)
        for name in {avatar, *self._ended} & self._of_avatars.keys():
            self.known.forget(self._of_avatars.pop(name))
        self._ended.clear()
        self._of_avatars[avatar] = redactor

    def let_go(self, avatar: str) -> None:
        """The avatar has ended. Its last lines may still come, so the next `learn` forgets it."""
        self._ended.add(avatar)

    def filter(self, record: logging.LogRecord) -> bool:
        """Hide secrets in the message, the traceback and the stack."""
        try:
            self._hide_in(record)
        except Exception as error:  # noqa: BLE001 - foreign code: arguments and their str()
            _empty(record, error)
        return True

    def _hide_in(self, record: logging.LogRecord) -> None:
        hide = self.known.hide
        message = record.getMessage()
        shown = hide(message)
        if shown != message:
            record.msg, record.args = shown, None
        if record.exc_info and record.exc_info[0] is not None:
            traceback = record.exc_text or _TRACEBACKS.formatException(record.exc_info)
            shown = hide(traceback)
            if shown != traceback:
                # Else a handler would print the error itself.
                record.exc_info, record.exc_text = None, shown
        if record.stack_info:
            record.stack_info = hide(record.stack_info)


def _empty(record: logging.LogRecord, error: Exception) -> None:
    """Leave only where the record came from, since the rest may show a secret."""
    where = f"{record.pathname}:{record.lineno}"
    record.msg = f"a log record of {where} could not be checked: {type(error).__name__}"
    record.args = record.exc_info = record.exc_text = record.stack_info = None


@contextmanager
def hiding_secrets() -> Generator[SecretsFilter]:
    """Put the filter on all our loggers for the length of a block."""
    secrets = SecretsFilter()
    known = [name for name in logging.Logger.manager.loggerDict if name.startswith(f"{PACKAGE}.")]
    loggers = [logging.getLogger(name) for name in {*_OURS, *LOGGERS, *known}]
    for logger in loggers:
        logger.addFilter(secrets)
    try:
        yield secrets
    finally:
        for logger in loggers:
            logger.removeFilter(secrets)
