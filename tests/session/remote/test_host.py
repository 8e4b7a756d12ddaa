"""What a remote avatar leaves alone in its host: asyncio, the imports, the log."""

import asyncio
import logging
import subprocess
import sys
import threading

import pytest
import trio

from tests.session.remote.place import PATIENCE, TOKEN, Place, play


def kind_of_loop() -> type[asyncio.AbstractEventLoop]:
    """What `asyncio.run` runs, with some of its uses."""

    async def main() -> type[asyncio.AbstractEventLoop]:
        async with asyncio.timeout(10):
            await asyncio.gather(asyncio.sleep(0.01), asyncio.to_thread(threading.get_ident))
        return type(asyncio.get_running_loop())

    return asyncio.run(main())


async def test_asyncio_in_other_threads_is_as_before(place: Place) -> None:
    async with place.avatar() as aria:
        assert await trio.to_thread.run_sync(kind_of_loop) is asyncio.SelectorEventLoop
        assert (await aria.chat(play({"say": "still here"}))).content == "still here"
    assert await trio.to_thread.run_sync(kind_of_loop) is asyncio.SelectorEventLoop


async def test_the_token_is_in_no_log_of_any_level(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        async with place.avatar() as aria:
            await aria.chat(play({"say": "hello"}))
        with pytest.raises(Exception, match="login"):
            async with place.avatar(headers={"Authorization": f"Bearer no-{TOKEN}"}):
                pass
    shown = caplog.text + "".join(str(record.args) for record in caplog.records)
    assert TOKEN not in shown


LOCAL = """
import sys, trio
from avatar_actors import open_avatar

async def main():
    async with open_avatar("embedded") as aria:
        await aria.chat("1+1")

trio.run(main)
heavy = {"acp", "pydantic", "trio_asyncio", "httpx", "websockets", "asyncio"}
print(sorted(heavy & set(sys.modules)))
"""


def test_a_local_agent_brings_none_of_it_along() -> None:
    command = [sys.executable, "-c", LOCAL]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stdout == "[]\n"
