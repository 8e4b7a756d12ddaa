"""The ACP SDK on asyncio, as its examples do: spawn_agent_process and a client that hears."""

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack
from typing import Any

import acp
from acp.interfaces import Agent

from bench.comparison.work.interface import Came, Client, Setting
from bench.comparison.work.on_asyncio import OnAsyncio
from bench.comparison.work.playbook import main


class Hearing(acp.Client):
    """The pieces of text of each session, in the order in which they came."""

    def __init__(self) -> None:
        self.pieces: dict[str, list[str]] = {}
        self.waiting: dict[str, asyncio.Queue[str | None]] = {}

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        if isinstance(update, acp.schema.AgentMessageChunk):
            text: str = getattr(update.content, "text", "")
            self.pieces.setdefault(session_id, []).append(text)
            if session_id in self.waiting:
                self.waiting[session_id].put_nowait(text)


class Session:
    def __init__(self, agent: Agent, hearing: Hearing, name: str) -> None:
        self._agent = agent
        self._hearing = hearing
        self._name = name

    async def call(self, prompt: str) -> str:
        return "".join(await self._answer(prompt))

    async def count(self, prompt: str) -> Came:
        heard = await self._answer(prompt)
        return Came(len(heard), sum(map(len, heard)))

    async def stream(self, prompt: str) -> AsyncGenerator[str]:
        pieces = self._hearing.waiting[self._name] = asyncio.Queue()
        asking = asyncio.ensure_future(self._prompt(prompt))
        asking.add_done_callback(lambda _: pieces.put_nowait(None))
        try:
            while (piece := await pieces.get()) is not None:
                yield piece
            await asking
        finally:
            asking.cancel()
            self._hearing.waiting.pop(self._name, None)

    async def _answer(self, prompt: str) -> list[str]:
        """What the session said meanwhile: the protocol does not tell to which prompt."""
        heard = self._hearing.pieces.setdefault(self._name, [])
        before = len(heard)
        await self._prompt(prompt)
        return heard[before:]

    async def _prompt(self, prompt: str) -> None:
        await self._agent.prompt(session_id=self._name, prompt=[acp.text_block(prompt)])


class Agents:
    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._open = AsyncExitStack()
        self._last: tuple[Agent, Hearing] | None = None

    async def open(self) -> Client:
        # The agent calls no other method of the protocol.
        hearing = Hearing()  # type: ignore[abstract]  # pyright: ignore[reportAbstractUsage]
        env = {**os.environ, **self._setting.environment}
        spawned = acp.spawn_agent_process(
            hearing, self._setting.launcher, env=env, cwd=self._setting.home
        )
        agent, _ = await self._open.enter_async_context(spawned)
        await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
        self._last = agent, hearing
        return (await self.apart(1))[0]

    async def apart(self, count: int) -> Sequence[Client]:
        assert self._last is not None
        agent, hearing = self._last
        made = [
            await agent.new_session(cwd=self._setting.home, mcp_servers=[]) for _ in range(count)
        ]
        return [Session(agent, hearing, each.session_id) for each in made]

    async def close(self) -> None:
        await self._open.aclose()


if __name__ == "__main__":
    main(Agents, OnAsyncio())
