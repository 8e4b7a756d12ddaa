"""The stdout reader: hands all that the agent writes to the bridge, to the last byte."""

from __future__ import annotations

from typing import TypeAlias

import trio

from avatar_actors.processes import Lease, PipeReader
from avatar_actors.session.messages import Nothing, StreamEnded
from supervisors import Inbox

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
