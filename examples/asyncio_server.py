"""Avatars behind HTTP: `python -m examples.asyncio_server [--port 8080] [--provider claude]`.

    curl -d '{"prompt": "6*7"}' http://127.0.0.1:8080/chat
    curl -N 'http://127.0.0.1:8080/chat/stream?prompt=help&avatar=bela'
    curl http://127.0.0.1:8080/health

A Starlette app, on asyncio. A client that goes away cancels its turn. SIGTERM and Ctrl-C cancel all
turns, tell their clients, and end the program with 0. Needs `pip install starlette hypercorn`.
"""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import JSONResponse, StreamingResponse
    from starlette.routing import Route

    from examples.loopback_server import main
except ModuleNotFoundError as missing:
    sys.exit(f"{missing.name} is not installed: pip install starlette hypercorn")

from avatar_actors import AvatarEngine, BridgeResponse, ChatHandle, PermissionMode, TurnFailed

Json: TypeAlias = Mapping[str, Any] | list[Any] | str | float | None

NAMES = ("aria", "bela", "cleo")
HOW = "send a prompt, and the name of an avatar if you like; POST wants them as a JSON object"


class Avatars:
    def __init__(self, provider: str) -> None:
        safe = PermissionMode.SAFE  # nobody is there to be asked
        self._named = {name: AvatarEngine(provider, permissions=safe) for name in NAMES}
        routes = [
            Route("/chat", self.chat, methods=["POST"]),
            Route("/chat/stream", self.stream),
            Route("/health", self.health),
        ]
        self.app = Starlette(routes=routes, lifespan=self.lifespan)

    async def start(self) -> None:
        await asyncio.gather(*(engine.start() for engine in self._named.values()))

    async def stop(self) -> None:
        await asyncio.gather(*(engine.stop() for engine in self._named.values()))

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncGenerator[None]:
        await self.start()
        yield
        await self.stop()

    async def chat(self, request: Request) -> JSONResponse:
        try:
            engine, prompt = self._asked(await request.json())
        except ValueError:
            raise HTTPException(400, HOW) from None
        sent = engine.chat_async(prompt)
        watch = asyncio.create_task(cancel_when_gone(request, sent))
        try:
            answer = await sent
        finally:
            watch.cancel()
        return JSONResponse(told(answer), 200 if answer else 502)

    async def stream(self, request: Request) -> StreamingResponse:
        engine, prompt = self._asked(request.query_params)
        return StreamingResponse(server_sent(engine, prompt), media_type="text/event-stream")

    async def health(self, _: Request) -> JSONResponse:
        # It holds a thread for a moment, and that should not be the loop's.
        found = {
            name: await asyncio.to_thread(engine.is_healthy) for name, engine in self._named.items()
        }
        return JSONResponse(found, 200 if all(found.values()) else 503)

    def _asked(self, wish: Json) -> tuple[AvatarEngine, str]:
        fields: Mapping[str, Any] = wish if isinstance(wish, Mapping) else {}
        prompt, name = fields.get("prompt"), fields.get("avatar", NAMES[0])
        if not isinstance(prompt, str) or not prompt.strip():
            raise HTTPException(400, HOW)
        if name not in NAMES:
            raise HTTPException(404, f"no avatar {name!r}; there are: {', '.join(NAMES)}")
        return self._named[name], prompt


async def server_sent(engine: AvatarEngine, prompt: str) -> AsyncGenerator[str]:
    """The text as it comes; when the client has gone, Starlette ends this, and this the turn."""
    try:
        async with engine.chat_stream(prompt) as answer:
            async for text in answer:
                yield f"data: {json.dumps({'text': text})}\n\n"
        yield f"event: end\ndata: {json.dumps(told(answer.result))}\n\n"
    except TurnFailed as failure:
        yield f"event: error\ndata: {json.dumps(told(failure.response))}\n\n"


async def cancel_when_gone(request: Request, sent: ChatHandle) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    sent.cancel()


def told(answer: BridgeResponse) -> dict[str, str]:
    return {"content": answer.content, "outcome": answer.outcome.value, "error": answer.error}


if __name__ == "__main__":
    sys.exit(main(Avatars))
