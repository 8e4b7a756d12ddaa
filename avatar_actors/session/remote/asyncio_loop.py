"""An asyncio loop inside trio, for libraries that need asyncio; leaves the host's asyncio alone."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, ParamSpec, TypeVar, cast

import trio_asyncio  # type: ignore[import-untyped]

P = ParamSpec("P")
T = TypeVar("T")

# It has no types: no other module imports it.
_trio_asyncio = cast("Any", trio_asyncio)


@asynccontextmanager
async def open_asyncio_loop(complain: Callable[[str], None]) -> AsyncGenerator[None]:
    """A loop for the length of a block; errors that no task raises go to `complain`."""
    _leave_the_host_alone()
    async with _trio_asyncio.open_loop() as loop:

        def on_exception(_: object, context: dict[str, Any]) -> None:
            complain(_words(context))

        loop.set_exception_handler(on_exception)
        yield


def in_asyncio(function: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Adapts an asyncio coroutine function to be awaited in trio, within such a loop."""
    adapted: Callable[P, Awaitable[T]] = _trio_asyncio.aio_as_trio(function)
    return adapted


def in_trio(function: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Adapts a trio async function to be awaited in asyncio."""
    adapted: Callable[P, Awaitable[T]] = _trio_asyncio.trio_as_aio(function)
    return adapted


def _leave_the_host_alone() -> None:
    # Importing trio-asyncio (0.16) makes `asyncio.run` of the whole process use a loop of its own
    # wherever no policy was set: it looks for one per thread. This one is the default for all
    # threads: the policy that the host had before.
    module = _trio_asyncio._loop
    if module._FakedPolicy.policy is None:
        module._FakedPolicy.policy = module._original_policy


def _words(context: dict[str, Any]) -> str:
    error = context.get("exception")
    message = str(context.get("message", "")) or "something went wrong"
    return f"{message}: {type(error).__name__}: {error}" if error is not None else message
