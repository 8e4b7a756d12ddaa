"""Agents where there is no /proc, no subreaper and no pidfd: on a Unix that is not Linux."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio

from tests.processes.census import PATIENCE, eventually, is_left
from tests.processes.test_host_death import said

HIDDEN = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh")
OTHER_UNIX = """
import os, sys
import trio
sys.platform = "darwin"
del os.pidfd_open
"""
# For `WardenProcess.open(python=...)`.
WARDENS_PYTHON = """#!{python} -IS
import sys
_, _, _, _, code, *rest = sys.argv
sys.argv = ["-c", *rest]
import os
sys.platform = "darwin"
del os.pidfd_open
exec(code)
"""
HOST = """
import ctypes, signal
from avatar_actors.processes import Launch, WardenProcess, sweep_dead_hosts
from avatar_actors.processes.sweep import is_dead_process, process_identity

AGENT = (
    "import os, signal; os.fork(); signal.alarm(100);"
    "print(os.getpid(), flush=True); signal.pause()"
)

async def main():
    assert sweep_dead_hosts() == 0
    assert not is_dead_process(process_identity(os.getpid()))
    assert is_dead_process("4194305.0")
    warden = await WardenProcess.open(python=sys.argv[1])
    assert warden.containment == "best effort"
    assert warden.pids == (warden.pid,)
    lease = await warden.lease()
    argv = (sys.executable, "-I", "-S", "-c", AGENT)
    await lease.run(Launch(argv=argv, cwd="/", env={}))
    heard = b""
    while heard.count(b"\\n") < 2:
        heard += await lease.stdout.receive_some()
    HOST_DOES

trio.run(main)
"""
ENDS_IT = """
    assert (await lease.end(GRACE)).is_gone
    await lease.aclose()
    await warden.aclose()
    print(warden.pid, *heard.decode().split(), flush=True)
    sys.stdin.read()
"""
# A fork holds all descriptors, so that no socket tells of the host's death.
WAITS = """
    fork = ctypes.CDLL(None).fork()
    if fork == 0:
        os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
        signal.alarm(100)
        signal.pause()
    print(fork, warden.pid, *heard.decode().split(), flush=True)
    await trio.sleep_forever()
"""


@pytest.fixture(scope="module", autouse=True)
def _proc_can_be_hidden() -> None:
    if not shutil.which("unshare") or subprocess.run([*HIDDEN, "true"], check=False).returncode:
        pytest.skip("nobody may hide /proc here")


@contextmanager
def host(folder: Path, does: str) -> Generator["subprocess.Popen[str]"]:
    python = folder / "python"
    python.write_text(WARDENS_PYTHON.format(python=sys.executable))
    python.chmod(0o700)
    code = OTHER_UNIX + HOST.replace("    HOST_DOES", does)
    command = [*HIDDEN, sys.executable, "-c", code, str(python)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def started(pid: str) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


@pytest.mark.parametrize("grace", ["0", "30"])
async def test_an_agent_and_what_stayed_in_its_group_are_ended(tmp_path: Path, grace: str) -> None:
    with trio.fail_after(PATIENCE), host(tmp_path, ENDS_IT.replace("GRACE", grace)) as process:
        pids = await trio.to_thread.run_sync(said, process)
        assert len(pids) == 3
        await eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


async def test_the_death_of_the_host_is_seen(tmp_path: Path) -> None:
    with trio.fail_after(PATIENCE), host(tmp_path, WAITS) as process:
        fork, *pids = await trio.to_thread.run_sync(said, process)
        born = {pid: started(pid) for pid in pids}
        assert len(born) == 3
        process.kill()
        process.wait()  # without /proc a zombie looks alive
        await eventually(lambda: not any(is_left(*each) for each in born.items()))
        os.kill(int(fork), signal.SIGKILL)
