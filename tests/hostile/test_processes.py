"""What other programs of this machine can do to our processes, and what shortage does to them."""

import os
import signal
from pathlib import Path

import pytest
import trio

from avatar_actors import open_runtime
from avatar_actors.processes import open_scratch, sweep_dead_hosts, sweep_scratch, tree_sockets
from avatar_actors.processes.identity import host_identity
from avatar_actors.processes.scratch import scratch_parent
from tests.processes.test_sweep import carrier, dead_host

ODD_PROCESSES = ["².1", "1" * 5000 + ".1", "1." + "1" * 5000, "٣.1", "1", ".", "", "-1.1", "1.1\n"]


@pytest.mark.parametrize("odd", ODD_PROCESSES)
async def test_m2_odd_cookie_of_any_process_does_not_stop_the_sweep(odd: str) -> None:
    world = host_identity().rpartition(":")[0]
    with carrier(f"{world}:{odd}/u") as strange, carrier(f"{dead_host()}/1") as left:
        sweep_dead_hosts(among=lambda: [strange.pid, left.pid])
        assert left.wait(60) == -signal.SIGKILL
        assert strange.poll() is None


async def test_m2_runtime_starts_beside_a_process_with_an_odd_cookie() -> None:
    world = host_identity().rpartition(":")[0]
    with trio.fail_after(60), carrier(f"{world}:².1/u"):
        async with open_runtime():
            pass


@pytest.mark.parametrize("odd", ["².1-x", "1" * 200 + ".1-x", "x", "-", ".²"])
def test_m2_odd_directory_does_not_stop_the_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: str
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with open_scratch() as ours:
        strange, dead = ours.parent / odd, ours.parent / f"{os.getpid()}.1-x"
        for path in (strange, dead):
            path.mkdir()
        assert sweep_scratch() == 1
        assert (strange.exists(), dead.exists()) == (True, False)
        assert not [found for found in tree_sockets() if found.path.is_relative_to(tmp_path)]
        strange.rmdir()
    assert list(scratch_parent(tmp_path).iterdir()) == []
