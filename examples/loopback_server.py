"""Runs a service under Hypercorn on loopback until SIGTERM or Ctrl-C, for `asyncio_server`."""

import argparse
import asyncio
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any, Protocol

from hypercorn.asyncio import serve  # pyright: ignore[reportUnknownVariableType]
from hypercorn.config import Config

from avatar_actors import AvatarError


class Service(Protocol):
    app: Any  # of ASGI, for which Starlette and Hypercorn have different types

    async def start(self) -> None: ...
    async def stop(self) -> None: ...


async def run(service: Service, listener: socket.socket) -> None:
    signalled = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, signalled.set)

    async def end() -> None:
        await signalled.wait()
        await service.stop()  # first, so that clients who wait get their answer: cancelled

    url = "http://{}:{}".format(*listener.getsockname())
    config = Config()
    config.loglevel = "WARNING"
    config.graceful_timeout = 5.0
    await service.start()  # now: what is wrong with the agent is told, and nothing is served
    config.bind = [f"fd://{listener.detach()}"]
    print(url, flush=True)
    await serve(service.app, config, shutdown_trigger=end)


def main(make: Callable[[str], Service]) -> int:
    parser = argparse.ArgumentParser("python -m examples.asyncio_server")
    parser.add_argument("--port", type=int, default=8080, help="0: any that is free")
    parser.add_argument("--provider", default="embedded")
    given = parser.parse_args()
    try:
        with socket.create_server(("127.0.0.1", given.port)) as listener:
            asyncio.run(run(make(given.provider), listener))
    except (AvatarError, OSError, OverflowError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0
