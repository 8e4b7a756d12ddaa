"""claude-agent-sdk on asyncio, as its documentation does: ClaudeSDKClient with a cli_path."""

import importlib
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from bench.comparison.work.interface import Came, Client, Setting
from bench.comparison.work.on_asyncio import OnAsyncio
from bench.comparison.work.playbook import main

# It is not in this project's environment, so no type checker finds it.
sdk: Any = importlib.import_module("claude_agent_sdk")


class Conversation:
    def __init__(self, client: Any) -> None:
        self._client = client

    async def call(self, prompt: str) -> str:
        await self._client.query(prompt)
        said: list[str] = []
        async for message in self._client.receive_response():
            if isinstance(message, sdk.AssistantMessage):
                said += [block.text for block in message.content if hasattr(block, "text")]
        return "".join(said)

    async def stream(self, prompt: str) -> AsyncGenerator[str]:
        await self._client.query(prompt)
        async for message in self._client.receive_response():
            if isinstance(message, sdk.StreamEvent):
                text = message.event.get("delta", {}).get("text")
                if text:
                    yield text

    async def count(self, prompt: str) -> Came:
        came = Came()
        async for piece in self.stream(prompt):
            came.add(piece)
        return came


class Conversations:
    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._clients: list[Any] = []

    async def open(self) -> Client:
        client = sdk.ClaudeSDKClient(
            sdk.ClaudeAgentOptions(
                cli_path=self._setting.launcher,
                cwd=self._setting.home,
                env=self._setting.environment,
                # Without it text comes whole at its end.
                include_partial_messages=True,
            )
        )
        await client.connect()
        self._clients.append(client)
        return Conversation(client)

    async def apart(self, count: int) -> Sequence[Client]:
        return ()

    async def close(self) -> None:
        for client in self._clients:
            await client.disconnect()


if __name__ == "__main__":
    main(Conversations, OnAsyncio())
