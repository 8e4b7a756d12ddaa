"""The tree endpoint: what watchers see of a tree, and what they cannot do to it."""

import os
import socket
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import msgspec
import pytest
import trio
from trio.testing import MockClock

from avatar_actors import (
    EventStream,
    TreeHappening,
    TreePart,
    TreeSnapshot,
    Unwatchable,
    watch_tree,
)
from avatar_actors.observe.tree.server import MOST_WATCHERS, TreeSource, tree_endpoint
from avatar_actors.observe.tree.snapshot import TreeRecord
from avatar_actors.processes import is_our_user, listening_for_watchers
from supervisors import (
    Address,
    Backoff,
    ChildSpec,
    Inbox,
    Supervisor,
    SupervisorSpec,
    open_supervisor,
)
from supervisors.testing import crash, freeze

LIMIT = 60


async def part(inbox: Inbox[object]) -> None:
    async for _ in inbox:
        pass


@asynccontextmanager
async def no_events() -> AsyncGenerator[EventStream]:
    yield EventStream()


class House:
    """A tree with an endpoint."""

    def __init__(self, root: Supervisor, at: Path) -> None:
        self.root, self.at = root, at

    async def add(self, name: str, delay: float = 0.001) -> Address[object]:
        return await self.root.start(
            ChildSpec(name, part, backoff=Backoff(minimum=delay, maximum=3600))
        )

    async def raw(self) -> trio.SocketStream:
        return await trio.open_unix_socket(str(self.at))


@asynccontextmanager
async def open_house(scratch: Path) -> AsyncGenerator[House]:
    with listening_for_watchers(scratch) as listener, trio.fail_after(LIMIT):
        async with open_supervisor("runtime", intensity=1000) as root:
            source = TreeSource(
                listener=listener,
                pid=os.getpid(),
                program="house",
                record=TreeRecord(trio.current_time(), time.time() - trio.current_time()),
                tree=root.read_tree,
                notices=root.notices,
                events=no_events,
            )
            showing = partial(tree_endpoint, source=source)
            await root.start(ChildSpec("tree endpoint", showing))
            yield House(root, Path(listener.getsockname()))


def found(part: TreePart, name: str) -> TreePart | None:
    return next((child for child in part.children if child.name == name), None)


async def until(
    trees: AsyncIterator[TreeSnapshot], is_so: Callable[[TreeSnapshot], bool]
) -> TreeSnapshot:
    async for snapshot in trees:
        if is_so(snapshot):
            return snapshot
    raise AssertionError("the endpoint has ended")


async def test_the_tree_comes_at_once_and_then_at_each_change(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house, watch_tree(house.at) as trees:
        first = await anext(trees)
        assert (first.pid, first.program, first.changes) == (os.getpid(), "house", ())
        assert [each.name for each in first.tree.children] == ["tree endpoint"]
        await house.add("till")
        then = await until(trees, lambda each: found(each.tree, "till") is not None)
        assert abs(then.time - time.time()) < LIMIT


async def test_watcher_of_a_large_tree_lets_its_actors_go_on(tmp_path: Path) -> None:
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            await trio.lowlevel.checkpoint()
            turns += 1

    async with open_house(tmp_path) as house:
        for number in range(40):
            session = SupervisorSpec("session", children=[ChildSpec("bridge", part)])
            await house.root.start(SupervisorSpec(f"avatar {number}", children=[session]))
        async with await house.raw() as watcher, trio.open_nursery() as nursery:
            nursery.start_soon(count_turns)
            await watcher.receive_some(1)
            nursery.cancel_scope.cancel()
    # The tree is read, and then described, one avatar after the other.
    assert turns >= 75


async def test_a_crash_is_told_without_its_words_and_counted(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house, watch_tree(house.at) as trees:
        till = await house.add("till", delay=3600)
        await crash(till, ValueError("hunter2"))
        happened: list[TreeHappening] = []
        text = b""

        def is_restarting(snapshot: TreeSnapshot) -> bool:
            nonlocal text
            text += msgspec.json.encode(snapshot)
            happened.extend(each.what for each in snapshot.changes if each.path == till.path)
            return TreeHappening.RESTARTING in happened

        snapshot = await until(trees, is_restarting)
        assert happened[-2:] == [TreeHappening.CRASHED, TreeHappening.RESTARTING]
        here = found(snapshot.tree, "till")
        assert here is not None
        assert (here.state, here.crashes) == ("restarting", 1)
        assert here.due is not None
        assert here.due > snapshot.time + 3000
        assert b"ValueError" in text
        assert b"hunter2" not in text


async def test_a_watcher_who_takes_nothing_holds_up_nobody_and_gets_the_newest_in_the_end(
    tmp_path: Path,
) -> None:
    async with open_house(tmp_path) as house, await house.raw() as slow:
        for number in range(50):
            # More than a socket holds, in one look.
            await house.add(f"{number}-{'x' * 10_000}")
        async with watch_tree(house.at) as trees:
            await house.add("last")
            await until(trees, lambda each: found(each.tree, "last") is not None)
        data = b""
        while b'"last"' not in data.rpartition(b"\n")[0]:
            data += await slow.receive_some(1 << 20)
        lines = data.rpartition(b"\n")[0].split(b"\n")
        told = [msgspec.json.decode(line, type=TreeSnapshot) for line in lines]
        # Every change was told or counted, though not every look was sent.
        assert sum(each.missed + len(each.changes) for each in told) >= 50


async def test_each_change_is_told_once_also_to_a_watcher_that_falls_behind(
    tmp_path: Path,
) -> None:
    data = b""
    async with open_house(tmp_path) as house, await house.raw() as slow:
        for number in range(100):
            # A look is soon more than the watcher takes between two changes.
            await house.add(f"{number}-{'x' * 5_000}")
            data += await slow.receive_some(1 << 16)
        await house.add("last")
        while b'"last"' not in data.rpartition(b"\n")[0]:
            data += await slow.receive_some(1 << 20)
    lines = data.rpartition(b"\n")[0].split(b"\n")
    looks = [msgspec.json.decode(line, type=TreeSnapshot) for line in lines]
    told = [(change.what, change.path) for look in looks for change in look.changes]
    assert not any(look.missed for look in looks)
    assert len(told) == len(set(told)) >= 100


async def test_there_is_an_end_of_places_and_who_leaves_makes_room(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        watchers = [await house.raw() for _ in range(MOST_WATCHERS)]
        for each in watchers:
            assert await each.receive_some(1) == b"{"
        with pytest.raises(Unwatchable, match="too many watchers"):
            async with watch_tree(house.at) as trees:
                await anext(trees)
        await watchers.pop().aclose()
        while True:  # until the endpoint has heard of it
            try:
                async with watch_tree(house.at) as trees:
                    await anext(trees)
                break
            except Unwatchable:
                await trio.sleep(0.01)
        for each in watchers:
            await each.aclose()


async def test_a_watcher_who_talks_is_hung_up_on_and_nobody_else(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house, watch_tree(house.at) as trees:
        await anext(trees)
        async with await house.raw() as talker:
            await talker.send_all(b"\x00\xffGET / HTTP/1.1\r\n" * 100)
            try:
                while await talker.receive_some(65536):
                    pass
            except trio.BrokenResourceError:
                pass  # it left words unread
        await house.add("till")
        after = await until(trees, lambda each: found(each.tree, "till") is not None)
        endpoint = found(after.tree, "tree endpoint")
        assert endpoint is not None
        assert endpoint.life == 1


@pytest.mark.parametrize("_again", range(6))  # trio's order of tasks is random
async def test_the_last_snapshot_is_of_the_moment_when_the_endpoint_stops(
    tmp_path: Path, autojump_clock: MockClock, _again: int
) -> None:
    async with open_house(tmp_path) as house, watch_tree(house.at) as trees:
        await anext(trees)
        await trio.sleep(10)  # a look is due now, too
        await house.add("till")
        await house.root.terminate("tree endpoint")
        *_, last = [each async for each in trees]
        endpoint = found(last.tree, "tree endpoint")
        assert endpoint is not None
        assert endpoint.state == "stopping"
        assert found(last.tree, "till") is not None


async def test_the_next_life_of_the_endpoint_knows_what_the_one_before_knew(
    tmp_path: Path,
) -> None:
    async with open_house(tmp_path) as house:
        async with watch_tree(house.at) as trees:
            await crash(await house.add("till"), ValueError("broken"))
            await until(trees, lambda each: any(part.life > 1 for part in each.tree.children))
            await house.root.terminate("tree endpoint")
            async for _ in trees:
                pass  # it hung up
        await house.root.restart("tree endpoint")
        async with watch_tree(house.at) as trees:
            till = found((await anext(trees)).tree, "till")
            assert till is not None
            assert till.crashes == 1


@pytest.mark.parametrize("said", [b"\xff\xfe\n", b"[1]\n", b"{}\n", b"[" * 100_000 + b"\n"])
async def test_what_is_no_tree_is_one_error(tmp_path: Path, said: bytes) -> None:
    async def say(stream: trio.SocketStream) -> None:
        await stream.send_all(said)

    with trio.fail_after(LIMIT), listening_for_watchers(tmp_path) as listener:
        listening = trio.SocketListener(trio.socket.from_stdlib_socket(listener.dup()))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.serve_listeners, say, [listening])
            with pytest.raises(Unwatchable, match="sent no tree"):
                async with watch_tree(tmp_path / "tree") as trees:
                    await anext(trees)
            nursery.cancel_scope.cancel()


@pytest.mark.parametrize("name", ["nothing", "x" * 200])
async def test_where_nobody_listens_nothing_can_be_watched(tmp_path: Path, name: str) -> None:
    with pytest.raises(Unwatchable, match="no program offers a tree"):
        async with watch_tree(tmp_path / name):
            pass


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else for a moment")
def test_another_users_program_is_known_as_such(tmp_path: Path) -> None:
    with listening_for_watchers(tmp_path) as listener, socket.socket(socket.AF_UNIX) as foreign:
        (tmp_path / "tree").chmod(0o777)
        tmp_path.chmod(0o711)
        here = os.open(".", os.O_PATH)
        os.chdir(tmp_path)
        os.seteuid(65534)
        try:
            foreign.connect("tree")
        finally:
            os.seteuid(0)
            os.fchdir(here)
            os.close(here)
        accepted, _ = listener.accept()
        with trio.socket.from_stdlib_socket(accepted) as peer:
            assert not is_our_user(peer)


async def test_a_change_is_shown_sooner_than_the_next_tick(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with open_house(tmp_path) as house, watch_tree(house.at) as trees:
        await anext(trees)
        await trio.sleep(10.5)  # in the midst of two looks
        began = trio.current_time()
        await house.add("till")
        await until(trees, lambda each: found(each.tree, "till") is not None)
        assert trio.current_time() - began < 0.2


async def test_a_mailbox_that_fills_without_a_notice_is_shown(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with open_house(tmp_path) as house, watch_tree(house.at) as trees:
        till = await house.add("till")
        await trio.sleep(10)  # until every notice has been told
        with freeze(till):
            for _ in range(3):
                await till.tell("message")
            full = await until(trees, lambda each: any(p.waiting for p in each.tree.children))
            here = found(full.tree, "till")
            assert here is not None
            assert here.waiting == 3
