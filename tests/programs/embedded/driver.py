"""Drives the real embedded agent, and the fake ones, over their pipes."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import trio

from avatar_actors.programs.embedded.json_lines import (
    Record,
    is_record,
    record_in,
    records_in,
    text_in,
)
from tests.fake_agents.launcher import command as fake_command

ROOT = Path(__file__).resolve().parent.parent.parent.parent
START = "import sys; sys.path.insert(0, {root!r}); from {module} import main; main()"
COMMAND = [
    *(sys.executable, "-I", "-S", "-c"),
    START.format(root=str(ROOT), module="avatar_actors.programs.embedded.program"),
]
CLAUDE = [
    *fake_command("claude"),
    *("-p", "--verbose"),
    *("--input-format", "stream-json", "--output-format", "stream-json"),
]
GEMINI = [*fake_command("gemini"), "--output-format", "stream-json"]
# How each agent is started that speaks ACP.
ACP = {
    "plain": COMMAND,
    "gemini": [*fake_command("gemini"), "--acp"],
    "codex-zed": fake_command("codex-zed"),
    "codex-acp": fake_command("codex-acp"),
}
Steps: TypeAlias = list[dict[str, object]]


def script(steps: Steps) -> str:
    return f"SCRIPT:{json.dumps(steps)}"


@dataclass
class Place:
    """Where an agent works and where it stores; both are new folders."""

    folder: Path
    cwd: Path = field(init=False)
    home: Path = field(init=False)

    def __post_init__(self) -> None:
        self.cwd = self.folder / "cwd"
        self.home = self.folder / "home"
        self.cwd.mkdir(exist_ok=True)

    def environment(self, more: dict[str, str]) -> dict[str, str]:
        return {**os.environ, "AVATAR_EMBEDDED_HOME": str(self.home), **more}


class Process:
    """The agent's process and the lines of its streams."""

    def __init__(self, process: trio.Process, place: Place) -> None:
        self.process = process
        self.place = place
        self.rest = b""

    async def send(self, message: Record) -> None:
        await self.send_bytes(json.dumps(message).encode() + b"\n")

    async def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        await self.process.stdin.send_all(data)

    async def line(self) -> bytes | None:
        """The next line of stdout; None at its end."""
        assert self.process.stdout is not None
        parts = [self.rest]
        while b"\n" not in parts[-1]:
            chunk = await self.process.stdout.receive_some(1 << 18)
            if not chunk:
                self.rest = b""
                return b"".join(parts) or None
            parts.append(bytes(chunk))
        last, _, self.rest = parts[-1].partition(b"\n")
        return b"".join([*parts[:-1], last])

    async def message(self) -> Record:
        line = await self.line()
        assert line is not None, "the agent closed its stdout"
        value: object = json.loads(line)
        assert is_record(value)
        return value

    async def until(self, wanted: Callable[[Record], bool]) -> list[Record]:
        """All the messages up to the first one that is wanted."""
        messages = [await self.message()]
        while not wanted(messages[-1]):
            messages.append(await self.message())
        return messages

    async def close(self) -> int:
        """Ends stdin and gives the exit code."""
        assert self.process.stdin is not None
        await self.process.stdin.aclose()
        return await self.process.wait()


class Acp(Process):
    """An agent that speaks ACP."""

    requests = 0
    session = ""

    async def request(self, method: str, params: Record) -> int:
        self.requests += 1
        message: Record = {"jsonrpc": "2.0", "id": self.requests, "method": method}
        await self.send({**message, "params": params})
        return self.requests

    async def call(self, method: str, params: Record) -> list[Record]:
        """Everything up to the answer."""
        request = await self.request(method, params)
        return await self.until(answers(request))

    async def initialize(self, **capabilities: object) -> Record:
        params: Record = {"protocolVersion": 1, "clientCapabilities": capabilities}
        return (await self.call("initialize", params))[-1]

    def session_params(self, **more: object) -> Record:
        return {"cwd": str(self.place.cwd), "mcpServers": [], **more}

    async def new(self, **more: object) -> Record:
        answer = (await self.call("session/new", self.session_params(**more)))[-1]
        self.session = text_in(record_in(answer, "result"), "sessionId")
        # The commands follow every new session.
        await self.message()
        return record_in(answer, "result")

    async def begin(self, prompt: str | Steps) -> int:
        text = prompt if isinstance(prompt, str) else script(prompt)
        blocks: list[Record] = [{"type": "text", "text": text}]
        return await self.request("session/prompt", {"sessionId": self.session, "prompt": blocks})

    async def prompt(self, prompt: str | Steps) -> list[Record]:
        """Everything of a turn, its answer last."""
        return await self.until(answers(await self.begin(prompt)))

    async def cancel(self) -> None:
        params: Record = {"sessionId": self.session}
        await self.send({"jsonrpc": "2.0", "method": "session/cancel", "params": params})

    async def choose(self, request: Record, option: str) -> None:
        outcome: Record = {"outcome": "selected", "optionId": option}
        if option == "cancelled":
            outcome = {"outcome": "cancelled"}
        reply: Record = {"jsonrpc": "2.0", "id": request["id"], "result": {"outcome": outcome}}
        await self.send(reply)


class Claude(Process):
    """The fake Claude."""

    async def say(self, prompt: str | Steps, **more: object) -> None:
        text = prompt if isinstance(prompt, str) else script(prompt)
        await self.send({"type": "user", "message": {"role": "user", "content": text}, **more})

    async def turn(self, prompt: str | Steps, **more: object) -> list[Record]:
        """Everything up to idle."""
        await self.say(prompt, **more)
        return await self.until(is_idle)

    async def control(self, subtype: str, **more: object) -> list[Record]:
        """Everything up to the answer."""
        request: Record = {"subtype": subtype, **more}
        await self.send({"type": "control_request", "request_id": subtype, "request": request})
        return await self.until(lambda message: is_control_answer(message, subtype))

    async def answer(self, request: Record, response: Record) -> None:
        inner: Record = {"subtype": "success", "request_id": request["request_id"]}
        inner["response"] = response
        await self.send({"type": "control_response", "response": inner})


async def read_fifo(path: Path) -> str:
    """What the next writer of the fifo writes."""
    return await trio.to_thread.run_sync(path.read_text, abandon_on_cancel=True)


def answers(request: int) -> Callable[[Record], bool]:
    return lambda message: message.get("id") == request and "method" not in message


def is_request(method: str) -> Callable[[Record], bool]:
    return lambda message: message.get("method") == method


def is_update(kind: str) -> Callable[[Record], bool]:
    return lambda message: text_in(update_of(message), "sessionUpdate") == kind


def update_of(message: Record) -> Record:
    return record_in(record_in(message, "params"), "update")


def updates(messages: list[Record]) -> list[Record]:
    return [update_of(message) for message in messages if update_of(message)]


def text_of(messages: list[Record]) -> str:
    """What the agent said in these messages of ACP."""
    chunks = [each for each in updates(messages) if each["sessionUpdate"] == "agent_message_chunk"]
    return "".join(text_in(record_in(chunk, "content"), "text") for chunk in chunks)


def is_idle(message: Record) -> bool:
    return message.get("state") == "idle"


def is_type(kind: str) -> Callable[[Record], bool]:
    return lambda message: message.get("type") == kind


def is_control_answer(message: Record, request_id: str) -> bool:
    return record_in(message, "response").get("request_id") == request_id


def result_of(messages: list[Record]) -> Record:
    return next(message for message in messages if message.get("type") == "result")


def claude_text(messages: list[Record]) -> str:
    """What the agent said in these lines of Claude."""
    said: list[str] = []
    for message in messages:
        if message.get("type") == "assistant":
            blocks = records_in(record_in(message, "message"), "content")
            said += [text_in(block, "text") for block in blocks]
    return "".join(said)


@asynccontextmanager
async def open_process(
    place: Place, command: list[str], env: dict[str, str] | None = None
) -> AsyncGenerator[trio.Process, None]:
    """The agent's process, killed at the end if it still lives."""
    process = await trio.lowlevel.open_process(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=place.cwd,
        env=place.environment(env or {}),
    )
    try:
        with trio.fail_after(60):
            yield process
    finally:
        if process.returncode is None:
            process.kill()
        with trio.CancelScope(shield=True, deadline=trio.current_time() + 10):
            await process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with trio.CancelScope(shield=True, deadline=trio.current_time() + 1):
                    await stream.aclose()


@asynccontextmanager
async def open_acp(
    place: Place, *flags: str, variant: str = "plain", env: dict[str, str] | None = None
) -> AsyncGenerator[Acp, None]:
    async with open_process(place, [*ACP[variant], *flags], env) as process:
        yield Acp(process, place)


@asynccontextmanager
async def open_session(
    place: Place, *flags: str, variant: str = "plain"
) -> AsyncGenerator[Acp, None]:
    """An ACP agent with a session."""
    async with open_acp(place, *flags, variant=variant) as agent:
        await agent.initialize()
        await agent.new()
        yield agent


@asynccontextmanager
async def open_claude(
    place: Place, *flags: str, env: dict[str, str] | None = None
) -> AsyncGenerator[Claude, None]:
    states = {"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1"}
    async with open_process(place, [*CLAUDE, *flags], {**states, **(env or {})}) as process:
        yield Claude(process, place)
