"""What a provider is: how an agent is launched and which wire it speaks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from avatar_actors.settings import AvatarSettings
from avatar_actors.wire.wire import Wire


class Place(Struct, frozen=True, kw_only=True):
    """Where one life of the agent happens.

    `private_dir` is ours alone (0700) and goes away with the avatar. `session_id` is a fresh UUID
    for an agent that lets us choose; `resume` the stored session to take up again, or empty.
    """

    private_dir: Path
    session_id: str
    resume: str = ""


class LaunchPlan(Struct, frozen=True, kw_only=True):
    """The command of one life. `files` are written into the private directory first."""

    argv: tuple[str, ...]
    env: dict[str, str] = {}
    files: dict[str, str] = {}


class Provider(Struct, frozen=True, kw_only=True):
    """One kind of agent.

    `plan` may raise SettingsError. `passes` are patterns of the host's environment variables that
    the agent gets besides the harmless ones (PATH, HOME, LANG, …). `install` is what a person
    types when the executable is missing.
    """

    name: str
    plan: Callable[[AvatarSettings, Place], LaunchPlan]
    wire: Callable[[AvatarSettings], Wire]
    passes: tuple[str, ...] = ()
    install: str = ""
