"""A host with the ACP SDK on asyncio, as its examples do."""

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from typing import Any

import acp
from acp.interfaces import Agent

from bench.paced_load import SHORT_TURN, WARM_UP, Found, Listener, Load, run_host, turns_since


class _Client(acp.Client):
    def __init__(self) -> None:
        self.hear: Callable[[str], object] = len
        self.has_heard = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        if isinstance(update, acp.schema.AgentMessageChunk):
            self.hear(getattr(update.content, "text", ""))
            self.has_heard.set()


def sdk(load: Load, command: Sequence[str]) -> Found:
    return asyncio.run(_short_turns(load, command) if load.turns else _streams(load, command))


async def _streams(load: Load, command: Sequence[str]) -> Found:
    async with AsyncExitStack() as stack:
        agents = [await _agent(stack, command) for _ in range(load.agents)]
        listener = Listener(load)
        turns: list[asyncio.Future[None]] = []
        for (agent, client), text in zip(agents, listener.prompts(), strict=True):
            client.hear = listener.hear
            turns.append(asyncio.ensure_future(_prompt(agent, text)))
        for moment in (listener.start, listener.end):
            await asyncio.sleep(moment - time.monotonic())
            listener.look()
        await asyncio.gather(*turns)
        return listener.found()


async def _short_turns(load: Load, command: Sequence[str]) -> Found:
    async with AsyncExitStack() as stack:
        agent, client = await _agent(stack, command)
        began = 0.0
        for number in range(-WARM_UP, load.turns):
            began = time.process_time() if number == 0 else began
            client.has_heard.clear()
            await _prompt(agent, SHORT_TURN)
            await client.has_heard.wait()
        return turns_since(began, load.turns)


async def _agent(stack: AsyncExitStack, command: Sequence[str]) -> tuple[Agent, _Client]:
    # The agent calls no other method of the protocol.
    client = _Client()  # type: ignore[abstract]  # pyright: ignore[reportAbstractUsage]
    spawned = acp.spawn_agent_process(client, *command, env=dict(os.environ))
    agent, _ = await stack.enter_async_context(spawned)
    await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
    await agent.new_session(cwd="/", mcp_servers=[])
    return agent, client


async def _prompt(agent: Agent, text: str) -> None:
    await agent.prompt(session_id="quiet", prompt=[acp.text_block(text)])


if __name__ == "__main__":
    run_host(sdk)
