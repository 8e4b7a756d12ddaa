"""The example talks to an agent of the SDK."""

import os
import subprocess
import sys

from tests.session.remote.place import PATIENCE, TOKEN, Place, play


def example(*arguments: str, token: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "examples.remote_agent", *arguments]
    env = {**os.environ, "AGENT_TOKEN": token}
    return subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def test_the_example_prints_what_the_agent_says(place: Place) -> None:
    done = example(place.url(), play({"say": "hello from afar"}), token=TOKEN)
    assert (done.stdout, done.returncode) == ("hello from afar\nOutcome.COMPLETED\n", 0)


def test_the_example_tells_what_to_do_without_a_token(place: Place) -> None:
    done = example(place.url(), token="")
    assert "headers=" in done.stdout
    assert done.returncode == 1
