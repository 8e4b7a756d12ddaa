"""A stretch of the way to an agent, which a test can cut, freeze and take away."""

import itertools
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import trio


class Wireline:
    """Passes bytes on, in both directions, as long as it is let."""

    def __init__(self, target: int) -> None:
        self._target = target
        # What was last asked over each connection.
        self._asked: dict[tuple[trio.SocketStream, trio.SocketStream], bytes] = {}
        self._listening = trio.CancelScope()
        self._is_flowing = trio.Event()
        self._is_flowing.set()
        self.port = 0
        self.passed = 0

    def freeze(self) -> None:
        """From now on nothing passes, and nobody is told: as if a cable had been pulled."""
        self._is_flowing = trio.Event()

    def thaw(self) -> None:
        """The cable is in again."""
        self._is_flowing.set()

    async def cut(self, asked: bytes = b"") -> None:
        """Every connection ends now, over which such a thing was asked."""
        found = [ends for ends, last in self._asked.items() if re.search(asked, last)]
        assert found
        for stream in itertools.chain(*found):
            await trio.aclose_forcefully(stream)

    def lead_to(self, target: int) -> None:
        """Connections to come go there."""
        self._target = target

    def hang_up(self) -> None:
        """Nobody listens any more."""
        self._listening.cancel()

    async def listen(self, *, task_status: trio.TaskStatus[Any] = trio.TASK_STATUS_IGNORED) -> None:
        """Until it is hung up; may be listened to again, on the same port."""
        with trio.CancelScope() as self._listening:
            listeners = await trio.open_tcp_listeners(self.port, host="127.0.0.1")
            self.port = listeners[0].socket.getsockname()[1]
            await trio.serve_listeners(self._accept, listeners, task_status=task_status)

    async def _accept(self, near: trio.SocketStream) -> None:
        async with near, await trio.open_tcp_stream("127.0.0.1", self._target) as far:
            self._asked[near, far] = b""
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._pass_on, near, far, nursery.cancel_scope)
                nursery.start_soon(self._pass_on, far, near, nursery.cancel_scope)
        del self._asked[near, far]

    async def _pass_on(
        self, source: trio.SocketStream, sink: trio.SocketStream, both: trio.CancelScope
    ) -> None:
        try:
            while data := await source.receive_some():
                if (source, sink) in self._asked and re.match(rb"[A-Z]+ /", data):
                    self._asked[source, sink] = data
                await self._is_flowing.wait()
                self.passed += len(data)
                await sink.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        both.cancel()


@asynccontextmanager
async def open_wireline(target: int) -> AsyncGenerator[Wireline]:
    async with trio.open_nursery() as nursery:
        line = Wireline(target)
        await nursery.start(line.listen)
        try:
            yield line
        finally:
            nursery.cancel_scope.cancel()


@asynccontextmanager
async def open_deaf_port() -> AsyncGenerator[int]:
    """A server that accepts every connection, and never says a word."""
    async with trio.open_nursery() as nursery:
        serve = partial(trio.serve_tcp, _sleep, 0, host="127.0.0.1")
        listeners: list[trio.SocketListener] = await nursery.start(serve)
        yield listeners[0].socket.getsockname()[1]
        nursery.cancel_scope.cancel()


async def _sleep(stream: trio.SocketStream) -> None:
    async with stream:
        await trio.sleep_forever()
