"""The same work in the runtime's own loop: what an engine's calls are held against."""

import threading
import time
from types import TracebackType

import trio
import trio.from_thread

from avatar_actors import Avatar, TextEvent, open_avatar
from bench.agents.embedded import environment, flood, script

ANSWER = script({"say": "x"})


class Native:
    """A trio program in a thread, so that rounds alternate; nothing crosses while it measures."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._up = threading.Event()
        self._token: trio.lowlevel.TrioToken | None = None
        self._avatar: Avatar | None = None
        self._thread = threading.Thread(target=trio.run, args=(self._main,), daemon=True)

    def __enter__(self) -> "Native":
        self._thread.start()
        self._up.wait(60)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        trio.from_thread.run_sync(self._over.set, trio_token=self._token)
        self._thread.join(60)

    def calls(self, n: int) -> float:
        """Microseconds a call."""
        return trio.from_thread.run(self._calls, n, trio_token=self._token)

    def stream(self, n: int) -> float:
        """Microseconds a piece of text."""
        return trio.from_thread.run(self._stream, n, trio_token=self._token)

    async def _main(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        self._over = trio.Event()
        env = environment(self._path)
        async with open_avatar("embedded", working_dir=self._path, env=env) as self._avatar:
            await self._calls(20)
            self._up.set()
            await self._over.wait()

    async def _calls(self, n: int) -> float:
        assert self._avatar is not None
        began = time.perf_counter()
        for _ in range(n):
            await self._avatar.chat(ANSWER)
        return (time.perf_counter() - began) / n * 1e6

    async def _stream(self, n: int) -> float:
        assert self._avatar is not None
        began, heard = time.perf_counter(), 0
        async with self._avatar.turn(flood(n, "text ")) as turn:
            async for event in turn:
                if type(event) is TextEvent:
                    heard += len(event.text)
        assert heard == n * len("text "), heard
        return (time.perf_counter() - began) / n * 1e6
