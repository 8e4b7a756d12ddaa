"""The SDK's own server with the SDK's agent: `python -m tests.session.remote.sdk_server`.

It prints its port. Agents are at /acp and, with quirks, at /plain, /forgetful and /mute; the one at
/noisy is the first with a server that says nonsense in between. All of them want the token, if one
is given. It ends with its stdin.
"""

import asyncio
import json
import logging
import socket
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from acp.http.asgi import AcpAsgiApp, create_asgi_app
from hypercorn.asyncio import serve  # pyright: ignore[reportUnknownVariableType]
from hypercorn.config import Config

from tests.session.remote.sdk_agent import SdkAgent

Send = Callable[[Any], Awaitable[None]]
KINDS = ("acp", "plain", "forgetful", "mute")


class Porter:
    """Asks for the token, and shows the way."""

    def __init__(self, token: str) -> None:
        self._token = token
        self._apps = {f"/{kind}": _app(kind) for kind in KINDS}

    async def __call__(self, scope: Any, receive: Callable[[], Awaitable[Any]], send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._apps["/acp"](scope, receive, send)
        elif self._token and dict(scope["headers"]).get(b"authorization") != self._wanted():
            await _refuse(scope, send, 401)
        elif scope["path"] == "/noisy":
            await self._apps["/acp"](scope, receive, partial(_noisily, send))
        elif scope["path"] not in self._apps:
            await _refuse(scope, send, 404)
        else:
            await self._apps[scope["path"]](scope, receive, send)

    def _wanted(self) -> bytes:
        return f"Bearer {self._token}".encode()


def _app(kind: str) -> AcpAsgiApp:
    return create_asgi_app(partial(SdkAgent, kind=kind))  # type: ignore[arg-type]


NONSENSE = ("null", "[1, 2]", "{broken", "7", "[" * 3000, '{"jsonrpc": "2.0", "hm": "ü"}')


async def _noisily(send: Send, message: Any) -> None:
    """Before each message everything that is none."""
    if message["type"] == "websocket.send":
        await send({"type": "websocket.send", "bytes": b"\x00\xff"})
        for text in NONSENSE:
            await send({"type": "websocket.send", "text": text})
    if message["type"] == "http.response.body" and message["body"].startswith(b"data:"):
        noise = "".join(f"event: x\r\ndata: {text}\r\n\r\n" for text in NONSENSE).encode()
        for start in range(0, len(noise), 7):  # also characters are cut in two
            await send({**message, "body": noise[start : start + 7]})
    await send(message)


async def _refuse(scope: Any, send: Send, status: int) -> None:
    kind = "websocket.http.response" if scope["type"] == "websocket" else "http.response"
    await send({"type": f"{kind}.start", "status": status, "headers": []})
    await send({"type": f"{kind}.body", "body": b""})


async def main(token: str, certificate: str) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    port: int = listener.getsockname()[1]
    config = Config()
    config.bind = [f"fd://{listener.detach()}"]
    config.graceful_timeout = 0.1
    config.websocket_max_message_size = 2**30
    if certificate:
        config.certfile, config.keyfile = certificate, certificate
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    await serve(Porter(token), config, shutdown_trigger=_end_of_stdin)


async def _end_of_stdin() -> None:
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    options = json.loads(sys.argv[1])
    asyncio.run(main(options.get("token", ""), options.get("certificate", "")))
