"""The tree endpoint: the actor that shows the supervision tree to this user's other programs.

It sends one JSON object per line, at once and then at each change, and reads nothing.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, suppress
from itertools import islice

import msgspec
import trio
from msgspec import Struct

from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.observe.tree.snapshot import TreeChange, TreePart, TreeRecord, TreeSnapshot
from avatar_actors.processes import is_our_user
from avatar_actors.session.messages import Nothing
from supervisors import AskFailed, Inbox, Notice, NoticeStream, TreeNode

MOST_WATCHERS = 8
# Seconds after which a watcher that reads nothing is disconnected.
PATIENCE = 30.0
# Seconds at the end of the runtime, to send the last snapshot.
LAST_SEND = 0.5
_CHANGES = 256
_NOTICES = 8192
# Mailboxes fill and empty without a notice.
_TICK = 1.0
_SHORTEST_PAUSE = 0.05
# Of the loop's time, since reading a tree of a thousand avatars takes some of it. A busy loop makes
# the reading last longer, though it takes no more.
_LARGEST_SHARE = 0.05
_LONGEST_PAUSE = 5.0


class TreeSource(Struct, frozen=True, kw_only=True):
    """The tree, and the socket on which it is shown. All of it outlives a crash of the endpoint."""

    listener: socket.socket
    pid: int
    program: str
    record: TreeRecord
    tree: Callable[[], Awaitable[TreeNode]]
    notices: Callable[[int], AbstractContextManager[NoticeStream]]
    events: Callable[[], AbstractAsyncContextManager[EventStream]]
    """The events of all avatars that `TreeRecord.hear` understands; they end with their router."""


async def tree_endpoint(inbox: Inbox[Nothing], source: TreeSource) -> None:
    """One task reads notices, one reads the tree, and one serves each watcher."""
    listener = trio.SocketListener(trio.socket.from_stdlib_socket(source.listener.dup()))
    with source.notices(_NOTICES) as notices:
        view = _TreeView(source, notices, await _picture(source))
        async with listener, trio.open_nursery() as nursery:
            nursery.start_soon(view.follow)
            nursery.start_soon(view.listen)
            nursery.start_soon(view.renew)
            inbox.ready()
            await trio.serve_listeners(view.show, [listener])


class _TreeView:
    """The tree as it was read last, and its watchers."""

    def __init__(self, source: TreeSource, notices: NoticeStream, picture: TreePart) -> None:
        self._source, self._notices = source, notices
        self._watchers = 0
        self._picture = picture
        self._changes: deque[TreeChange] = deque(maxlen=_CHANGES)
        # How many changes there were, and how many of them before the last reading.
        self._changed = self._pictured = 0
        self._happened, self._renewed = trio.Event(), trio.Event()

    async def follow(self) -> None:
        """Record the notices."""
        async for notice in self._notices:
            self._take(notice)
            self._happened.set()

    async def listen(self) -> None:
        """Record what the avatars do, also after a crash of the event router."""
        while True:
            with suppress(AskFailed):
                async with self._source.events() as stream:
                    async for event in stream:
                        self._source.record.hear(event)
                        self._happened.set()
            await trio.sleep(_TICK)

    def _take(self, notice: Notice) -> None:
        change = self._source.record.tell(notice)
        if change is not None:
            self._changes.append(change)
            self._changed += 1

    async def renew(self) -> None:
        """Read the tree again after changes, but not all the time."""
        while True:
            with trio.move_on_after(_TICK):
                await self._happened.wait()
            self._happened = trio.Event()
            began = trio.current_time()
            if self._watchers:
                await self._read()
            taken = trio.current_time() - began
            pause = max(_SHORTEST_PAUSE, taken / _LARGEST_SHARE)
            await trio.sleep(min(pause, _LONGEST_PAUSE))

    async def _read(self) -> None:
        for notice in self._notices.seen_so_far():
            self._take(notice)
        changed = self._changed
        picture = await _picture(self._source)
        is_news = picture != self._picture or self._pictured != changed
        if is_news and changed >= self._pictured:  # else a later reading was faster
            self._picture, self._pictured = picture, changed
            self._renewed.set()
            self._renewed = trio.Event()

    async def show(self, stream: trio.SocketStream) -> None:
        """Serve one watcher to its end, or refuse it."""
        async with stream:
            if self._watchers >= MOST_WATCHERS or not is_our_user(stream.socket):
                return
            self._watchers += 1
            try:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(_cancel_at_end, stream, nursery.cancel_scope)
                    await self._tell(stream)
                    nursery.cancel_scope.cancel()
            finally:
                self._watchers -= 1

    async def _tell(self, stream: trio.SocketStream) -> None:
        """Send snapshots until the watcher reads no more. A slow one gets the newest next."""
        await self._read()
        told = self._pictured
        while True:
            renewed = self._renewed
            line, told = self._line(told), self._pictured
            if not await _send(stream, line):
                return
            try:
                await renewed.wait()
                # Here and not in the midst of a line.
                await trio.lowlevel.checkpoint_if_cancelled()
            except trio.Cancelled:
                with trio.CancelScope(shield=True, deadline=trio.current_time() + LAST_SEND):
                    await self._read()
                    await _send(stream, self._line(told))
                raise

    def _line(self, told: int) -> bytes:
        return msgspec.json.encode(self._snapshot(told)) + b"\n"

    def _snapshot(self, told: int) -> TreeSnapshot:
        end = max(0, len(self._changes) - (self._changed - self._pictured))
        begin = max(0, end - (self._pictured - told))
        record = self._source.record
        return TreeSnapshot(
            pid=self._source.pid,
            program=self._source.program,
            since=record.since,
            time=record.wall(trio.current_time()),
            changes=tuple(islice(self._changes, begin, end)),
            missed=self._pictured - told - (end - begin),
            tree=self._picture,
        )


async def _picture(source: TreeSource) -> TreePart:
    """The tree as it is, read and described in slices: a thousand avatars take 0.1 s of CPU."""

    async def part(node: TreeNode) -> TreePart:
        if not any(child.children for child in node.children):
            return source.record.picture(node)
        await trio.lowlevel.checkpoint()
        return source.record.part(node, tuple([await part(child) for child in node.children]))

    return await part(await source.tree())


async def _send(stream: trio.SocketStream, line: bytes) -> bool:
    with suppress(trio.BrokenResourceError), trio.move_on_after(PATIENCE):
        await stream.send_all(line)
        return True
    return False


async def _cancel_at_end(stream: trio.SocketStream, watching: trio.CancelScope) -> None:
    """Stop serving a watcher that disconnects, or that sends anything."""
    with suppress(trio.BrokenResourceError):
        await stream.receive_some(1)
    watching.cancel()
