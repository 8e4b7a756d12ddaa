"""The agent's pipes: actors for stdin and stderr, and stdout as the bridge reads it."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import trio

from avatar_actors.model.errors import AgentDied
from avatar_actors.model.events import DiagnosticEvent
from avatar_actors.model.redaction import Redactor
from avatar_actors.model.values import Level
from avatar_actors.processes import Lease
from avatar_actors.session.messages import FromAgent, Publish, StderrTail, StreamEnded, Write
from supervisors import Address, Inbox

_BLOCK = 65536
# Blocks that a pipe can still hold when its writer died: a grandchild may write for ever.
_LEFT_OVER = 16
# How long a closed stdout waits for the news that the process ended too: one of low priority may
# have to wait for a core between the two.
_NEWS = 1.0


class ProcessOutput(trio.abc.ReceiveChannel[FromAgent]):
    """What the agent writes on stdout, to the last byte, and then how it ended.

    It ends with the process, even if a grandchild still holds the pipe then. The bridge reads it by
    itself: while it does not, the pipe fills and the agent waits.
    """

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self._pipe = lease.stdout
        self._left_over = _LEFT_OVER
        self._is_over = False
        self._why: StreamEnded | None = None

    async def watch_exit(self) -> None:
        """Stop waiting for more when the process has ended."""
        await self._lease.exited()
        self._stop()

    async def watch_input(self, news: trio.MemoryReceiveChannel[StreamEnded]) -> None:
        """Stop waiting for more when the stdin writer says that the agent no longer reads."""
        async for self._why in news:
            self._stop()

    async def receive(self) -> FromAgent:
        """The next block; at last a StreamEnded."""
        if not self._is_over:
            try:
                if block := await self._pipe.receive_some(_BLOCK):
                    return block
            except trio.BrokenResourceError:
                pass
            except trio.ClosedResourceError:
                if not self._is_over:  # not by us
                    raise
            self._is_over = True
        if self._left_over and (block := self._pipe.read_nowait()):
            self._left_over -= 1
            return block
        if self._why is not None:
            return self._why
        returncode: int | None = None
        with trio.move_on_after(_NEWS):
            returncode = await self._lease.exited()
        return StreamEnded(returncode)

    async def aclose(self) -> None:
        """Nothing to do: the pipe belongs to the lease."""
        await trio.lowlevel.checkpoint()

    def _stop(self) -> None:
        self._is_over = True
        self._pipe.stop_waiting()


@asynccontextmanager
async def open_output(
    lease: Lease, news: trio.MemoryReceiveChannel[StreamEnded]
) -> AsyncGenerator[ProcessOutput]:
    """The output of a process that runs, watched for its end for the length of a block."""
    output = ProcessOutput(lease)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(output.watch_exit)
        nursery.start_soon(output.watch_input, news)
        yield output
        nursery.cancel_scope.cancel()


async def _some(pipe: trio.abc.ReceiveStream) -> bytes:
    try:
        return bytes(await pipe.receive_some(_BLOCK))
    except trio.BrokenResourceError:
        return b""


_RING = 200
_LONGEST = 2000
# So many lines a second are published; the rest of a flood is only kept and counted.
_SHOWN_PER_SECOND = 20


class LastLines:
    """The last lines of a stream, cut to length, without secrets. Pure."""

    def __init__(self, redactor: Redactor) -> None:
        self.lines: list[str] = []
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
        self.lines = [*self.lines, *new][-_RING:]
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
    tracker: Address[Publish],
    redactor: Redactor,
) -> None:
    """Two tasks: one reads the pipe, one answers requests for the last lines."""
    tail = LastLines(redactor)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_read, pipe, tail, tracker)
        async for message in inbox:
            inbox.reply(message, tuple(tail.lines))


async def _read(pipe: trio.abc.ReceiveStream, tail: LastLines, tracker: Address[Publish]) -> None:
    second, shown, hidden = 0, 0, 0
    data = b" "
    async with pipe:
        while data:
            before = tail.count
            news = False
            with trio.move_on_after(1.0 if hidden else math.inf):
                data = await _some(pipe)
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
                await tracker.tell(Publish(0, [_diagnostic(line) for line in note + visible]))


def _diagnostic(line: str) -> DiagnosticEvent:
    return DiagnosticEvent(message=line, level=Level.INFO, source="stderr")


_EXIT_NEWS = 1.0


async def stdin_writer(
    inbox: Inbox[Write],
    pipe: trio.abc.SendStream,
    news: trio.MemorySendChannel[StreamEnded],
) -> None:
    """One message after the other. A message that was begun is finished, unless the agent dies.

    If the agent no longer reads, the bridge is told, which has the turn.
    """
    with news:
        try:
            async for write in inbox:
                await pipe.send_all(write.data)
        except trio.BrokenResourceError:
            # If it died, the bridge is about to hear how, which says more than this.
            await trio.sleep(_EXIT_NEWS)
            await news.send(StreamEnded(None, AgentDied("the agent closed its input")))
            await trio.sleep_forever()
        finally:
            await trio.aclose_forcefully(pipe)
