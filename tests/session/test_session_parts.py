"""The small actors of a session, alone: file server, stderr monitor, stdin writer, private dir."""

import os
import resource
from functools import partial
from pathlib import Path

import pytest
import trio
import trio.testing
from trio.testing import (
    MemoryReceiveStream,
    MemorySendStream,
    MockClock,
    memory_stream_one_way_pair,
)

from avatar_actors.avatar.actors.private_dir import private_dir
from avatar_actors.avatar.messages import TrackerMessage
from avatar_actors.model.errors import AgentDied
from avatar_actors.model.events import DiagnosticEvent
from avatar_actors.model.redaction import Redactor
from avatar_actors.processes import PipeReader, open_lease
from avatar_actors.processes.descriptors import OwnedFd
from avatar_actors.session.file_server import file_server
from avatar_actors.session.messages import (
    BridgeMessage,
    FileServed,
    Nothing,
    Publish,
    ServeFile,
    StderrTail,
    StreamEnded,
    Write,
)
from avatar_actors.session.stdio import ProcessOutput, stderr_monitor, stdin_writer
from avatar_actors.wire.facts import FileWanted
from supervisors import Address, ChildSpec, Restart, open_supervisor
from tests.avatar.actor_tree import ActorTree, Recorder, open_tree
from tests.processes.census import eventually


async def test_the_file_server_answers_each_wish_in_order_and_survives_the_bad_ones(
    tmp_path: Path,
) -> None:
    (tmp_path / "a").write_text("text")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "fifo")
    bridge = Recorder[BridgeMessage]()
    names = ["a", "missing", "../b", "loop", ".", "fifo", "a\0", "a"]
    with trio.fail_after(60):
        async with open_tree() as tree:
            bridge_at = await tree.start("bridge", bridge)
            files = await tree.start("files", partial(file_server, working_dir=tmp_path))
            for name in names:
                await files.tell(ServeFile(FileWanted(request_id=name, path=name), bridge_at))
            await eventually(lambda: len(bridge.heard) == len(names))  # a thread reads
    served = [each for each in bridge.heard if isinstance(each, FileServed)]
    assert [each.request_id for each in served] == names
    assert [bool(each.error) for each in served] == [False, *[True] * 6, False]
    assert {each.text for each in served} == {"text", ""}


class StderrSetup:
    """A stderr monitor and what it shows."""

    def __init__(self) -> None:
        self.tracker = Recorder[TrackerMessage]()
        self.pipe: MemorySendStream
        self.at: Address[StderrTail]

    async def open(self, tree: ActorTree, *secrets: str) -> None:
        theirs: MemoryReceiveStream
        self.pipe, theirs = memory_stream_one_way_pair()
        tracker = await tree.start("tracker", self.tracker)
        actor = partial(stderr_monitor, pipe=theirs, tracker=tracker, redactor=Redactor(secrets))
        self.at = await tree.start("stderr", actor)

    def shown(self) -> list[str]:
        told = [each for each in self.tracker.heard if isinstance(each, Publish)]
        events = [event for each in told for event in each.events]
        return [event.message for event in events if isinstance(event, DiagnosticEvent)]


@pytest.fixture
def stderr() -> StderrSetup:
    return StderrSetup()


async def test_stderr_is_shown_line_by_line_without_secrets(stderr: StderrSetup) -> None:
    async with open_tree() as tree:
        await stderr.open(tree, "sk-12345678")
        await stderr.pipe.send_all(b"one\nkey sk-123")
        await stderr.pipe.send_all(b"45678\n")
        await tree.settle()
        assert stderr.shown() == ["one", "key [secret]"]
        assert await stderr.at.ask(StderrTail()) == ("one", "key [secret]")


async def test_the_last_words_count_without_a_newline(stderr: StderrSetup) -> None:
    async with open_tree() as tree:
        await stderr.open(tree)
        await stderr.pipe.send_all(b"one\nfatal: no key")
        await stderr.pipe.aclose()
        await tree.settle()
        assert (await stderr.at.ask(StderrTail()))[-1] == "fatal: no key"


async def test_rc_08_a_flood_is_counted_and_not_shown(
    stderr: StderrSetup, autojump_clock: MockClock
) -> None:
    async with open_tree() as tree:
        await stderr.open(tree)
        await stderr.pipe.send_all(b"".join(b"%d\n" % number for number in range(10_000)))
        await trio.sleep(5)
        await stderr.pipe.send_all(b"calm\n")
        await tree.settle()
        shown = stderr.shown()
        assert len(shown) <= 23
        [note] = [line for line in shown if "not shown" in line]
        numbers = [line for line in shown if line.isdigit()]
        assert note.startswith(f"{10_000 - len(numbers)} lines")
        assert shown[-1] == "calm"
        assert len(await stderr.at.ask(StderrTail())) <= 200


async def test_the_monitor_answers_after_the_end_of_the_pipe(stderr: StderrSetup) -> None:
    async with open_tree() as tree:
        await stderr.open(tree)
        await stderr.pipe.send_all(b"last\n")
        await stderr.pipe.aclose()
        await tree.settle()
        assert await stderr.at.ask(StderrTail()) == ("last",)


async def test_writes_leave_whole_and_in_order() -> None:
    ours, theirs = memory_stream_one_way_pair()
    async with open_tree() as tree:
        news, _ = trio.open_memory_channel[StreamEnded](1)
        writing = partial(stdin_writer, pipe=ours, news=news)
        writer: Address[Write] = await tree.start("writer", writing)
        for number in range(100):
            await writer.tell(Write(b"%d\n" % number))
        await tree.settle()
        received = bytes(await theirs.receive_some())
    assert received.split() == [b"%d" % number for number in range(100)]


async def test_a_closed_stdin_is_a_death_that_is_told_a_little_later(
    autojump_clock: MockClock,
) -> None:
    ours, theirs = memory_stream_one_way_pair()
    await theirs.aclose()
    async with open_supervisor("root") as root:
        news, heard = trio.open_memory_channel[StreamEnded](1)
        writing = partial(stdin_writer, pipe=ours, news=news)
        writer = await root.start(ChildSpec("writer", writing, restart=Restart.TEMPORARY))
        began = trio.current_time()
        await writer.tell(Write(b"x\n"))
        ended = await heard.receive()
        assert isinstance(ended.error, AgentDied)
        assert trio.current_time() - began == pytest.approx(1.0)


async def test_the_private_directory_lives_as_long_as_its_actor(tmp_path: Path) -> None:
    path = tmp_path / "private"
    async with open_supervisor("root") as root:
        folder = await root.start(ChildSpec[Nothing]("folder", partial(private_dir, path=path)))
        assert path.stat().st_mode & 0o777 == 0o700
        (path / "deep").mkdir()
        (path / "deep" / "file").write_text("x")
        await root.terminate(folder)
        assert not path.exists()


async def test_the_private_directory_goes_when_descriptors_are_to_be_had_again(
    tmp_path: Path,
) -> None:
    path = tmp_path / "private"
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with open_supervisor("root") as root, trio.open_nursery() as nursery:
        folder = await root.start(ChildSpec[Nothing]("folder", partial(private_dir, path=path)))
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (0, before[1]))
            nursery.start_soon(root.terminate, folder)
            await trio.testing.wait_all_tasks_blocked(0.02)
            assert path.exists()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        monitor = folder.monitor()
        await monitor.down()
        assert not path.exists()


async def test_a_stdout_that_cannot_be_read_is_an_end_and_no_crash() -> None:
    lease, berth = open_lease()
    berth.close()
    # A pipe's writing end gives an error to whoever reads it.
    lease.stdout = PipeReader(OwnedFd(os.open("/dev/null", os.O_WRONLY)))
    output = ProcessOutput(lease)
    with trio.fail_after(60):
        assert isinstance(await output.receive(), StreamEnded)
        await lease.aclose()


async def test_the_writer_waits_to_be_stopped_after_it_told_of_a_closed_stdin(
    autojump_clock: MockClock,
) -> None:
    ours, theirs = memory_stream_one_way_pair()
    await theirs.aclose()
    async with open_tree() as tree:
        news, heard = trio.open_memory_channel[StreamEnded](1)
        writer: Address[Write] = await tree.start(
            "writer", partial(stdin_writer, pipe=ours, news=news)
        )
        await writer.tell(Write(b"x\n"))
        await heard.receive()
        await trio.sleep(60)  # virtual; the tree sees that the writer is still there
