import subprocess
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
import trio

from avatar_actors.processes import WardenProcess
from tests.processes.census import Book


@pytest.fixture
async def warden() -> AsyncGenerator[WardenProcess]:
    """A warden whose owner waits, as the warden actor does."""
    process = await WardenProcess.open()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(process.wait_lost)
        yield process
        nursery.cancel_scope.cancel()
    await process.aclose()


@pytest.fixture
def book(tmp_path: Path) -> Generator[Book]:
    births = Book(tmp_path / "book")
    yield births
    births.clear()


@pytest.fixture
def unrelated() -> Generator["subprocess.Popen[bytes]"]:
    """A child of the host that is none of our business, and must be alive at the end."""
    with subprocess.Popen(["sleep", "1000"]) as child:
        try:
            yield child
            assert child.poll() is None
        finally:
            child.kill()
