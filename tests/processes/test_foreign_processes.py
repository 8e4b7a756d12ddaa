"""Agents and tools that have become another user's, and cannot be signalled any more."""

import json
import os
import signal
import subprocess
import sys

import pytest
import trio

from tests.processes.census import PATIENCE
from tests.processes.test_host_death import program
from tests.processes.test_sweep import dead_host

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")

# Root without CAP_KILL may signal root's processes only, and reads everybody's environment.
WITHOUT_KILL = """
import ctypes, os, subprocess, sys
DROP, KILL = 24, 5
assert ctypes.CDLL(None).prctl(DROP, KILL, 0, 0, 0) == 0
os.execv(sys.executable, [sys.executable, "-c", sys.argv[1], *sys.argv[2:]])
"""
FOREIGN = """
import os, signal, sys
os.setuid(65534)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.alarm(100)
print("up", flush=True)
signal.pause()
"""
HOST = """
import json, os, signal, sys
import trio
from avatar_actors.processes import Launch, WardenProcess

async def main(foreign, whom):
    warden = await WardenProcess.open()
    lease = await warden.lease()
    await lease.run(Launch(argv=(sys.executable, "-I", "-S", "-c", foreign), cwd="/", env={}))
    await lease.stdout.receive_some()
    if whom == "keeper":
        os.kill(lease.keeper_pid, signal.SIGKILL)
    ending = await lease.end(0)
    print(json.dumps([lease.pid, ending.proof.value, ending.left, ending.denied]), flush=True)
    sys.stdin.read()

trio.run(main, *sys.argv[1:])
"""
SWEEPER = """
import sys
from avatar_actors.processes import sweep_dead_hosts
from avatar_actors.processes.lease import end_command
from avatar_actors.processes.sweep import kill_listed, process_identity, sweep_lease

pid, cookie, parent = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
kill_listed([process_identity(pid)])
assert end_command(parent, sys.stdin.read())
print(sweep_dead_hosts(among=lambda: [pid]), sweep_lease(cookie))
"""


@pytest.mark.parametrize("whom", ["nobody", "keeper"])
async def test_an_end_that_is_not_permitted_comes_to_an_end_and_names_who_is_left(
    whom: str,
) -> None:
    with trio.fail_after(PATIENCE), program(WITHOUT_KILL, HOST, FOREIGN, whom) as host:
        assert host.stdout is not None
        told = await trio.to_thread.run_sync(host.stdout.readline)
        agent, proof, left, denied = json.loads(told)
        assert (proof, left, denied) == ("none", [agent], [agent])
        os.kill(agent, signal.SIGKILL)


def test_sweeps_pass_over_who_may_not_be_killed() -> None:
    cookie = f"{dead_host()}/1"
    env = {**os.environ, "AVATAR_LEASE": cookie, "AVATAR_WARDEN": cookie.partition("/")[0]}
    command = [sys.executable, "-I", "-S", "-c", FOREIGN]
    # In one session anybody may send SIGCONT.
    with subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, start_new_session=True
    ) as foreign:
        try:
            assert foreign.stdout is not None
            foreign.stdout.readline()
            sweeping = [WITHOUT_KILL, SWEEPER, str(foreign.pid), cookie, str(os.getpid())]
            done = subprocess.run(
                [sys.executable, "-c", *sweeping],
                input=FOREIGN,
                capture_output=True,
                text=True,
                check=False,
            )
            assert (done.stdout, done.stderr) == ("0 0\n", "")
            assert foreign.poll() is None
        finally:
            foreign.kill()
