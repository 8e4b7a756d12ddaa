"""The same turn with the ACP SDK on asyncio: a client that counts updates."""

import asyncio
import os
import time
from typing import Any

import acp

from bench.agents.embedded import ACP, environment, flood, home

WARM_UP = 200


class _Counter(acp.Client):
    def __init__(self) -> None:
        self.count = 0
        self._wanted = 0
        self._all = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.count += getattr(update, "session_update", "") == "agent_message_chunk"
        if self.count == self._wanted:
            self._all.set()

    def expect(self, count: int) -> None:
        self.count, self._wanted, self._all = 0, count, asyncio.Event()

    async def all_came(self) -> None:
        await self._all.wait()


def sdk(n: int) -> float:
    """Microseconds per piece of text."""
    return asyncio.run(_run(n))


async def _run(n: int) -> float:
    # The agent calls no other method of the protocol.
    counter = _Counter()  # type: ignore[abstract]  # pyright: ignore[reportAbstractUsage]
    with home() as path:
        env = {**os.environ, **environment(path)}
        async with acp.spawn_agent_process(counter, *ACP.command, env=env, cwd=path) as (agent, _):
            await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
            session = await agent.new_session(cwd=path, mcp_servers=[])
            took = 0.0
            for size in (WARM_UP, n):
                counter.expect(size)
                began = time.process_time()
                prompt: list[Any] = [acp.text_block(flood(size))]
                await agent.prompt(session_id=session.session_id, prompt=prompt)
                await counter.all_came()
                took = time.process_time() - began
    return took / n * 1e6
