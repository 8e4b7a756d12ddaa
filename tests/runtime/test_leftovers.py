"""What a killed host leaves running: when a runtime looks for it, and that it is gone then."""

import signal
from collections.abc import Generator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import trio

from avatar_actors import open_runtime
from avatar_actors.processes import open_private_root
from avatar_actors.runtime.warden import warden
from supervisors import ChildSpec, open_supervisor
from tests.processes.census import PATIENCE, eventually, is_left
from tests.processes.test_host_death import program, said
from tests.processes.test_sweep import carrier, dead_host

HOST_WITH_A_TOOL = """
import os, subprocess
import trio
from avatar_actors import open_runtime
from avatar_actors.processes.sweep import new_cookie
from avatar_actors.programs.warden import LEASE_COOKIE
from avatar_actors.programs.warden.process_tree import read_stat

async def main():
    async with open_runtime():
        # Below no keeper, as if all of them had been killed with the host.
        env = {**os.environ, LEASE_COOKIE: new_cookie()}
        tool = subprocess.Popen(["sleep", "100"], env=env, stdout=subprocess.DEVNULL)
        print(tool.pid, read_stat(tool.pid).started, flush=True)
        await trio.sleep_forever()

trio.run(main)
"""
COUNTED_RUNTIME = """
import sys
import trio
from avatar_actors import open_runtime

opened = []

def count(event, arguments):
    if event == "open" and str(arguments[0]).endswith("/environ"):
        opened.append(arguments[0])

async def main():
    async with open_runtime():
        print(len(opened), flush=True)

sys.addaudithook(count)
trio.run(main)
"""


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """Where private directories stand, and no other program's do."""
    with TemporaryDirectory() as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder)


def private_roots(place: Path) -> list[Path]:
    return list(place.glob("*/*"))


async def test_leftovers_of_a_killed_host_are_gone_when_the_next_runtime_is_open(
    place: Path,
) -> None:
    with trio.fail_after(PATIENCE), program(HOST_WITH_A_TOOL) as host:
        tool, started = await trio.to_thread.run_sync(said, host)
        host.kill()
        await trio.to_thread.run_sync(host.wait)
        (abandoned,) = private_roots(place)
        async with open_runtime():
            assert abandoned not in private_roots(place)
            await eventually(lambda: not is_left(tool, started))


async def test_runtime_reads_no_environment_where_no_host_was_killed(place: Path) -> None:
    with (
        trio.fail_after(PATIENCE),
        open_private_root(),
        carrier(f"{dead_host()}/1"),
        program(COUNTED_RUNTIME) as host,
    ):
        assert await trio.to_thread.run_sync(said, host) == ["0"]
        await trio.to_thread.run_sync(host.wait)


async def test_host_that_left_no_directory_is_found_by_the_full_sweep_later(place: Path) -> None:
    with trio.fail_after(PATIENCE), carrier(f"{dead_host()}/1") as left:
        sweeping = partial(warden, full_sweep_after=0.0)
        async with open_supervisor("root", children=[ChildSpec("warden", sweeping)]):
            assert await trio.to_thread.run_sync(left.wait) == -signal.SIGKILL
    assert private_roots(place) == []
