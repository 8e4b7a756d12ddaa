"""Hosts that do the least: read, split, decode; with a trio task for each agent, or in one loop.

`python -m bench.paced_floor` is the loop over epoll, without tasks; with `trio` first, the tasks.
"""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from typing import IO, Any

import msgspec
import trio

from bench.paced_load import Found, Listener, Load, run_host

READ = 65536
PATIENCE = 60.0


class _Reader:
    """Takes the texts from one agent's output."""

    def __init__(self, hear: Callable[[str], None]) -> None:
        self.is_over = False
        self._hear = hear
        self._rest = b""

    def feed(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            message = msgspec.json.decode(line)
            if "method" in message:
                self._hear(message["params"]["update"]["content"]["text"])
            else:
                self.is_over = True


def on_trio(load: Load, command: Sequence[str]) -> Found:
    return trio.run(_on_trio, load, command)


async def _on_trio(load: Load, command: Sequence[str]) -> Found:
    with _agents(load, command) as agents:
        listener = Listener(load)
        async with trio.open_nursery() as nursery:
            for (stdin, stdout), prompt in zip(agents, listener.prompts(), strict=True):
                nursery.start_soon(_read, stdout, _Reader(listener.hear))
                stdin.write(_prompt_line(prompt))
            for moment in (listener.start, listener.end):
                await trio.sleep(max(0.0, moment - time.monotonic()))
                listener.look()
        return listener.found()


async def _read(stdout: IO[bytes], reader: _Reader) -> None:
    async with trio.lowlevel.FdStream(os.dup(stdout.fileno())) as stream:
        while not reader.is_over:
            reader.feed(await stream.receive_some(READ))


def on_epoll(load: Load, command: Sequence[str]) -> Found:
    with _agents(load, command) as agents, select.epoll() as poll:
        listener = Listener(load)
        readers: dict[int, _Reader] = {}
        for (stdin, stdout), prompt in zip(agents, listener.prompts(), strict=True):
            readers[stdout.fileno()] = _Reader(listener.hear)
            poll.register(stdout.fileno(), select.EPOLLIN)
            stdin.write(_prompt_line(prompt))
        for moment in (listener.start, listener.end):
            _read_until(moment, poll, readers)
            listener.look()
        _read_until(listener.end + PATIENCE, poll, readers)
        return listener.found()


def _read_until(moment: float, poll: select.epoll, readers: dict[int, _Reader]) -> None:
    while (left := moment - time.monotonic()) > 0 and readers:
        for fd, _ in poll.poll(left):
            reader = readers[fd]
            reader.feed(os.read(fd, READ))
            if reader.is_over:
                poll.unregister(fd)
                del readers[fd]


@contextmanager
def _agents(load: Load, command: Sequence[str]) -> Generator[list[tuple[IO[bytes], IO[bytes]]]]:
    """Both pipes of each."""
    with ExitStack() as stack:
        agents: list[tuple[IO[bytes], IO[bytes]]] = []
        for _ in range(load.agents):
            process: subprocess.Popen[bytes] = stack.enter_context(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
            )
            stack.callback(process.kill)
            assert process.stdin is not None
            assert process.stdout is not None
            agents.append((process.stdin, process.stdout))
        yield agents


def _prompt_line(text: str) -> bytes:
    params: dict[str, Any] = {"sessionId": "quiet", "prompt": [{"type": "text", "text": text}]}
    request = {"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": params}
    return json.dumps(request, separators=(",", ":")).encode() + b"\n"


if __name__ == "__main__":
    if sys.argv[1:2] == ["trio"]:
        del sys.argv[1]
        run_host(on_trio)
    else:
        run_host(on_epoll)
