"""avatar-engine on asyncio, as its documentation does: AvatarEngine, its codex provider for ACP."""

import importlib
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from bench.comparison.work.interface import Came, Client, NotCompleted, Setting
from bench.comparison.work.on_asyncio import OnAsyncio
from bench.comparison.work.playbook import main

# It is not in this project's environment, so no type checker finds it.
engine: Any = importlib.import_module("avatar_engine")
PROVIDERS = {"acp": "codex", "claude": "claude"}


class Engine:
    def __init__(self, made: Any) -> None:
        self._engine = made

    async def call(self, prompt: str) -> str:
        response = await self._engine.chat(prompt)
        if not response.success:
            raise NotCompleted(str(response.error))
        content: str = response.content
        return content

    async def stream(self, prompt: str) -> AsyncGenerator[str]:
        async for piece in self._engine.chat_stream(prompt):
            yield piece

    async def count(self, prompt: str) -> Came:
        came = Came()
        async for piece in self._engine.chat_stream(prompt):
            came.add(piece)
        return came


class Engines:
    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._engines: list[Any] = []

    async def open(self) -> Client:
        made = engine.AvatarEngine(
            provider=PROVIDERS[self._setting.wire],
            working_dir=self._setting.home,
            executable=self._setting.launcher,
            executable_args=[],
            env=self._setting.environment,
            # Its safe mode puts a text in front of the first prompt, as the others do not.
            safety_instructions="unrestricted",
        )
        await made.start()
        self._engines.append(made)
        return Engine(made)

    async def apart(self, count: int) -> Sequence[Client]:
        return ()

    async def close(self) -> None:
        for each in self._engines:
            await each.stop()


if __name__ == "__main__":
    main(Engines, OnAsyncio())
