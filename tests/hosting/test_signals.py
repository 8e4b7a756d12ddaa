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
from avatar_actors.processes.identity import host_identity, process_identity
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
