"""One agent from start to end: what it gets, what is heard of it, how it goes."""

import errno
import json
import os
import signal
import sys
from pathlib import Path

import pytest
import trio

from avatar_actors.processes import Launch, Lease, Proof, WardenProcess
from avatar_actors.programs.warden import LEASE_COOKIE
from avatar_actors.programs.warden.process_tree import read_stat
from tests.processes.census import PATIENCE, eventually, is_left, python

TELL_ALL = "import json, os, sys; print(json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]))"
SLEEP = "import signal; print('up', flush=True); signal.pause()"
IGNORES_TERM = (
    "import signal; signal.signal(15, signal.SIG_IGN); print('up', flush=True); signal.pause()"
)
LEAVES_A_TOOL = """
import os, signal
if os.fork() == 0:
    os.setsid()
    signal.signal(15, signal.SIG_IGN)
    os.write(1, f"{os.getpid()} {open('/proc/self/stat').read().split()[21]}".encode())
    signal.pause()
signal.pause()
"""


async def read_all(lease: Lease) -> bytes:
    return b"".join([data async for data in lease.stdout])


async def test_agent_gets_its_arguments_its_directory_and_nothing_of_our_environment(
    warden: WardenProcess, tmp_path: Path
) -> None:
    argv = (sys.executable, "-I", "-S", "-c", TELL_ALL, "", "a b", "ü\udcff")
    env = {"A": "1", "EMPTY": "", "ODD": "=x=\n"}
    with trio.fail_after(PATIENCE):
        async with await warden.lease() as lease:
            await lease.run(Launch(argv=argv, cwd=str(tmp_path), env=env))
            arguments, cwd, seen = json.loads(await read_all(lease))
            assert await lease.exited() == 0
    assert arguments == ["", "a b", "ü\udcff"]
    assert cwd == str(tmp_path)
    assert seen.pop(LEASE_COOKIE)
    # CPython adds LC_CTYPE by itself in a C locale.
    seen.pop("LC_CTYPE", None)
    assert seen == env


async def test_agent_reads_its_stdin_to_the_end_and_writes_both_outputs(
    warden: WardenProcess,
) -> None:
    code = "import sys; d = sys.stdin.read(); print(len(d)); print(d[:3], file=sys.stderr)"
    with trio.fail_after(PATIENCE):
        async with await warden.lease() as lease:
            await lease.run(python(code))
            await lease.stdin.send_all(b"abc" * 100_000)
            await lease.stdin.aclose()
            assert await read_all(lease) == b"300000\n"
            assert await lease.stderr.receive_some() == b"abc\n"


@pytest.mark.parametrize(
    ("argv", "cwd", "error", "named"),
    [
        (("no-such-agent",), "/", FileNotFoundError, "no-such-agent"),
        (("/etc/passwd",), "/", PermissionError, "/etc/passwd"),
        (("/etc/passwd/agent",), "/", NotADirectoryError, "/etc/passwd/agent"),
        ((sys.executable,), "/no/such/directory", FileNotFoundError, "/no/such/directory"),
    ],
)
async def test_systems_refusal_is_raised_as_itself_and_names_what_it_refused(
    warden: WardenProcess, argv: tuple[str, ...], cwd: str, error: type[OSError], named: str
) -> None:
    with trio.fail_after(PATIENCE):
        async with await warden.lease() as lease:
            with pytest.raises(error) as raised:
                await lease.run(Launch(argv=argv, cwd=cwd, env=dict(os.environ)))
            assert raised.value.filename == named
            assert (await lease.end(0)).proof is Proof.KEEPER


async def test_too_long_an_argument_is_refused_by_the_system_and_a_long_environment_is_not(
    warden: WardenProcess,
) -> None:
    with trio.fail_after(PATIENCE):
        async with await warden.lease() as lease:
            with pytest.raises(OSError, match="too long") as raised:
                await lease.run(python("pass", "x" * 3_000_000))
            assert raised.value.errno == errno.E2BIG
        async with await warden.lease() as lease:
            env = {f"V{number}": "x" * 100_000 for number in range(8)}
            argv = (sys.executable, "-c", "pass")
            await lease.run(Launch(argv=argv, cwd="/", env=env))
            assert await lease.exited() == 0


@pytest.mark.parametrize(("argument", "name"), [("a\0b", "A"), ("a", "A=B"), ("a", "")])
async def test_what_no_process_can_be_given_is_the_callers_error(
    warden: WardenProcess, argument: str, name: str
) -> None:
    with trio.fail_after(PATIENCE):
        async with await warden.lease() as lease:
            with pytest.raises(ValueError, match=r"null byte|variable name"):
                await lease.run(Launch(argv=("true", argument), cwd="/", env={name: "1"}))


@pytest.mark.parametrize(
    ("code", "returncode"),
    [("raise SystemExit(7)", 7), ("import os; os.kill(os.getpid(), 9)", -signal.SIGKILL)],
)
async def test_return_code_is_the_agents_own(
    warden: WardenProcess, code: str, returncode: int
) -> None:
    with trio.fail_after(PATIENCE):
        async with await warden.lease() as lease:
            await lease.run(python(code))
            assert await lease.exited() == returncode


async def test_agent_starts_with_every_signal_as_a_shell_would_give_it(
    warden: WardenProcess,
) -> None:
    show = Launch(argv=("grep", "-E", "Sig(Ign|Blk)", "/proc/self/status"), cwd="/", env={})
    with trio.fail_after(PATIENCE):
        async with await warden.lease() as lease:
            await lease.run(show)
            blocked, ignored = signal_sets(await read_all(lease))
    # glibc lets nobody set 32 and 33, and its posix_spawn, with which GNU make 4.3 starts programs,
    # ignores them: below `make test` they are so for us, for a shell and for an agent.
    settable = sum(1 << (number - 1) for number in signal.valid_signals())
    _, ignored_here = signal_sets(await trio.Path("/proc/self/status").read_bytes())
    assert (blocked, ignored) == (0, ignored_here & ~settable)


def signal_sets(status: bytes) -> tuple[int, int]:
    """The signals that a process blocks and ignores, as its status shows them."""
    rows = dict(line.split() for line in status.splitlines() if line.startswith(b"Sig"))
    return int(rows[b"SigBlk:"], 16), int(rows[b"SigIgn:"], 16)


async def test_signal_reaches_the_agent(warden: WardenProcess) -> None:
    with trio.fail_after(PATIENCE):
        async with await warden.lease() as lease:
            await lease.run(python(SLEEP))
            await lease.stdout.receive_some()
            lease.signal(signal.SIGUSR2)
            assert await lease.exited() == -signal.SIGUSR2


@pytest.mark.parametrize(
    ("code", "grace", "ends_by"),
    [(SLEEP, 50, signal.SIGTERM), (IGNORES_TERM, 0.1, signal.SIGKILL)],
)
async def test_polite_agent_is_ended_by_sigterm_and_a_stubborn_one_after_the_grace(
    warden: WardenProcess, code: str, grace: float, ends_by: int
) -> None:
    with trio.fail_after(PATIENCE):
        async with await warden.lease() as lease:
            await lease.run(python(code))
            await lease.stdout.receive_some()
            assert (await lease.end(grace)).proof is Proof.KEEPER
            assert await lease.exited() == -ends_by


async def test_second_end_with_a_shorter_grace_hastens_the_first(warden: WardenProcess) -> None:
    with trio.fail_after(PATIENCE):
        async with await warden.lease() as lease, trio.open_nursery() as nursery:
            await lease.run(python(IGNORES_TERM))
            await lease.stdout.receive_some()
            nursery.start_soon(lease.end, 1000)
            await trio.testing.wait_all_tasks_blocked()
            assert (await lease.end(0)).is_gone


async def test_exit_is_heard_while_a_tool_holds_stdout_and_the_tool_goes_after_the_grace(
    warden: WardenProcess,
) -> None:
    with trio.fail_after(PATIENCE):
        async with await warden.lease() as lease:
            await lease.run(python(LEAVES_A_TOOL, exit_grace=0.3))
            tool = (await lease.stdout.receive_some()).decode().split()
            os.kill(lease.pid, signal.SIGKILL)
            assert await lease.exited() == -signal.SIGKILL
            assert is_left(*tool)
            assert await lease.stdout.receive_some() == b""
            await eventually(lambda: not is_left(*tool))


async def test_all_who_wait_hear_the_exit_also_when_the_one_who_reads_is_cancelled(
    warden: WardenProcess,
) -> None:
    heard: list[int] = []

    async def wait(lease: Lease, scope: trio.CancelScope) -> None:
        with scope:
            heard.append(await lease.exited())

    with trio.fail_after(PATIENCE):
        async with await warden.lease() as lease, trio.open_nursery() as nursery:
            await lease.run(python(SLEEP))
            scopes = [trio.CancelScope() for _ in range(4)]
            for scope in scopes:
                nursery.start_soon(wait, lease, scope)
                await trio.testing.wait_all_tasks_blocked()
            for scope in scopes[:2]:
                scope.cancel()
                await trio.testing.wait_all_tasks_blocked()
            lease.signal(signal.SIGKILL)
    assert heard == [-signal.SIGKILL] * 2


async def test_vitals_count_processes_and_the_time_of_those_that_ended(
    warden: WardenProcess,
) -> None:
    code = """
import os, signal, time
if os.fork() == 0:
    while time.process_time() < 0.2: pass
    os._exit(0)
os.wait()
os.write(1, b"done")
signal.pause()
"""
    with trio.fail_after(PATIENCE):
        async with await warden.lease() as lease:
            await lease.run(python(code))
            await lease.stdout.receive_some()
            vitals = await lease.vitals()
            assert vitals.cpu_seconds >= 0.19
            assert vitals.processes == sum(vitals.states.values()) == 1


async def test_lease_that_was_never_used_ends_at_once(warden: WardenProcess) -> None:
    with trio.fail_after(PATIENCE):
        lease = await warden.lease()
        with pytest.raises(ValueError, match="no agent"):
            _ = lease.pid
        assert (await lease.end(0)).is_gone
        await lease.aclose()


@pytest.mark.parametrize(("code", "orphans"), [(SLEEP, 0), (LEAVES_A_TOOL, 1)])
@pytest.mark.parametrize("whom", ["agent", "keeper", "nobody"])
async def test_who_was_left_behind_is_counted_without_the_agent(
    warden: WardenProcess, code: str, orphans: int, whom: str
) -> None:
    with trio.fail_after(PATIENCE):
        async with await warden.lease() as lease:
            await lease.run(python(code))
            await lease.stdout.receive_some()
            if whom != "nobody":
                os.kill(lease.pid if whom == "agent" else lease.keeper_pid, signal.SIGKILL)
                await lease.exited()
            assert (await lease.end(0)).reaped == orphans


async def test_agent_that_ignores_sigterm_is_gone_when_the_lease_is_closed(
    warden: WardenProcess,
) -> None:
    with trio.fail_after(PATIENCE):
        lease = await warden.lease()
        agent = await lease.run(python(IGNORES_TERM))
        assert await lease.stdout.receive_some() == b"up\n"
        await lease.aclose()
        assert read_stat(agent) is None


async def test_signal_to_a_closed_lease_is_nothing(warden: WardenProcess) -> None:
    with trio.fail_after(PATIENCE):
        lease = await warden.lease()
        await lease.run(python(SLEEP))
        await lease.aclose()
        lease.signal(signal.SIGTERM)
