"""Whole avatars on the embedded agent: how they are opened, prompted and watched in these tests."""

import json
import os
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar, Unpack

import trio

from avatar_actors import (
    Avatar,
    AvatarEvent,
    AvatarOptions,
    BridgeState,
    EventStream,
    Runtime,
    StateEvent,
    Turn,
    open_runtime,
)
from tests.fake_agents import launcher

E = TypeVar("E", bound=AvatarEvent)

# Generous: on a loaded machine everything takes ten times as long.
PATIENCE = 60


def script(*steps: dict[str, Any]) -> str:
    return f"SCRIPT:{json.dumps(steps)}"


class Home:
    """Where the avatars of one test live."""

    def __init__(self, tmp_path: Path) -> None:
        self.work = tmp_path / "work"
        self.work.mkdir()
        self.store = tmp_path / "store"
        self.own_files: dict[str, bytes] = {}

    def put(self, name: str, text: str) -> None:
        """A file that was there before the avatar came."""
        (self.work / name).write_text(text)
        self.own_files = self.files()

    def files(self) -> dict[str, bytes]:
        """What is in the working directory."""
        found = [path for path in self.work.rglob("*") if path.is_file()]
        return {str(path.relative_to(self.work)): path.read_bytes() for path in found}

    def options(self, *start: dict[str, Any], **options: Unpack[AvatarOptions]) -> AvatarOptions:
        """These options, with what a test needs; `start` are faults of the agent's start."""
        given = options.get("env", {})
        env = {
            "AVATAR_EMBEDDED_HOME": str(self.store),
            "AVATAR_EMBEDDED_SCRIPTS": "1",
            **given,
        }
        if start:
            env["AVATAR_EMBEDDED_START"] = json.dumps(start)
        # At the host's own priority: other tests that are busy must not hold up the agent.
        shared: AvatarOptions = {"working_dir": self.work, "priority": "normal"}
        merged: AvatarOptions = {**shared, **options, "env": env}
        return merged

    @asynccontextmanager
    async def avatar(
        self, *start: dict[str, Any], agent: str = "acp", **options: Unpack[AvatarOptions]
    ) -> AsyncGenerator[Avatar]:
        """One avatar, in a runtime of its own; everything within the patience of a test."""
        async with self.runtime() as runtime:
            provider = launcher.agent(agent)
            yield await runtime.start(provider, "aria", **self.options(*start, **options))

    async def kill(self, avatar: Avatar) -> None:
        """The agent's process, at once."""
        pid = (await avatar.health()).pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)

    async def kill_when_ready(self, avatar: Avatar) -> None:
        """The next life of the agent, as soon as it is there."""
        async with avatar.events(StateEvent) as states:
            if (await avatar.health()).pid is None:
                await until(states, StateEvent, lambda e: e.new_state is BridgeState.READY)
            await self.kill(avatar)
            await until(states, StateEvent, lambda e: e.new_state is BridgeState.ERROR)

    @asynccontextmanager
    async def runtime(self) -> AsyncGenerator[Runtime]:
        with trio.fail_after(PATIENCE):
            async with open_runtime() as runtime:
                yield runtime


async def until(
    stream: EventStream | Turn, kind: type[E], is_it: Callable[[E], bool] = lambda _: True
) -> E:
    """The next event of this kind for which it is so; what comes before is passed over."""
    async for event in stream:
        if isinstance(event, kind) and is_it(event):
            return event
    raise AssertionError(f"the stream ended without a {kind.__name__}")


async def all_of(turn: Turn) -> list[AvatarEvent]:
    return [event async for event in turn]
