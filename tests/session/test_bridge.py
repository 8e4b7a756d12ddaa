"""The bridge alone: what it says to an agent at the end, and to one that does not read."""

import threading
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
import trio

from avatar_actors.model.errors import WireBroken
from avatar_actors.model.permission_rules import Rules
from avatar_actors.model.prices import PriceList
from avatar_actors.model.redaction import Redactor
from avatar_actors.model.settings import PermissionMode
from avatar_actors.model.tool_policy import ToolPolicy
from avatar_actors.model.values import ProviderCapabilities
from avatar_actors.session import messages
from avatar_actors.session.bridge import BridgeActors, Output, bridge
from avatar_actors.session.messages import ResumePlan
from avatar_actors.session.opening import AgentEnd, SessionOpening
from avatar_actors.wire import commands, facts
from avatar_actors.wire.wire import Wire
from supervisors import Address, ChildSpec, Inbox, MailboxSpec, Overflow, Restart, Supervisor
from tests.avatar.actor_tree import ActorTree, Recorder, open_tree

LIMIT = 60
UNREAD = 4


class OneWordWire:
    """Says the name of each command; its session is open at once."""

    def __init__(self) -> None:
        self._unsent = b""

    def command(self, command: commands.Command) -> list[facts.Fact]:
        self._unsent += type(command).__name__.encode() + b"\n"
        opened = facts.Opened(session_id="s", capabilities=ProviderCapabilities())
        return [opened] if isinstance(command, commands.Open) else []

    def receive(self, data: bytes) -> list[facts.Fact]:
        raise AssertionError(data)

    def end_of_stream(self) -> list[facts.Fact]:
        return []

    def data_to_send(self) -> bytes:
        unsent, self._unsent = self._unsent, b""
        return unsent


async def never_reads(inbox: Inbox[messages.Write]) -> None:
    inbox.ready()
    await trio.sleep_forever()


OPENING = SessionOpening(
    command=commands.Open(cwd="/"),
    agent=AgentEnd(plan=ResumePlan(), pid=1, life="1", containment="none"),
    minimum={},
    has_store=False,
    patience=LIMIT,
    interrupt_grace=LIMIT,
    redactor=Redactor(()),
    prices=PriceList({}),
    rules=Rules(PermissionMode.ASK, ToolPolicy()),
    known_tools=frozenset(),
)


@asynccontextmanager
async def open_bridge(
    tree: ActorTree,
    writer: Address[messages.Write],
    wire: Wire | None = None,
    blocks: Sequence[bytes] = (),
) -> AsyncGenerator[Address[messages.BridgeMessage]]:
    others: Address[Any] = await tree.start("others", Recorder[Any]())
    outer = messages.AvatarActors[messages.TrackerNews, messages.QueueNews](
        supervisor=tree.root,
        warden=others,
        tracker=others,
        gatekeeper=others,
        turn_queue=others,
    )
    parts = messages.SessionActors(process=others, writer=writer, file_server=others, stderr=others)
    out, heard = trio.open_memory_channel[bytes | messages.StreamEnded](len(blocks) + 1)
    for block in blocks:
        out.send_nowait(block)
    async with out:
        yield await tree.root.start(_spec(wire or OneWordWire(), heard, (outer, parts)))


def _spec(wire: Wire, output: Output, actors: BridgeActors) -> ChildSpec[messages.BridgeMessage]:
    actor = partial(bridge, wire=wire, output=output, actors=actors, opening=OPENING)
    return ChildSpec("bridge", actor, restart=Restart.TEMPORARY)


async def start_deaf_writer(root: Supervisor) -> Address[messages.Write]:
    room = MailboxSpec(UNREAD, Overflow.FAIL)
    return await root.start(ChildSpec("writer", never_reads, mailbox=room))


async def test_goodbye_is_the_last_thing_that_an_agent_reads_at_a_stop() -> None:
    written = Recorder[messages.Write]()
    with trio.fail_after(LIMIT):
        async with open_tree() as tree:
            writer = await tree.start("writer", written)
            async with open_bridge(tree, writer) as address:
                await address.tell(messages.SteerTurn(1, "x"))
                await tree.settle()
                await tree.root.terminate(address)
                await tree.settle()
    assert [each.data for each in written.heard] == [b"Open\n", b"Steer\n", b"Close\n"]


async def test_agent_that_does_not_read_its_stdin_ends_the_session() -> None:
    with trio.fail_after(LIMIT):
        async with open_tree() as tree:
            writer = await start_deaf_writer(tree.root)
            async with open_bridge(tree, writer) as address:
                monitor = address.monitor()
                for _ in range(UNREAD):
                    await address.tell(messages.SteerTurn(1, "x"))
                down = await monitor.down()
    assert down.exit is not None
    assert isinstance(down.exit.error, BaseException)
    with pytest.RaisesGroup(WireBroken, allow_unwrapped=True):
        raise down.exit.error


class SlowWire(OneWordWire):
    """Takes long for the first that it hears."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    def receive(self, data: bytes) -> list[facts.Fact]:
        self.sizes.append(len(data))
        began = time.thread_time()
        while len(self.sizes) == 1 and time.thread_time() - began < 0.02:
            pass
        return []


async def test_agent_that_takes_long_to_understand_is_heard_in_small_pieces() -> None:
    wire = SlowWire()
    with trio.fail_after(LIMIT):
        async with open_tree() as tree:
            writer = await tree.start("writer", Recorder[messages.Write]())
            async with open_bridge(tree, writer, wire, [b"x" * 10_000, b"x" * 9_000, b""]):
                while sum(wire.sizes) < 19_000:  # noqa: ASYNC110 - a wire tells nobody
                    await trio.sleep(0.01)
                await tree.settle()
    assert wire.sizes == [10_000, 4096, 4096, 808]


class LongLineWire(OneWordWire):
    """Takes as long for the end of a long line as the test wants."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[bytes] = []
        self.may_go_on = threading.Event()
        self.is_decoding = threading.Event()

    def receive(self, data: bytes) -> list[facts.Fact]:
        if self.heard and data.startswith(b"end of a long line"):
            self.is_decoding.set()
            assert self.may_go_on.wait(LIMIT), "the loop stands while a long line is decoded"
        self.heard.append(data)
        return []


LONG_LINE = [b"x" * 600_000, b"x" * 600_000, b"end of a long line\n", b"next\n"]


async def test_loop_goes_on_while_a_long_line_is_decoded_and_order_is_kept() -> None:
    wire, written = LongLineWire(), Recorder[messages.Write]()
    with trio.fail_after(2 * LIMIT):
        async with open_tree() as tree:
            writer = await tree.start("writer", written)
            async with open_bridge(tree, writer, wire, LONG_LINE) as address:
                await trio.to_thread.run_sync(wire.is_decoding.wait, LIMIT)
                # The wire is the thread's now: a command waits for it.
                await address.tell(messages.SteerTurn(1, "x"))
                await tree.settle()
                assert [each.data for each in written.heard] == [b"Open\n"]
                assert wire.heard == LONG_LINE[:2]
                wire.may_go_on.set()
                while len(wire.heard) < len(LONG_LINE):  # noqa: ASYNC110 - a wire tells nobody
                    await trio.sleep(0.01)
                await tree.settle()
                assert [each.data for each in written.heard] == [b"Open\n", b"Steer\n"]
    assert wire.heard == LONG_LINE


async def test_session_that_ends_does_not_wait_for_the_end_of_a_long_line() -> None:
    wire, written = LongLineWire(), Recorder[messages.Write]()
    with trio.fail_after(2 * LIMIT):
        async with open_tree() as tree:
            writer = await tree.start("writer", written)
            async with open_bridge(tree, writer, wire, LONG_LINE) as address:
                await trio.to_thread.run_sync(wire.is_decoding.wait, LIMIT)
                await tree.root.terminate(address)
                await tree.settle()
    wire.may_go_on.set()
    # Nor is the wire used beside the thread, not even for a goodbye.
    assert [each.data for each in written.heard] == [b"Open\n"]
