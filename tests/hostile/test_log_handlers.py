"""Handlers of the host that raise, a full disk under the log, a closed stderr: nobody ends."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from avatar_actors.model.redaction import Redactor
from avatar_actors.observe.log_lines import SecretsFilter
from supervisors import SafeLogger

# Each host has two avatars, kills the agent of one, and prints what both answer after that.
BREAKING = """
import logging, os, signal, sys

class Raises(logging.Handler):
    def handle(self, record):
        raise SystemExit(7) if record.levelno >= logging.ERROR else OSError(28, "No space left")

for logger in map(logging.getLogger, ("avatar_actors", "supervisors")):
    logger.setLevel(logging.DEBUG)
    %s
"""
TRIO = """
import trio
from avatar_actors import BridgeState, LogSettings, StateEvent, open_runtime

async def main():
    with trio.fail_after(120):
        async with open_runtime(%s) as runtime:
            avatars = [await runtime.start("embedded", name, working_dir=".") for name in "ab"]
            async with avatars[0].events(StateEvent) as states:
                os.kill((await avatars[0].health()).pid, signal.SIGKILL)
                async for state in states:
                    if state.new_state is BridgeState.READY:
                        break
            for avatar in avatars:
                print((await avatar.chat("2 + 2")).success, flush=True)

trio.run(main)
"""
ENGINES = """
import time
from avatar_actors import AvatarEngine, BridgeState, StateEvent

def fail(event):
    raise ValueError("a handler of the host")

with AvatarEngine(working_dir=".") as first, AvatarEngine(working_dir=".") as second:
    first.on(StateEvent, fail)
    killed = first.get_health().pid
    os.kill(killed, signal.SIGKILL)
    print(second.chat_sync("2 + 2").success, flush=True)
    while (health := first.get_health()).state is not BridgeState.READY or health.pid == killed:
        time.sleep(0.01)
    print(first.chat_sync("2 + 2").success, flush=True)
"""
WAYS = {
    "handler": "logger.addHandler(Raises())",
    "filter": "logger.addFilter(Raises().handle)",
    "stderr full": "os.dup2(os.open('/dev/full', os.O_WRONLY), 2)\n"
    "    logger.addHandler(logging.StreamHandler())",
    "stderr closed": "sys.stderr.close()\n    logger.addHandler(logging.StreamHandler())",
}


def run(program: str, place: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=place,
        env={"AVATAR_EMBEDDED_HOME": str(place), "PATH": "/usr/bin:/bin", "HOME": str(place)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    # 120: Python could not write the last of stderr.
    assert done.returncode in {0, 120}, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("host", [TRIO % "", ENGINES], ids=["trio", "engines"])
def test_h5_a_host_keeps_all_its_avatars(way: str, host: str, tmp_path: Path) -> None:
    assert run(BREAKING % WAYS[way] + host, tmp_path) == "True\nTrue\n"


@pytest.mark.parametrize("way", ["stderr full", "stderr closed"])
def test_h5_a_log_of_our_own_that_cannot_be_written_ends_nobody(way: str, tmp_path: Path) -> None:
    program = BREAKING % WAYS[way] + TRIO % "log=LogSettings(level='DEBUG')"
    assert run(program, tmp_path) == "True\nTrue\n"


class Hostile:
    """An argument of a record that has no words."""

    def __str__(self) -> str:
        raise RuntimeError("sk-secret-1234")


def test_h5_a_record_that_cannot_be_checked_goes_out_without_its_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    secrets, log = SecretsFilter(), logging.getLogger("avatar_actors.turns")
    secrets.learn("aria", Redactor(["sk-secret-1234"]))
    log.addFilter(secrets)
    try:
        SafeLogger(log.name).warning("with %s and sk-secret-1234", Hostile())
        SafeLogger(log.name).warning("too few %s %s", "sk-secret-1234")
    finally:
        log.removeFilter(secrets)
    assert len(caplog.messages) == 2
    assert all("could not be checked" in each for each in caplog.messages)
    assert "sk-secret" not in caplog.text


def test_a_line_keeps_its_place_and_what_it_is_about(caplog: pytest.LogCaptureFixture) -> None:
    SafeLogger("avatar_actors.turns").warning("a line", extra={"avatar": "aria"})
    [record] = caplog.records
    assert (record.filename, record.__dict__["avatar"]) == (Path(__file__).name, "aria")
