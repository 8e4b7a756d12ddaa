"""The agent that costs nothing: what it answers, compiled and in Python."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Generator
from typing import Any

import pytest

from bench.agents import quiet_agent
from bench.agents.quiet_agent import COMPILERS, pulse, say

HAS_COMPILER = any(map(shutil.which, COMPILERS))
IN_PYTHON = (sys.executable, "-I", "-S", quiet_agent.__file__)


class Client:
    """Speaks to the agent line by line."""

    def __init__(self, command: tuple[str, ...]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def send(self, **message: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def prompt(self, text: str) -> None:
        parts = [{"type": "text", "text": text}]
        self.send(id=7, method="session/prompt", params={"sessionId": "quiet", "prompt": parts})

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        heard: dict[str, Any] = json.loads(self.process.stdout.readline())
        return heard

    def text(self) -> str:
        text: str = self.hear()["params"]["update"]["content"]["text"]
        return text

    def stop_reason(self) -> str:
        answer = self.hear()
        assert answer["id"] == 7
        reason: str = answer["result"]["stopReason"]
        return reason


@pytest.fixture(
    params=[
        pytest.param("compiled", marks=pytest.mark.skipif(not HAS_COMPILER, reason="no compiler")),
        "python",
    ]
)
def client(request: pytest.FixtureRequest) -> Generator[Client]:
    with quiet_agent.quiet_agent() as compiled:
        client = Client(compiled if request.param == "compiled" else IN_PYTHON)
        yield client
        client.process.communicate(timeout=60)
        assert client.process.returncode == 0


def test_it_opens_a_session(client: Client) -> None:
    client.send(id="a", method="initialize", params={"protocolVersion": 1})
    client.send(id=1, method="session/new", params={"cwd": "/", "mcpServers": []})
    client.send(id=2, method="unheard/of")
    hello, opened, other = client.hear(), client.hear(), client.hear()
    assert (hello["id"], hello["result"]["protocolVersion"]) == ("a", 1)
    assert (opened["id"], opened["result"]) == (1, {"sessionId": "quiet"})
    assert (other["id"], other["result"]) == (2, {})


def test_it_says_a_text_of_the_length_that_it_was_asked_for(client: Client) -> None:
    client.prompt(say(100_000))
    assert client.text() == "x" * 100_000
    assert client.stop_reason() == "end_turn"


def test_its_pulses_are_numbered_and_none_comes_before_its_time(client: Client) -> None:
    began = time.monotonic_ns()
    client.prompt(pulse(5, every=0.01, start=began / 1e9 + 0.05, linger=0.05))
    words = [client.text().split() for _ in range(5)]
    assert client.stop_reason() == "end_turn"
    ended = time.monotonic_ns()
    assert [int(number) for number, _ in words] == [0, 1, 2, 3, 4]
    # A float of seconds cannot tell a microsecond of a machine that is up for years.
    first = began + 49_999_000
    assert all(int(at) >= first + int(number) * 10_000_000 for number, at in words)
    assert ended >= int(words[-1][1]) + 50_000_000


def test_pulse_that_is_cancelled_ends_at_once(client: Client) -> None:
    client.prompt(pulse(1000, every=100))
    assert client.text().startswith("0 ")
    client.send(method="session/cancel", params={"sessionId": "quiet"})
    assert client.stop_reason() == "cancelled"


def test_any_other_prompt_ends_without_a_text(client: Client) -> None:
    client.prompt("hello")
    assert client.stop_reason() == "end_turn"
