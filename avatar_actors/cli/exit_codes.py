"""What a script learns from `avatar`: one number, and one line on stderr."""

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
)


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
