"""The agent's stdin, stdout and stderr: one actor each, so that none can hold up another."""

from __future__ import annotations

import math
from collections import deque
from typing import TypeAlias

import trio

from avatar_actors.model.errors import AgentDied
from avatar_actors.model.events import DiagnosticEvent
from avatar_actors.model.redaction import Redactor
from avatar_actors.model.values import Level
from avatar_actors.processes import Lease, PipeReader
from avatar_actors.session.messages import Nothing, Publish, StderrTail, StreamEnded, Write
from supervisors import Address, Inbox

# Blocks that a pipe can still hold when its writer died: a grandchild may write for ever.
_LEFT_OVER = 16
# How long a closed stdout waits for the news that the process ended too.
_NEWS = 0.05

FromAgent: TypeAlias = bytes | StreamEnded


async def stdout_reader(
    inbox: Inbox[Nothing], lease: Lease, out: trio.MemorySendChannel[FromAgent]
) -> None:
    """Reads to the end of the process, even if a grandchild still holds the pipe then.

    What the end means is the bridge's to say: this actor only waits to be stopped after it.
    """
    inbox.ready()
    try:
        await _pass_on(lease, out)
    except* trio.BrokenResourceError:
        pass  # the bridge has left, so the session is being stopped
    await trio.sleep_forever()


async def _pass_on(lease: Lease, out: trio.MemorySendChannel[FromAgent]) -> None:
    unsent = b""
    async with out:
        async with trio.open_nursery() as nursery:
            with trio.CancelScope() as while_alive:
                nursery.start_soon(_cancel_at_exit, lease, while_alive)
                while unsent := await _some(lease.stdout):
                    await _send(out, unsent)
                    unsent = b""
            if while_alive.cancelled_caught:
                for block in [unsent, *_left_over(lease.stdout)]:
                    await out.send(block)
            nursery.cancel_scope.cancel()
        returncode: int | None = None
        with trio.move_on_after(_NEWS):
            returncode = await lease.exited()
        await out.send(StreamEnded(returncode))


async def _send(out: trio.MemorySendChannel[FromAgent], block: bytes) -> None:
    # Reading was a checkpoint already: only a full channel is worth another turn of the loop.
    try:
        out.send_nowait(block)
    except trio.WouldBlock:
        await out.send(block)


async def _cancel_at_exit(lease: Lease, scope: trio.CancelScope) -> None:
    await lease.exited()
    scope.cancel()


async def _some(pipe: PipeReader) -> bytes:
    try:
        return await pipe.receive_some()
    except trio.BrokenResourceError:
        return b""


def _left_over(pipe: PipeReader) -> list[bytes]:
    blocks: list[bytes] = []
    while len(blocks) < _LEFT_OVER and (block := pipe.read_nowait()):
        blocks.append(block)
    return blocks


_RING = 200
_LONGEST = 2000
# A flood is not news: so many lines a second are shown, the rest is only kept and counted.
_SHOWN_PER_SECOND = 20


class LastLines:
    """The last lines of a stream, cut to length, without secrets. Pure."""

    def __init__(self, redactor: Redactor) -> None:
        self.lines: deque[str] = deque(maxlen=_RING)
        self.count: int = 0
        self._redactor = redactor
        # A secret across the cut must be seen whole, to be hidden whole.
        self._longest = _LONGEST + redactor.longest * 4
        self._half = b""

    def feed(self, data: bytes) -> list[str]:
        """The new whole lines, at most as many as are kept."""
        *whole, half = (self._half + data).split(b"\n")
        self._half = half[: self._longest + 1]
        self.count += len(whole)
        new = [self._clean(line) for line in whole[-_RING:]]
        self.lines.extend(new)
        return new

    def end(self) -> list[str]:
        """The last line, if it had no end."""
        return self.feed(b"\n") if self._half else []

    def _clean(self, line: bytes) -> str:
        text = line.rstrip(b"\r")[: self._longest].decode("utf-8", "replace")
        text = self._redactor.hide(text)
        if len(line) > self._longest:  # the cut may have left the beginning of one
            text = text[: len(text) - self._redactor.longest]
        return text[:_LONGEST]


async def stderr_monitor(
    inbox: Inbox[StderrTail],
    pipe: trio.abc.ReceiveStream,
    hub: Address[Publish],
    redactor: Redactor,
) -> None:
    """Two tasks: one reads the pipe, one answers who asks for the tail."""
    tail = LastLines(redactor)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_read, pipe, tail, hub)
        async for message in inbox:
            inbox.reply(message, tuple(tail.lines))


async def _read(pipe: trio.abc.ReceiveStream, tail: LastLines, hub: Address[Publish]) -> None:
    second, shown, hidden = 0, 0, 0
    data = b" "
    async with pipe:
        while data:
            before = tail.count
            news = False
            with trio.move_on_after(1.0 if hidden else math.inf):
                data = await _some_stderr(pipe)
                news = True
            lines = (tail.feed(data) if data else tail.end()) if news else []
            arrived = tail.count - before
            now = int(trio.current_time())
            note: list[str] = []
            if now != second or not data:
                note = [f"{hidden} lines of stderr were not shown"] if hidden else []
                second, shown, hidden = now, 0, 0
            visible = lines[: _SHOWN_PER_SECOND - shown]
            shown += len(visible)
            hidden += arrived - len(visible)
            if note or visible:
                await hub.tell(Publish(0, [_diagnostic(line) for line in note + visible]))


async def _some_stderr(pipe: trio.abc.ReceiveStream) -> bytes:
    try:
        return bytes(await pipe.receive_some(65536))
    except trio.BrokenResourceError:
        return b""


def _diagnostic(line: str) -> DiagnosticEvent:
    return DiagnosticEvent(message=line, level=Level.INFO, source="stderr")


_EXIT_NEWS = 1.0


async def stdin_writer(
    inbox: Inbox[Write],
    pipe: trio.abc.SendStream,
    news: trio.MemorySendChannel[bytes | StreamEnded],
) -> None:
    """One message after the other. A message that was begun is finished, unless the agent dies.

    That nobody reads them any more is for the bridge to know, which has the turn.
    """
    with news:
        try:
            async for write in inbox:
                await pipe.send_all(write.data)
        except trio.BrokenResourceError:
            # If it died, the stdout reader is about to tell how, which says more than this.
            await trio.sleep(_EXIT_NEWS)
            await news.send(StreamEnded(None, AgentDied("the agent closed its input")))
            await trio.sleep_forever()
        finally:
            await trio.aclose_forcefully(pipe)
