"""What the host's own code raises, and what crashes, is seen, with `logging` configured or not."""

import os
import subprocess
import sys
from pathlib import Path

from tests.hosting.engines import PATIENCE

SECRET = "sesame-opens-it"

# A program as a newcomer writes it: a handler and a callback that fail, an agent that is killed.
PROGRAM = f"""
import logging
import sys
from avatar_actors import AvatarEngine, TurnEndedEvent

engine = AvatarEngine(options={{"scripts": "true"}}, env={{"API_TOKEN": {SECRET!r}}})

@engine.on(TurnEndedEvent)
def plain(event):
    raise ValueError("plain handler saw " + engine.token)

@engine.on(TurnEndedEvent)
async def coroutine(event):
    raise ValueError("coroutine handler")

def callback(response):
    raise ValueError("callback")

engine.token = {SECRET!r}
print(engine.chat_sync('SCRIPT:[{{"kill": "KILL"}}]').outcome.value)
engine.chat_async("1+1", callback).result()
engine.stop_sync()
"""
CONFIGURED = "import logging; logging.basicConfig(stream=open(1, 'w', closefd=False))\n"
REFUSED = """
from avatar_actors import AvatarEngine, AgentNotFound
try:
    AvatarEngine(executable="no-such-program").start_sync()
except AgentNotFound as error:
    print(error)
"""
CRASHES = """
import trio
from avatar_actors import open_runtime

async def main():
    async with open_runtime() as runtime:
        aria = await runtime.start(options={"scripts": "true"})
        await aria.chat('SCRIPT:[{"kill": "KILL"}]')

trio.run(main)
"""
CAUSES = ("in plain\n", "in coroutine\n", "in callback\n", "AgentDied: the agent was killed")


def run(program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert SECRET not in done.stdout + done.stderr
    return done


def test_without_logging_every_error_is_on_stderr() -> None:
    done = run(PROGRAM)
    assert done.stdout == "crashed\n"
    assert [cause for cause in CAUSES if cause not in done.stderr] == []
    assert "[secret]" in done.stderr


def test_with_logging_every_error_comes_to_the_hosts_handlers() -> None:
    done = run(CONFIGURED + PROGRAM)
    assert done.stderr == ""
    assert [cause for cause in CAUSES if cause not in done.stdout] == []


def test_start_that_fails_is_raised_and_not_printed_as_well() -> None:
    done = run(REFUSED)
    assert (done.stdout, done.stderr) == ("'no-such-program' was not found\n", "")


def test_crash_in_a_trio_program_is_on_stderr() -> None:
    done = run(CRASHES)
    assert "session/bridge crashed (life 1)" in done.stderr
    assert "AgentDied: the agent was killed by SIGKILL" in done.stderr


def test_command_line_tells_of_a_crash_in_its_own_words(tmp_path: Path) -> None:
    killed = 'SCRIPT:[{"kill": "KILL"}]'
    command = [sys.executable, "-m", "avatar_actors", "chat", "-p", "embedded", killed]
    variables = {**os.environ, "AVATAR_EMBEDDED_SCRIPTS": "1", "XDG_STATE_HOME": str(tmp_path)}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE, check=False, env=variables
    )
    assert "killed by SIGKILL" in done.stderr
    assert "Traceback" not in done.stderr
    assert "session/bridge" not in done.stderr
