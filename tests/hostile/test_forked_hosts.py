"""Programs that fork with an engine in them (M4), as pre-fork servers do: real processes each."""

import signal
import subprocess
import sys
from pathlib import Path

from tests.conformance.remains import directories_of, processes_of
from tests.docs.test_snippets import ROOT
from tests.hosting.engines import PATIENCE

# `child` runs in a fork and ends by `sys.exit()`, as a program does: with `atexit` and all.
BEGIN = """
import asyncio, os, signal, sys, threading, time
from avatar_actors import AvatarDown, AvatarEngine, EventEmitter, RuntimeThread, TextEvent
from avatar_actors import stop_on_signals
from avatar_actors.processes.sweep import host_identity, process_identity
place = sys.argv[1]
WAIT = 'SCRIPT:[{"say": "here"}, {"wait": 1000}]'

def make(**options):
    return AvatarEngine(
        "embedded", working_dir=place, env={"AVATAR_EMBEDDED_HOME": place}, **options
    )

def say(*words):
    os.write(1, f"{' '.join(map(str, words))}\\n".encode())

def fork(child):
    pid = os.fork()
    if pid:
        return pid
    say("child", host_identity(), process_identity(os.getpid()))
    child()
    sys.exit()

def join(pid):
    _, status = os.waitpid(pid, 0)
    say("exit code", os.waitstatus_to_exitcode(status))

def refused(call):
    try:
        say("not refused:", call())
    except AvatarDown as error:
        say("refused:", "make a new AvatarEngine" in str(error))

say("parent", host_identity(), process_identity(os.getpid()))
"""


def play(tmp_path: Path, program: str) -> list[str]:
    """What the program said; nothing is left of it and of its children."""
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + program, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    hosts = [line.split() for line in lines if line.startswith(("parent ", "child "))]
    for _, host, process in hosts:
        assert not processes_of(host)
        assert not directories_of(process)
    return [line for line in lines if not line.startswith(("parent ", "child "))]


USED_BEFORE = """
engine = make()
say(engine.chat_sync("1+1").content)

def child():
    for call in (lambda: engine.chat_sync("1+1"), engine.start_sync, engine.interrupt_sync,
                 lambda: list(engine.chat_stream("1+1")), lambda: engine.capabilities,
                 lambda: asyncio.run(engine.chat("1+1"))):
        refused(call)
    say(engine.is_healthy(), len(engine.get_history()))
    engine.stop_sync()
    own = make()
    say(own.chat_sync("2+2").content)
    own.stop_sync()

join(fork(child))
say(engine.chat_sync("3+3").content)
engine.stop_sync()
"""


def test_m4_child_has_an_engine_of_its_own_and_the_parents_is_refused(tmp_path: Path) -> None:
    said = play(tmp_path, USED_BEFORE)
    assert said == ["2", *["refused: True"] * 6, "False 2", "4", "exit code 0", "6"]


PRE_FORK = """
engine, ready = make(), make()
ready.on(TextEvent, lambda event: event.text and say("heard", event.text))
engine.on(TextEvent, lambda event: None)
engine.chat_sync("1+1")

def worker():
    say(ready.chat_sync("2+2").content)
    ready.stop_sync()
    os.kill(os.getpid(), signal.SIGTERM)

for _ in range(2):
    join(fork(worker))
say(engine.chat_sync("3+3").content)
engine.stop_sync()
"""


def test_m4_engine_that_was_only_made_before_the_fork_works_in_each_worker(tmp_path: Path) -> None:
    said = play(tmp_path, PRE_FORK)
    assert sorted(said) == ["4", "4", "6", "exit code -15", "exit code -15", "heard 4", "heard 4"]


IN_A_TURN = """
engine, runtime = make(), RuntimeThread().start_sync()
other = make(runtime=runtime)
with engine, other:
    stream = engine.chat_stream(WAIT)
    say(next(stream))
    handle = other.chat_async(WAIT)

    def leave():
        refused(handle.result)
        refused(lambda: next(stream))
        refused(lambda: make(runtime=runtime).chat_sync("1+1"))
        with stream:
            sys.exit(7)

    join(fork(leave))
    stream.close()
    say(engine.chat_sync("1+1").content, handle.done)
    handle.cancel()
    say(handle.result().outcome.value)
runtime.stop_sync()
"""


def test_m4_waits_that_began_before_the_fork_end_at_once_in_the_child(tmp_path: Path) -> None:
    said = play(tmp_path, IN_A_TURN)
    assert said == ["here", *["refused: True"] * 3, "exit code 7", "2 False", "cancelled"]


STOPPED_BY_SIGNALS = """
engine = make()
stop_on_signals(engine)
engine.chat_sync("1+1")
reading, writing = os.pipe()

def child():
    os.write(writing, b"x")
    signal.pause()

pid = fork(child)
os.read(reading, 1)
os.kill(pid, signal.SIGTERM)
join(pid)
say(engine.chat_sync("3+3").content)
engine.stop_sync()
"""


def test_m4_signal_to_the_child_ends_the_child_and_not_its_parent(tmp_path: Path) -> None:
    assert play(tmp_path, STOPPED_BY_SIGNALS) == [f"exit code {-signal.SIGTERM}", "6"]


FORKED_BY_A_HANDLER = """
engine = make()

def child():
    with make() as own:
        say(own.chat_sync("2+2").content)
    os._exit(0)

engine.on(TextEvent, lambda event: event.text and join(fork(child)))
engine.chat_sync("1+1")
engine.stop_sync()
"""


def test_m4_handler_may_fork(tmp_path: Path) -> None:
    assert play(tmp_path, FORKED_BY_A_HANDLER) == ["4", "exit code 0"]
