"""The exit codes of `avatar`, and the one line on stderr that says what to do next."""

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
    UnknownRequest,
)
from avatar_actors.cli.terminal.text import one_line


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


def code_of(ended: TurnEndedEvent) -> ExitCode:
    """The exit code for this end of a turn."""
    failed = ExitCode.NO_PROVIDER if ended.needs_login else ExitCode.FAILED
    return OUTCOMES.get(ended.outcome, failed)


class Failure(click.ClickException):
    """Ends a command with one line on stderr and an exit code."""

    def __init__(self, message: str, code: ExitCode = ExitCode.FAILED) -> None:
        super().__init__(" ".join(message.split()))
        self.code = code


def nobody_reads() -> Failure:
    """The reader has closed the pipe, which is no mistake: as in Unix tools, without a message."""
    return Failure("", ExitCode.OUTPUT_CLOSED)


def terminal_gone() -> Failure:
    """The terminal's window was closed."""
    return Failure("the terminal is gone", ExitCode.OUTPUT_CLOSED)


def failure_of(error: AvatarError) -> Failure:
    """An error of the library as one line, with what to do about it."""
    match error:
        case AgentNotFound() | AgentNeedsLogin():
            code = ExitCode.NO_PROVIDER
        case SettingsError():
            code = ExitCode.USAGE
        case _:
            code = ExitCode.FAILED
    if isinstance(error, AvatarStartError) and isinstance(error, UnknownRequest):
        # The session that was asked for.
        message = f"{error.message.rstrip('.')}; to see those that can be: avatar session list"
        return Failure(message, ExitCode.USAGE)
    if isinstance(error, AvatarStartError) and error.advice:
        return Failure(f"{error.message.rstrip('.')}. {error.advice}", code)
    return Failure(str(error), code)


_LONGEST: Final = 500
ADVICE: Final = {
    Outcome.TIMED_OUT: "; a longer --timeout gives it more time",
    Outcome.OVER_BUDGET: "; a higher --budget lets it go on",
    Outcome.REFUSED: "; rephrase the prompt",
    Outcome.CRASHED: "; continue with: --continue",
}


def failure_message(ended: TurnEndedEvent) -> str:
    """How a turn failed, for stderr; empty if it was completed."""
    if ended.outcome is Outcome.COMPLETED:
        return ""
    # The library's advice on a budget is for programs; ours is for the command line.
    reason = ended.reason.partition("; raise it")[0]
    reason = one_line(reason).rstrip(".")
    if len(reason) > _LONGEST:
        reason = f"{reason[:_LONGEST]}…"
    return f"{_named(ended.outcome, reason)}{_advice(ended)}"


def _named(outcome: Outcome, reason: str) -> str:
    if outcome is Outcome.CANCELLED and reason:
        return reason
    word = "interrupted" if outcome is Outcome.CANCELLED else outcome.value.replace("_", " ")
    return f"{word}: {reason}" if reason not in {"", word} else word


def _advice(ended: TurnEndedEvent) -> str:
    if ended.outcome is Outcome.CRASHED and ended.can_retry:
        return "; nothing was done yet: send it again"
    if ended.outcome is Outcome.CRASHED and ended.unknown_tools:
        names = {call.tool_id: one_line(call.tool_name) for call in ended.tool_calls}
        tools = ", ".join(names.get(tool, tool) for tool in ended.unknown_tools)
        return f"; check what its tools have done ({tools}), then continue with: --continue"
    return ADVICE.get(ended.outcome, "")
