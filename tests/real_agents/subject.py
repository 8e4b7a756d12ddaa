"""A real agent under test: its own HOME and TMPDIR, the loopback model, its events recorded."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Unpack

import trio

from avatar_actors import (
    Avatar,
    AvatarOptions,
    PermissionEvent,
    Permit,
    Restarts,
    Timeouts,
    Turn,
    open_avatar,
)
from tests.conformance.remains import leaving_nothing
from tests.conformance.subject import EventRecorder, recorded
from tests.model_api.script import Script, echo
from tests.model_api.server import ModelApi, open_model_api
from tests.real_agents.agents import AgentContext, RealAgent
from tests.real_agents.install.agents import InstalledAgent

# The slowest agent takes 14 s to start on a busy machine; a test waits for it several times.
PATIENCE = 240
UNHURRIED = Timeouts(start=120, interrupt=20, stop=5)
UNTIRING = Restarts(max_restarts=100, factor=1.0)
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


class Agent(RealAgent, frozen=True, kw_only=True):
    """One of the real agents, installed here."""

    installed: InstalledAgent


class RealSubject:
    """An avatar on a real agent, and all that a test looks at."""

    def __init__(
        self,
        agent: Agent,
        avatar: Avatar,
        recorder: EventRecorder,
        api: ModelApi,
        place: Path,
    ) -> None:
        self.agent, self.avatar, self.recorder, self.api = agent, avatar, recorder, api
        self.work, self.home = place / "work", place / "home"

    async def allow_all(self, turn: Turn) -> None:
        """Read the turn to its end, and allow what it asks for."""
        async for event in turn:
            if isinstance(event, PermissionEvent):
                await self.avatar.answer(event.request_id, Permit.ALLOW_ONCE)


def lay_out(place: Path) -> None:
    """The directories of one test."""
    for name in ("home", "tmp", "work"):
        (place / name).mkdir(mode=0o700, exist_ok=True)


def options_of(agent: Agent, api: ModelApi, place: Path) -> AvatarOptions:
    """What the avatar is opened with. Nothing of the tester's own environment reaches the agent."""
    needs = agent.needs(AgentContext(api.url, place / "home"))
    folders = (*agent.installed.extra_path, Path(agent.installed.command[0]).parent)
    env = {
        "HOME": str(place / "home"),
        "TMPDIR": str(place / "tmp"),
        "XDG_RUNTIME_DIR": str(place / "tmp"),
        "PATH": os.pathsep.join([*map(str, folders), SYSTEM_PATH]),
        **needs.get("env", {}),
    }
    options: AvatarOptions = {
        "working_dir": place / "work",
        "timeouts": UNHURRIED,
        "restarts": UNTIRING,
        **needs,
        "executable": agent.installed.command[-1],
        "env": env,
    }
    return options


@asynccontextmanager
async def open_subject(
    agent: Agent, place: Path, script: Script = echo, **options: Unpack[AvatarOptions]
) -> AsyncGenerator[RealSubject]:
    """The avatar for the length of a block; afterwards nothing of it is left.

    `env`, `options` and `args` are added to what the agent needs; the others replace it.
    """
    lay_out(place)
    with trio.fail_after(PATIENCE), leaving_nothing():
        async with open_model_api(script) as api:
            chosen = options_of(agent, api, place)
            added: AvatarOptions = {
                "env": {**chosen.get("env", {}), **options.pop("env", {})},
                "options": {**chosen.get("options", {}), **options.pop("options", {})},
                "args": (*chosen.get("args", ()), *options.pop("args", ())),
            }
            wished: AvatarOptions = {**chosen, **options, **added}
            async with (
                open_avatar(agent.provider, **wished) as avatar,
                recorded(avatar) as recorder,
            ):
                yield RealSubject(agent, avatar, recorder, api, place)
