import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from avatar_actors import AvatarEngine, SettingsError, stop_on_signals
from tests.conformance.remains import directories_of, processes_of
from tests.docs.test_snippets import ROOT
from tests.hosting.engines import PATIENCE

CALL = """
import os, sys
from avatar_actors import AvatarEngine, TextEvent
from avatar_actors.processes.sweep import host_identity, process_identity
place = sys.argv[1]
engine = AvatarEngine("embedded", working_dir=place, env={"AVATAR_EMBEDDED_HOME": place})
engine.on(TextEvent, lambda event: print(event.text, flush=True))
print(host_identity(), process_identity(os.getpid()), flush=True)
try:
    engine.chat_sync('SCRIPT:[{"say": "here"}, {"wait": 1000}]')
except KeyboardInterrupt:
    print(engine.chat_sync("1+1").content, flush=True)
    raise
"""


def test_ctrl_c_in_a_call_ends_the_turn_and_then_the_program(tmp_path: Path) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", CALL, str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stdout is not None
    host, process = program.stdout.readline().split()
    assert program.stdout.readline() == "here\n"
    program.send_signal(signal.SIGINT)
    out, errors = program.communicate(timeout=PATIENCE)
    assert "2" in out
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert program.returncode == -signal.SIGINT
    assert not processes_of(host)
    assert not directories_of(process)


def test_signals_are_for_the_main_thread_alone() -> None:
    raised: list[str] = []

    def ask() -> None:
        try:
            stop_on_signals(AvatarEngine())
        except RuntimeError as error:
            raised.append(str(error))

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join(PATIENCE)
    assert "main thread" in raised[0]


async def test_trio_program_is_told_what_to_use_instead() -> None:
    with pytest.raises(RuntimeError, match="open_signal_receiver"):
        stop_on_signals(AvatarEngine())


@pytest.mark.parametrize("deadline", [0.0, -1.0, float("inf"), float("nan")])
def test_deadline_must_be_a_number_of_seconds(deadline: float) -> None:
    with pytest.raises(SettingsError, match="deadline"):
        stop_on_signals(AvatarEngine(), deadline=deadline)


UNUSED = """
import time
from avatar_actors import AvatarEngine, stop_on_signals
stop_on_signals(AvatarEngine("embedded"), deadline=1000)
print("ready", flush=True)
while True:
    time.sleep(1)
"""
# An engine that never stops; the main thread hears of the first signals, and of no more.
HELD_UP = """
import hashlib, sys, threading, time
from avatar_actors import stop_on_signals
from concurrent.futures import Future

class Endless:
    is_told = False
    def close_for_good(self):
        self.is_told = True
        return Future()

endless = Endless()
stop_on_signals(endless, deadline=float(sys.argv[1]))
print("ready", flush=True)
while sys.argv[2] == "listens" and not endless.is_told:
    time.sleep(0.01)

def foreign():
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)

def tell():
    looks = [None]
    while looks[-3:] != ["foreign"] * 3:
        time.sleep(0.01)
        looks.append(sys._current_frames()[threading.main_thread().ident].f_code.co_name)
    print("in foreign code", flush=True)

threading.Thread(target=tell, daemon=True).start()
foreign()
"""


def start(program: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_sigterm_ends_a_program_whose_engine_was_never_started() -> None:
    with start(UNUSED) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        program.terminate()
        try:
            assert program.wait(PATIENCE) == 128 + signal.SIGTERM
        finally:
            program.kill()


def test_second_signal_ends_a_program_whose_main_thread_is_in_foreign_code() -> None:
    with start(HELD_UP, "1000", "listens") as program:
        assert program.stdout is not None
        for line in ("ready\n", "in foreign code\n"):
            assert program.stdout.readline() == line
            program.terminate()
        try:
            assert program.wait(PATIENCE) == 128 + signal.SIGTERM
        finally:
            program.kill()


def test_deadline_ends_a_program_whose_main_thread_is_in_foreign_code() -> None:
    with start(HELD_UP, "0.1", "is deaf") as program:
        assert program.stdout is not None
        for line in ("ready\n", "in foreign code\n"):
            assert program.stdout.readline() == line
        program.terminate()
        try:
            assert program.wait(PATIENCE) == 128 + signal.SIGTERM
        finally:
            program.kill()
