"""`avatar tree`: a run of its own, and a program that runs elsewhere."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from avatar_actors import ObservableProgram, TreeChange, TreeHappening, TreeSnapshot
from avatar_actors.cli.commands import run
from avatar_actors.cli.exit_codes import Failure
from avatar_actors.cli.tree.run import FoundProgram, candidates
from avatar_actors.processes.sweep import process_identity
from tests.cli.programs import PATIENCE, avatar, command, environment, running_avatar, script
from tests.cli.terminal import CTRL_C, Terminal, avatar_in_terminal
from tests.conformance.remains import directories_of
from tests.fake_agents.launcher import configuration
from tests.thorough import for_conformance

HOST = """
import sys, trio
from avatar_actors import open_runtime
async def main():
    async with open_runtime(observable=True) as runtime:
        aria = await runtime.start("embedded", "aria")
        print((await aria.health()).pid, flush=True)
        await trio.to_thread.run_sync(sys.stdin.read)
trio.run(main)
"""
CRASH = script({"say": "I begin."}, {"kill": 9})


class Program:
    """Somebody's program with an avatar."""

    def __init__(self, process: "subprocess.Popen[bytes]", agent: int) -> None:
        self.pid, self.agent = str(process.pid), agent
        self._process = process

    def kill_agent(self) -> None:
        os.kill(self.agent, signal.SIGKILL)

    def end(self) -> None:
        """In order, leaving nothing behind."""
        assert self._process.stdin is not None
        identity = process_identity(self._process.pid)
        self._process.stdin.close()
        assert self._process.wait(PATIENCE) == 0
        assert directories_of(identity) == []


@contextmanager
def program(home: Path) -> Generator[Program]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOST],
        cwd=home,
        env=environment(home),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with process:
        try:
            assert process.stdout is not None
            yield Program(process, int(process.stdout.readline()))
        finally:
            process.kill()


@pytest.fixture(scope="module")
def bystander(tmp_path_factory: pytest.TempPathFactory) -> Generator[Program]:
    """One that nothing happens to."""
    with program(tmp_path_factory.mktemp("bystander")) as host:
        yield host


def snapshots(lines: Iterator[bytes]) -> Iterator[TreeSnapshot]:
    return (msgspec.json.decode(line, type=TreeSnapshot) for line in lines)


def of_session(changes: tuple[TreeChange, ...]) -> list[TreeHappening]:
    return [change.what for change in changes if change.path.endswith("/session")]


def assert_left_as_found(terminal: Terminal) -> None:
    assert terminal.shows_cursor
    assert terminal.is_as_before


def test_a_killed_agent_is_seen_from_another_program_as_crash_and_restart(tmp_path: Path) -> None:
    with (
        program(tmp_path) as host,
        running_avatar(tmp_path, "tree", "--json", "--pid", host.pid) as watcher,
    ):
        assert watcher.stdout is not None
        seen = snapshots(iter(watcher.stdout.readline, b""))
        first = next(seen)
        assert (str(first.pid), first.changes) == (host.pid, ())
        host.kill_agent()
        happened: list[TreeHappening] = []
        while TreeHappening.READY not in happened:
            happened += of_session(next(seen).changes)
        assert [each for each in happened if each is not TreeHappening.STOPPED] == [
            TreeHappening.CRASHED,
            TreeHappening.RESTARTING,
            TreeHappening.READY,
        ]
        host.end()
        for _ in seen:
            pass
        assert watcher.wait(PATIENCE) == 0


def test_a_person_sees_the_crash_and_leaves_with_a_key(tmp_path: Path) -> None:
    with (
        program(tmp_path) as host,
        avatar_in_terminal(tmp_path, "tree", "--pid", host.pid, size=(40, 30)) as terminal,
    ):
        terminal.wait_for("bridge")
        assert "crashed" not in terminal.text
        host.kill_agent()
        terminal.wait_for("crashed once")
        terminal.press("q")
        assert terminal.wait() == 0
        assert_left_as_found(terminal)
        host.end()


@pytest.mark.parametrize(
    ("sent", "code"),
    [(CTRL_C, 130), pytest.param(signal.SIGTERM, 143, marks=for_conformance)],
)
def test_who_leaves_by_a_signal_gets_the_terminal_back(
    tmp_path: Path, bystander: Program, sent: str | signal.Signals, code: int
) -> None:
    arguments = ("tree", "--pid", bystander.pid)
    with avatar_in_terminal(tmp_path, *arguments, size=(80, 20)) as terminal:
        terminal.wait_for("└─ bridge")
        # More parts than the screen has lines: some are folded.
        assert "warden, runtime budget, event router" in terminal.text
        assert not terminal.shows_cursor
        if isinstance(sent, signal.Signals):
            terminal.send(sent)
        else:
            terminal.press(sent)
        assert terminal.wait() == code
        assert_left_as_found(terminal)


def test_the_end_of_the_program_is_the_end_of_the_watching(tmp_path: Path) -> None:
    with (
        program(tmp_path) as host,
        running_avatar(tmp_path, "tree", "--pid", host.pid) as watcher,
    ):
        assert watcher.stdout is not None
        assert f"process {host.pid}".encode() in watcher.stdout.readline()
        host.end()
        rest = watcher.stdout.read().decode()
        assert watcher.wait(PATIENCE) == 0
        assert rest.endswith(f"process {host.pid} has ended\n")
        assert re.search(r"^\d\d:\d\d:\d\d aria: stopped$", rest, re.MULTILINE)


def test_several_programs_are_listed(tmp_path: Path, bystander: Program) -> None:
    with program(tmp_path) as other:
        shown = avatar(tmp_path, "tree", "--once")
        assert shown.returncode == 0
        for host in (bystander, other):
            line = rf"python · process {host.pid} · \d+[sm] · 1 avatar: aria\n"
            assert re.search(line, shown.stdout)
        assert "--pid N" in shown.stdout


def test_the_tree_of_a_turn_is_shown_to_a_pipe_before_and_after(tmp_path: Path) -> None:
    done = avatar(tmp_path, "tree", "12*3")
    assert done.returncode == 0
    assert done.stdout.count("└─ bridge") == 2
    *_, state, blank, answer = done.stdout.splitlines()
    assert re.search(r"^embedded: completed after \d+\.\ds$", state)
    assert (blank, answer) == ("", "36")
    last = done.stdout.rpartition("└─ embedded-1")[2].splitlines()[0]
    assert re.search(r"running +\d+s  idle  pid \d+$", last)
    assert "\x1b" not in done.stdout


def test_the_tree_of_a_turn_that_crashes_is_shown_until_it_is_back(tmp_path: Path) -> None:
    done = avatar(tmp_path, "tree", "--json", CRASH)
    assert done.returncode == 1
    seen = list(snapshots(iter(done.stdout.encode().splitlines())))
    happened = [what for each in seen for what in of_session(each.changes)]
    assert happened[0] is TreeHappening.CRASHED
    assert happened[-1] is TreeHappening.READY
    assert "crashed" in done.stderr


@pytest.mark.parametrize(
    ("key", "written", "said"),
    [("y", ["notes.txt"], "completed after"), ("n", [], "denied: Write notes.txt (by you)")],
    ids=["y", "n"],
)
def test_a_key_answers_what_the_agent_asks_below_its_tree(
    tmp_path: Path, key: str, written: list[str], said: str
) -> None:
    arguments = ("tree", "--permission", "ask", "write notes.txt: buy milk")
    with avatar_in_terminal(tmp_path, *arguments, size=(80, 40)) as terminal:
        terminal.wait_for("to answer")
        assert "+buy milk" in terminal.text
        assert "└─ bridge" in terminal.text
        assert re.search(r"embedded-1 .*  asking  pid \d+", terminal.text)
        terminal.press(key)
        assert terminal.wait() == 0
        assert [path.name for path in tmp_path.glob("*.txt")] == written
        assert said in terminal.text
        assert "[y]es" not in terminal.text
        assert_left_as_found(terminal)


@for_conformance
def test_what_is_asked_below_a_tree_is_edited_before_it_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(configuration(tmp_path))
    arguments = ("tree", "-c", "c.yaml", "write notes.txt: buy milk")
    editor = {"EDITOR": "sed -i s/milk/bread/"}
    with avatar_in_terminal(tmp_path, *arguments, env=editor) as terminal:
        terminal.wait_for("to answer")
        terminal.press("e")
        # An input that was not changed would not be answered for.
        assert terminal.wait() == 0
        assert (tmp_path / "notes.txt").exists()
        assert_left_as_found(terminal)


def test_in_a_pipe_a_tree_denies_what_it_cannot_ask_and_says_how_to_allow_it(
    tmp_path: Path,
) -> None:
    denied = avatar(tmp_path, "tree", "--permission", "ask", "write notes.txt: buy milk")
    assert (denied.returncode, (tmp_path / "notes.txt").exists()) == (0, False)
    assert "Write was denied, nobody can be asked here" in denied.stdout
    assert "to allow it: --permission unrestricted" in denied.stdout
    free = avatar(tmp_path, "tree", "--permission", "unrestricted", "write notes.txt: buy milk")
    assert (tmp_path / "notes.txt").read_text() == "buy milk\n"
    assert "denied" not in free.stdout


def test_the_last_tree_stays_on_the_screen(tmp_path: Path) -> None:
    with avatar_in_terminal(tmp_path, "tree", CRASH, size=(80, 40)) as terminal:
        assert terminal.wait() == 1
        assert re.search(r"session +running +crashed once .* life 2", terminal.text)
        assert "embedded: crashed after" in terminal.text
        assert terminal.text.count("└─ bridge") == 1
        assert_left_as_found(terminal)


@pytest.mark.parametrize(
    "arguments",
    [("-p", "embedded", "12*3"), pytest.param((), marks=for_conformance)],
    ids=["turn", "attached"],
)
def test_nobody_reads_the_tree(
    tmp_path: Path, bystander: Program, arguments: tuple[str, ...]
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        done = subprocess.run(
            command("tree", *(arguments or ("--pid", bystander.pid))),
            cwd=tmp_path,
            env=environment(tmp_path),
            stdin=subprocess.DEVNULL,
            stdout=pipe,
            stderr=subprocess.PIPE,
            timeout=PATIENCE,
            check=False,
        )
    assert done.returncode == 141
    assert done.stderr == b""


def test_where_nothing_runs_it_is_said_how_to_start_something() -> None:
    with pytest.raises(Failure, match='start one: avatar tree "') as nobody:
        candidates([], None)
    assert nobody.value.code == 1


def test_a_program_that_does_not_answer_is_named() -> None:
    stopped = FoundProgram(ObservableProgram(pid=7, socket=Path("/nowhere")), None)
    with pytest.raises(Failure, match="process 7: does not answer; it is stopped"):
        candidates([stopped], None)
    with pytest.raises(Failure, match="process 8 shows no tree; these do: 7"):
        candidates([stopped], 8)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--pid", "1", "hello"), "without a prompt"),
        (("--once", "hello"), "without a prompt"),
        (("-m", "opus"), "without a prompt, a running program is watched"),
        (("--pid", "0"), "--pid"),
    ],
)
def test_what_makes_no_sense_is_one_line(
    arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["tree", *arguments]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert words in line


def test_help_says_that_its_json_is_snapshots(capsys: pytest.CaptureFixture[str]) -> None:
    run(["tree", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "--json One snapshot of the tree per line" in said
    assert "One event per line" not in said
