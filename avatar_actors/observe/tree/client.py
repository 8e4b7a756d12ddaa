"""Watches the supervision tree of another program of this user, over its socket."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import msgspec
import trio
from msgspec import Struct

from avatar_actors.model.checks import checked
from avatar_actors.model.errors import Unwatchable
from avatar_actors.observe.tree.snapshot import TreeSnapshot
from avatar_actors.processes import is_our_user, tree_sockets
from avatar_actors.wire.framing import Lines

_BLOCK = 65536
# A part has some 100 bytes: enough for the trees of tens of thousands of avatars.
_LONGEST = 64 * 1024 * 1024
_DECODER = msgspec.json.Decoder(TreeSnapshot)


class ObservableProgram(Struct, frozen=True, kw_only=True):
    """A running program that offers its tree at `socket`."""

    pid: int
    socket: Path


def observable_programs() -> list[ObservableProgram]:
    """This user's programs, by process id; sockets of dead ones are removed."""
    programs = [ObservableProgram(pid=pid, socket=path) for pid, path in tree_sockets()]
    return sorted(programs, key=lambda program: (program.pid, program.socket))


@checked
@asynccontextmanager
async def watch_tree(path: Path) -> AsyncGenerator[AsyncIterator[TreeSnapshot]]:
    """The tree at this socket: as it is now, then at each change, until the program ends.

    Raises Unwatchable if no program offers a tree there, or what it sends is not one.
    """
    try:
        stream = await trio.open_unix_socket(os.fspath(path))
    except (OSError, ValueError) as error:
        raise Unwatchable(f"no program offers a tree at {path}: {error}") from error
    async with stream, aclosing(_snapshots(stream, path)) as snapshots:
        yield snapshots


async def _snapshots(stream: trio.SocketStream, path: Path) -> AsyncGenerator[TreeSnapshot]:
    if not is_our_user(stream.socket):
        raise Unwatchable(f"the program at {path} belongs to another user")
    lines, is_first = Lines(_LONGEST), True
    while data := await _received(stream):
        for line in lines.feed(data):
            is_first = False
            yield _read(line, path)
        if lines.take_overlong():
            raise Unwatchable(f"the program at {path} sent no tree: a line is too long")
    if is_first:
        raise Unwatchable(f"the program at {path} ended, or has too many watchers already")


async def _received(stream: trio.SocketStream) -> bytes:
    try:
        return bytes(await stream.receive_some(_BLOCK))
    except trio.BrokenResourceError:
        return b""


def _read(line: bytes, path: Path) -> TreeSnapshot:
    try:
        return _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Unwatchable(f"the program at {path} sent no tree: {error}") from error
