"""The embedded agent and the fake Claude as the programs use them: commands, scripts, sessions."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import avatar_actors
from tests.fake_agents import launcher

ROOT = Path(avatar_actors.__file__).resolve().parents[1]
# As the embedded provider starts it.
EMBEDDED = (
    sys.executable,
    "-I",
    "-S",
    "-c",
    f"import sys; sys.path.insert(0, {str(ROOT)!r}); "
    "from avatar_actors.programs.embedded.program import main; main()",
)
CLAUDE_FLAGS = (
    *("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"),
    "--include-partial-messages",
)
READ = 65536
COMPANY = 4

Decode: TypeAlias = Callable[[bytes], Any]
IsLast: TypeAlias = Callable[[Any], bool]


@contextmanager
def home() -> Generator[str]:
    """A directory to work in, where the agent keeps its sessions too; gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="bench-") as path:
        yield path


def environment(path: str) -> dict[str, str]:
    """What makes the agent keep its sessions there and play scripts."""
    return {"AVATAR_EMBEDDED_HOME": path, "AVATAR_EMBEDDED_SCRIPTS": "1"}


def script(*steps: Mapping[str, object]) -> str:
    """The prompt that makes the agent play these steps."""
    return f"SCRIPT:{json.dumps(steps)}"


def flood(chunks: int, text: str = "some words ") -> str:
    """The prompt for so many pieces of text, as fast as they can be written."""
    return script({"flood": chunks, "text": text})


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a plain program begins a session and a turn, and knows their ends."""

    command: tuple[str, ...]
    greetings: Callable[[str], Sequence[tuple[Mapping[str, object], IsLast]]]
    prompt: Callable[[str, str], Mapping[str, object]]
    is_over: IsLast


def _request(number: int, method: str, params: Mapping[str, object]) -> Mapping[str, object]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def _acp_greetings(cwd: str) -> Sequence[tuple[Mapping[str, object], IsLast]]:
    hello: Mapping[str, object] = {"protocolVersion": 1, "clientCapabilities": {}}
    return [
        (_request(0, "initialize", hello), lambda said: said.get("id") == 0),
        (
            _request(1, "session/new", {"cwd": cwd, "mcpServers": []}),
            lambda said: said.get("id") == 1,
        ),
    ]


def _acp_prompt(session_id: str, text: str) -> Mapping[str, object]:
    prompt = [{"type": "text", "text": text}]
    return _request(2, "session/prompt", {"sessionId": session_id, "prompt": prompt})


def _claude_greetings(_: str) -> Sequence[tuple[Mapping[str, object], IsLast]]:
    hello = {
        "type": "control_request",
        "request_id": "hello",
        "request": {"subtype": "initialize"},
    }
    return [(hello, lambda said: said.get("type") == "control_response")]


def _claude_prompt(_: str, text: str) -> Mapping[str, object]:
    return {
        "type": "user",
        "message": {"role": "user", "content": text},
        "parent_tool_use_id": None,
    }


ACP = Dialect(EMBEDDED, _acp_greetings, _acp_prompt, lambda said: said.get("id") == 2)
CLAUDE = Dialect(
    (*launcher.command("claude"), *CLAUDE_FLAGS),
    _claude_greetings,
    _claude_prompt,
    lambda said: said.get("subtype") == "session_state_changed" and said.get("state") == "idle",
)


class PlainAgent:
    """The agent in a plain child process, spoken to with nothing but reads and writes."""

    def __init__(self, dialect: Dialect, path: str) -> None:
        self._dialect = dialect
        self._session_id = ""
        self._rest = b""
        self._process = subprocess.Popen(
            dialect.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=path,
            env={
                **os.environ,
                **environment(path),
                "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1",
            },
            bufsize=0,
        )
        for message, is_last in dialect.greetings(path):
            _, answer = self._exchange(message, json.loads, is_last)
            self._session_id = str(answer.get("result", {}).get("sessionId", ""))

    def turn(self, text: str, decode: Decode) -> int:
        """Prompt, and decode each line of the turn; how many there were."""
        prompt = self._dialect.prompt(self._session_id, text)
        count, _ = self._exchange(prompt, decode, self._dialect.is_over)
        return count

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _exchange(
        self, message: Mapping[str, object], decode: Decode, is_last: IsLast
    ) -> tuple[int, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        fd, rest, count = self._process.stdout.fileno(), self._rest, 0
        while data := os.read(fd, READ):
            lines = (rest + data).split(b"\n")
            rest = lines.pop()
            messages = [decode(line) for line in lines]
            count += len(messages)
            # A turn's last line may have company in its block, but little.
            for said in messages[-COMPANY:]:
                if is_last(said):
                    self._rest = rest
                    return count, said
        raise RuntimeError("the agent ended before its turn")


@contextmanager
def plain_agent(dialect: Dialect) -> Generator[PlainAgent]:
    """A plain agent, ready for prompts; ended afterwards."""
    with home() as path:
        agent = PlainAgent(dialect, path)
        try:
            yield agent
        finally:
            agent.end()
