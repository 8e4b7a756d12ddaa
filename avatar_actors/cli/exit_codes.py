"""What a script learns from `avatar`: one number, and one line that says what to do next."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import click

from avatar_actors import (
    AgentNeedsLogin,
    AgentNotFound,
    AvatarError,
    AvatarStartError,
    Outcome,
    SettingsError,
    TurnEndedEvent,
)
from avatar_actors.cli.terminal.text import plain


class ExitCode(IntEnum):
    """The exit codes of `avatar`; docs/cli.md has them for users."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NO_PROVIDER = 3
    OVER_BUDGET = 4
    REFUSED = 5
    INTERRUPTED = 130
    OUTPUT_CLOSED = 141
    TERMINATED = 143


OUTCOMES: Final = {
    Outcome.COMPLETED: ExitCode.OK,
    Outcome.CANCELLED: ExitCode.INTERRUPTED,
    Outcome.OVER_BUDGET: ExitCode.OVER_BUDGET,
    Outcome.REFUSED: ExitCode.REFUSED,
}


def code_of(outcome: Outcome) -> ExitCode:
    """How a command ends whose turn has ended so."""
    return OUTCOMES.get(outcome, ExitCode.FAILED)


class Failure(click.ClickException):
    """The end of a command: this one line on stderr, and this exit code."""

    def __init__(self, message: str, code: ExitCode = ExitCode.FAILED) -> None:
        super().__init__(" ".join(message.split()))
        self.code = code


def nobody_reads() -> Failure:
    """The other end of the pipe is closed."""
    return Failure("nobody reads the output any more", ExitCode.OUTPUT_CLOSED)


def terminal_gone() -> Failure:
    """Its window was closed."""
    return Failure("the terminal is gone", ExitCode.OUTPUT_CLOSED)


def failure_of(error: AvatarError) -> Failure:
    """An error of the library, in one line with what to do about it."""
    match error:
        case AgentNotFound() | AgentNeedsLogin():
            code = ExitCode.NO_PROVIDER
        case SettingsError():
            code = ExitCode.USAGE
        case _:
            code = ExitCode.FAILED
    if isinstance(error, AvatarStartError) and error.advice:
        return Failure(f"{error.message.rstrip('.')}. {error.advice}", code)
    return Failure(str(error), code)


_LONGEST: Final = 500
ADVICE: Final = {
    Outcome.TIMED_OUT: "; a longer --timeout gives it more time",
    Outcome.OVER_BUDGET: "; a higher --budget lets it go on",
    Outcome.REFUSED: "; ask in another way",
    Outcome.CRASHED: "; go on with: --continue",
}


def failure_message(ended: TurnEndedEvent) -> str:
    """For stderr; nothing if it was answered."""
    if ended.outcome is Outcome.COMPLETED:
        return ""
    # What the library advises of a budget is for programs, as ours is for a command line.
    reason = ended.reason.partition("; raise it")[0]
    reason = " ".join(plain(reason).split()).rstrip(".")
    if len(reason) > _LONGEST:
        reason = f"{reason[:_LONGEST]}…"
    return f"{_named(ended.outcome, reason)}{_advice(ended)}"


def _named(outcome: Outcome, reason: str) -> str:
    word = "interrupted" if outcome is Outcome.CANCELLED else outcome.value.replace("_", " ")
    return f"{word}: {reason}" if reason not in {"", word} else word


def _advice(ended: TurnEndedEvent) -> str:
    if ended.outcome is Outcome.CRASHED and ended.can_retry:
        return "; nothing had been done yet: send it again"
    if ended.outcome is Outcome.CRASHED and ended.unknown_tools:
        names = {call.tool_id: plain(call.tool_name) for call in ended.tool_calls}
        tools = ", ".join(names.get(tool, tool) for tool in ended.unknown_tools)
        return f"; look at what its tools have done ({tools}), then go on with: --continue"
    return ADVICE.get(ended.outcome, "")
