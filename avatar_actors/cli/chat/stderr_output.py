"""What is said on stderr beside the answer: which agent and why, and with -v what happens."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import click
import msgspec

from avatar_actors import (
    ActivityEvent,
    AvatarEvent,
    ContextEvent,
    CostEvent,
    DiagnosticEvent,
    EngineStateEvent,
    PlanEvent,
    SessionInfoEvent,
    TextEvent,
    ThinkingEvent,
    UnrecognisedEvent,
)
from avatar_actors.cli.terminal.text import plain

# What -v leaves to -vv: all that is no step in the life of the avatar, its turn and its tools.
DETAILS: Final = (
    ActivityEvent,
    ContextEvent,
    CostEvent,
    EngineStateEvent,
    PlanEvent,
    SessionInfoEvent,
    ThinkingEvent,
    UnrecognisedEvent,
)
_LONGEST: Final = 200


class Remarks:
    """Lines on stderr, dim where it is a terminal."""

    def __init__(self, verbose: int) -> None:
        self._verbose = verbose
        self.are_seen = sys.stderr is not None and sys.stderr.isatty()

    def say(self, text: str) -> None:
        """Only for who looks: a person, or somebody who asked for more."""
        if self._verbose or self.are_seen:
            line = _line(text)
            short = line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
            _write(click.style(short, dim=True))

    def warn(self, text: str) -> None:
        """For whoever reads stderr."""
        _write(f"avatar: {_line(text)}")

    def tell(self, events: Sequence[AvatarEvent]) -> None:
        """With -v the steps, with -vv each event; the answer itself goes to stdout.

        What ran against the permissions is said in any case.
        """
        for event in events:
            if isinstance(event, DiagnosticEvent) and event.source == "permissions":
                self.warn(event.message)
        if not self._verbose:
            return
        for event in events:
            if isinstance(event, TextEvent):
                continue
            if self._verbose > 1 or not isinstance(event, DETAILS):
                self.say(described(event))


def _write(line: str) -> None:
    # Nobody reads it any more: the answer is what counts.
    with suppress(OSError):
        click.echo(line, err=True)


def described(event: AvatarEvent) -> str:
    """An event in one line: its kind, and whatever it says."""
    fields: dict[str, object] = msgspec.to_builtins(event)
    kind = fields.pop("type")
    shown = (
        f"{name}={_shown(value)}"
        for name, value in fields.items()
        if name not in AvatarEvent.__struct_fields__ and value not in (None, "", (), [], {})
    )
    return f"[{kind}] {' '.join(shown)}".rstrip()


def _shown(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _line(text: str) -> str:
    return " ".join(plain(text).split())
