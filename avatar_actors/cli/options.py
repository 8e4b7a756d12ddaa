"""The options shared by commands, and the frozen value that holds them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

import click
from msgspec import Struct

from avatar_actors import PermissionMode
from avatar_actors.cli.completion import complete_provider, complete_session

R = TypeVar("R")
Option: TypeAlias = Callable[[Callable[..., R]], Callable[..., R]]


class CommandOptions(Struct, frozen=True, kw_only=True):
    """What was typed. Empty, None or False leaves it to the configuration, then to the library."""

    provider: str = ""
    model: str = ""
    config: Path | None = None
    cwd: Path | None = None
    timeout: float | None = None
    permission: PermissionMode | None = None
    budget: float | None = None
    resume: str = ""
    continue_last: bool = False
    fork: str = ""
    as_json: bool = False
    show_thinking: bool = False
    verbose: int = 0


class _Seconds(click.ParamType[float]):
    name = "seconds"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """A number of seconds above 0, or `none`."""
        if str(value).lower() in {"none", "inf"}:
            return math.inf
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if not seconds > 0:
            self.fail(f"{value!r} is not a number of seconds above 0, or none", param, ctx)
        return seconds


PROVIDER: Final = click.option(
    "-p",
    "--provider",
    default="",
    metavar="NAME",
    shell_complete=complete_provider,
    help="The agent; see `avatar providers`.",
)
MODEL: Final = click.option(
    "-m", "--model", default="", metavar="NAME", help="The model, by the agent's name for it."
)
CONFIG: Final = click.option(
    "-c",
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The configuration file (default: $AVATAR_CONFIG, ./.avatar.yaml, your own).",
)
CWD: Final = click.option(
    "-C",
    "--cwd",
    metavar="DIR",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The agent's working directory.",
)
JSON: Final = click.option("--json", "as_json", is_flag=True, help="One object per line, as JSON.")
_BEGINNING: Final = (
    click.option(
        "--resume",
        default="",
        metavar="ID",
        shell_complete=complete_session,
        help="Resume a stored session.",
    ),
    click.option(
        "--fork",
        default="",
        metavar="ID",
        shell_complete=complete_session,
        help="Continue in a copy of a stored session.",
    ),
    click.option(
        "--continue",
        "continue_last",
        is_flag=True,
        help="Resume the last session of the directory.",
    ),
)
_LIMITS: Final = (
    click.option(
        "--timeout", type=_Seconds(), metavar="SECONDS", help="The most time a turn may take."
    ),
    click.option(
        "--permission",
        type=click.Choice([mode.value for mode in PermissionMode]),
        help="safe: read only; ask: you decide; unrestricted: the agent decides.",
    ),
    click.option(
        "--budget",
        type=click.FloatRange(min=0),
        metavar="USD",
        help="The most this run may cost.",
    ),
)
_EVENTS: Final = click.option(
    "--json", "as_json", is_flag=True, help="One event per line, as JSON, on stdout."
)
_SNAPSHOTS: Final = click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="One snapshot of the tree per line, with its changes, as JSON, on stdout.",
)
_TELLING: Final = (
    click.option(
        "--show-thinking",
        is_flag=True,
        help="Show the thoughts themselves, not only their subject.",
    ),
    click.option(
        "-v", "--verbose", count=True, help="Show more of what happens; -vv: every event."
    ),
)
# For a conversation whose session is named otherwise.
TALK: Final = (PROVIDER, MODEL, CONFIG, CWD, *_LIMITS, _EVENTS, *_TELLING)
# For a conversation of a person with an avatar.
AVATAR: Final = (PROVIDER, MODEL, CONFIG, CWD, *_LIMITS, *_BEGINNING)
_WAYS: Final = {"resume": "--resume", "continue_last": "--continue", "fork": "--fork"}


def avatar_options(command: Callable[..., R]) -> Callable[..., R]:
    """Give a command these options; it gets them as `wanted`, its first argument."""
    return with_options(*AVATAR, _EVENTS, *_TELLING)(command)


def tree_options(command: Callable[..., R]) -> Callable[..., R]:
    """The same for a command whose JSON is snapshots of a tree, not events."""
    return with_options(*AVATAR, _SNAPSHOTS, *_TELLING)(command)


def with_options(*options: Option[R]) -> Option[R]:
    """The same with some options: a command takes none that it would ignore."""

    def decorated(command: Callable[..., R]) -> Callable[..., R]:
        @wraps(command)
        def with_wanted(**arguments: Any) -> R:
            names = set(CommandOptions.__struct_fields__)
            typed = {name: arguments.pop(name) for name in names & set(arguments)}
            chosen = [name for name in _WAYS if typed.get(name)]
            if len(chosen) > 1:
                first, second = (_WAYS[name] for name in chosen[:2])
                raise click.UsageError(f"{first} and {second} exclude each other")
            if typed.get("permission") is not None:
                typed["permission"] = PermissionMode(typed["permission"])
            return command(CommandOptions(**typed), **arguments)

        optioned: Callable[..., R] = with_wanted
        for option in reversed(options):
            optioned = option(optioned)
        return optioned

    return decorated
