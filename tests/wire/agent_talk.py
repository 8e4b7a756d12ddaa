"""A wire with a real process at its other end, for tests that drive both."""

import os
import subprocess
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import trio

from avatar_actors.providers.provider import LaunchPlan
from avatar_actors.wire.commands import Command
from avatar_actors.wire.facts import Fact
from avatar_actors.wire.wire import Wire
from tests.fake_agents import launcher

F = TypeVar("F")


class Talk:
    """What was said on both sides so far."""

    def __init__(self, wire: Wire, process: trio.Process) -> None:
        self.facts: list[Fact] = []
        self.wire = wire
        self.process = process

    async def say(self, command: Command) -> None:
        self.facts += self.wire.command(command)
        await self._send()

    async def hear(self, kind: type[F]) -> F:
        """The next fact of this kind; those before it are kept in `facts`."""
        assert self.process.stdout is not None
        while True:
            for at, fact in enumerate(self.facts):
                if isinstance(fact, kind):
                    del self.facts[at]
                    return fact
            data = await self.process.stdout.receive_some(65536)
            assert data, f"the agent ended: {self.facts}"
            self.facts += self.wire.receive(bytes(data))
            await self._send()

    def take(self) -> list[Fact]:
        """All facts that nobody has taken."""
        facts, self.facts = self.facts, []
        return facts

    async def _send(self) -> None:
        assert self.process.stdin is not None
        await self.process.stdin.send_all(self.wire.data_to_send())


@asynccontextmanager
async def talk(
    wire: Wire, plan: LaunchPlan, cwd: Path, argv: Callable[[Sequence[str]], Sequence[str]] = list
) -> AsyncGenerator[Talk, None]:
    """Run the plan's command, possibly changed by `argv`, for as long as this lasts."""
    with trio.fail_after(60):
        process = await trio.lowlevel.open_process(
            argv(plan.argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **plan.env, "AVATAR_EMBEDDED_HOME": str(cwd / "home")},
            cwd=cwd,
        )
        try:
            yield Talk(wire, process)
        finally:
            process.kill()
            await process.wait()


def fake_claude(argv: Sequence[str]) -> list[str]:
    """The same flags for the fake Claude instead of `claude`."""
    return [*launcher.command("claude"), *argv[1:]]
