"""The tree endpoint: shows the supervision tree to programs of this user that want to watch it.

It says one JSON object per line, at once and then at each change, and hears nothing.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from itertools import islice

import msgspec
import trio
from msgspec import Struct

from avatar_actors.observe.tree.snapshot import TreeChange, TreeRecord, TreeSnapshot
from avatar_actors.processes import is_our_user
from avatar_actors.session.messages import Nothing
from supervisors import Inbox, Notice, NoticeStream, TreeNode

MOST_WATCHERS = 8
# Who takes nothing for so long loses the place to others.
PATIENCE = 30.0
# At the end of the runtime, for the last look.
FAREWELL = 0.5
_CHANGES = 256
_NOTICES = 8192
# Mailboxes fill and empty without a notice.
_TICK = 1.0
_SHORTEST_PAUSE = 0.05
# Of the loop's time: looking at a tree of a thousand avatars takes some of it.
_LARGEST_SHARE = 0.05


class TreeSource(Struct, frozen=True, kw_only=True):
    """What there is to see, and where it is shown. All of it outlives a crash of the endpoint."""

    listener: socket.socket
    pid: int
    program: str
    record: TreeRecord
    tree: Callable[[], TreeNode]
    notices: Callable[[int], AbstractContextManager[NoticeStream]]


async def tree_endpoint(inbox: Inbox[Nothing], prospect: TreeSource) -> None:
    """One task hears of changes, one looks at the tree, one serves each watcher."""
    listener = trio.SocketListener(trio.socket.from_stdlib_socket(prospect.listener.dup()))
    with prospect.notices(_NOTICES) as notices:
        screen = _Screen(prospect, notices)
        async with listener, trio.open_nursery() as nursery:
            nursery.start_soon(screen.follow)
            nursery.start_soon(screen.renew)
            inbox.ready()
            await trio.serve_listeners(screen.show, [listener])


class _Screen:
    """The last look at the tree, and who watches."""

    def __init__(self, prospect: TreeSource, notices: NoticeStream) -> None:
        self._prospect, self._notices = prospect, notices
        self._watchers = 0
        self._picture = prospect.record.picture(prospect.tree())
        self._changes: deque[TreeChange] = deque(maxlen=_CHANGES)
        # How many changes there have been, and how many of them before the last look.
        self._changed = self._pictured = 0
        self._happened, self._renewed = trio.Event(), trio.Event()

    async def follow(self) -> None:
        """Take down what happens."""
        async for notice in self._notices:
            self._take(notice)
            self._happened.set()

    def _take(self, notice: Notice) -> None:
        change = self._prospect.record.tell(notice)
        if change is not None:
            self._changes.append(change)
            self._changed += 1

    async def renew(self) -> None:
        """Look again when something has happened, but not all the time."""
        while True:
            with trio.move_on_after(_TICK):
                await self._happened.wait()
            self._happened = trio.Event()
            began = trio.current_time()
            if self._watchers:
                self._look()
            taken = trio.current_time() - began
            await trio.sleep(max(_SHORTEST_PAUSE, taken / _LARGEST_SHARE))

    def _look(self) -> None:
        for notice in self._notices.seen_so_far():
            self._take(notice)
        picture = self._prospect.record.picture(self._prospect.tree())
        if picture != self._picture or self._pictured != self._changed:
            self._picture, self._pictured = picture, self._changed
            self._renewed.set()
            self._renewed = trio.Event()

    async def show(self, stream: trio.SocketStream) -> None:
        """Serve one watcher to its end, or turn it away."""
        async with stream:
            if self._watchers >= MOST_WATCHERS or not is_our_user(stream.socket):
                return
            self._watchers += 1
            try:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(_hear_out, stream, nursery.cancel_scope)
                    await self._tell(stream)
                    nursery.cancel_scope.cancel()
            finally:
                self._watchers -= 1

    async def _tell(self, stream: trio.SocketStream) -> None:
        """Until the watcher takes nothing any more. One that is slow gets the newest look next."""
        self._look()
        told = self._pictured
        while True:
            renewed = self._renewed
            line, told = self._line(told), self._pictured
            if not await _send(stream, line):
                return
            try:
                await renewed.wait()
            except trio.Cancelled:
                self._look()
                with trio.CancelScope(shield=True, deadline=trio.current_time() + FAREWELL):
                    await _send(stream, self._line(told))
                raise

    def _line(self, told: int) -> bytes:
        return msgspec.json.encode(self._snapshot(told)) + b"\n"

    def _snapshot(self, told: int) -> TreeSnapshot:
        end = max(0, len(self._changes) - (self._changed - self._pictured))
        begin = max(0, end - (self._pictured - told))
        record = self._prospect.record
        return TreeSnapshot(
            pid=self._prospect.pid,
            program=self._prospect.program,
            since=record.since,
            time=record.wall(trio.current_time()),
            changes=tuple(islice(self._changes, begin, end)),
            missed=self._pictured - told - (end - begin),
            tree=self._picture,
        )


async def _send(stream: trio.SocketStream, line: bytes) -> bool:
    with suppress(trio.BrokenResourceError), trio.move_on_after(PATIENCE):
        await stream.send_all(line)
        return True
    return False


async def _hear_out(stream: trio.SocketStream, watching: trio.CancelScope) -> None:
    """A watcher has nothing to say: its end is its end, and so is a word."""
    with suppress(trio.BrokenResourceError):
        await stream.receive_some(1)
    watching.cancel()
