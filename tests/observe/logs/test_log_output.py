"""The package writes its log where it is told to, and leaves no trace of itself in `logging`."""

import io
import logging
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any, BinaryIO

import pytest
import trio

from avatar_actors import LogSettings, SettingsError, open_runtime
from tests.runtime.home import PATIENCE, Home, script

SAY = script({"say": "hello"})
NAMES = ("avatar_actors", "supervisors", "")


# A file that may not grow any more fails as a file on a full disk does: at each write of its own.
FULL_DISK = """
import resource, sys
import trio
from avatar_actors import LogSettings, open_runtime

async def main(file, work):
    async with open_runtime(log=LogSettings(file=file, level="DEBUG")) as runtime:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, resource.RLIM_INFINITY))
        aria = await runtime.start("embedded", "aria", working_dir=work)
        for prompt in ("one", "two"):
            assert (await aria.chat(prompt)).success
        unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        if sys.argv[3] == "room again":
            resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
            assert (await aria.chat("three")).success
    print("ended well")

trio.run(main, *sys.argv[1:3])
"""

UNOPENED = """
import sys
import trio
from avatar_actors import LogSettings, SettingsError, open_runtime

async def main():
    try:
        async with open_runtime(log=LogSettings(file=sys.argv[1])):
            pass
    except SettingsError:
        print("refused")

trio.run(main)
"""


def arrangement() -> list[Any]:
    """Everything about our loggers, and about the root, that a host would notice."""
    known = [name for name in logging.Logger.manager.loggerDict if name.startswith(NAMES[:2])]
    loggers = [logging.getLogger(name) for name in (*sorted(known), "")]
    return [
        (each.name, each.level, each.propagate, list(each.handlers), list(each.filters))
        for each in loggers
    ]


@pytest.fixture(autouse=True)
def logging_is_left_as_it_was() -> Iterator[None]:
    before = {entry[0]: entry for entry in arrangement()}
    yield
    after = {entry[0]: entry for entry in arrangement()}
    assert {name: after[name] for name in before} == before
    assert [thread for thread in threading.enumerate() if "_monitor" in thread.name] == []


def log_files(folder: Path) -> list[Path]:
    return list(folder.glob("avatars.log*"))


async def one_turn(home: Home, *logs: LogSettings) -> None:
    """A runtime for each of these, one inside the other, and a turn in the innermost."""
    with trio.fail_after(PATIENCE):
        await _nested(home, list(logs))


async def _nested(home: Home, logs: list[LogSettings]) -> None:
    async with open_runtime(log=logs[0]) as runtime:
        if len(logs) > 1:
            await _nested(home, logs[1:])
        else:
            aria = await runtime.start("embedded", "aria", **home.options())
            await aria.chat(SAY)


async def test_a_turn_is_in_the_file_when_the_runtime_has_ended(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "avatars.log"
    await one_turn(home, LogSettings(file=file, format="%(levelname)s %(name)s %(message)s"))
    lines = file.read_text().splitlines()
    assert "INFO avatar_actors.sessions aria (embedded): its session is ready" in lines
    assert "INFO avatar_actors.turns aria (embedded): turn 1 started" in lines
    assert any("turn 1 completed" in line for line in lines)
    assert any("its session has ended" in line for line in lines)
    assert "hello" not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


async def test_a_log_that_was_there_is_continued(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "avatars.log"
    await one_turn(home, LogSettings(file=file))
    before = file.read_text()
    await one_turn(home, LogSettings(file=file))
    assert file.read_text().startswith(before)
    assert len(file.read_text()) > len(before)


async def test_the_level_is_kept(home: Home, tmp_path: Path) -> None:
    files = {level: tmp_path / level for level in ("debug", "WARNING")}
    for level, file in files.items():
        await one_turn(home, LogSettings(level=level, file=file))
    assert "the agent is being started" in files["debug"].read_text()
    assert files["WARNING"].read_text() == ""


async def test_two_runtimes_with_one_file_double_no_line(home: Home, tmp_path: Path) -> None:
    settings = LogSettings(file=tmp_path / "avatars.log")
    await one_turn(home, settings, settings)
    assert (tmp_path / "avatars.log").read_text().count("turn 1 started") == 1


async def test_two_runtimes_with_two_files_double_no_line_in_either(
    home: Home, tmp_path: Path
) -> None:
    one = LogSettings(file=tmp_path / "one.log", level="DEBUG")
    two = LogSettings(file=tmp_path / "two.log", level="INFO")
    await one_turn(home, one, two)
    for name in ("one.log", "two.log"):
        assert (tmp_path / name).read_text().count("turn 1 started") == 1
    assert "DEBUG" in (tmp_path / "one.log").read_text()
    assert "DEBUG" not in (tmp_path / "two.log").read_text()


async def test_one_file_with_two_minds_is_refused(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "avatars.log"
    with pytest.raises(SettingsError, match="with other settings"):
        await one_turn(home, LogSettings(file=file), LogSettings(file=file, level="DEBUG"))


async def test_without_a_file_it_goes_to_stderr_and_not_to_the_hosts_handlers(home: Home) -> None:
    ours, theirs = io.StringIO(), io.StringIO()
    handler = logging.StreamHandler(theirs)
    logging.getLogger().addHandler(handler)
    try:
        with redirect_stderr(ours):
            await one_turn(home, LogSettings())
    finally:
        logging.getLogger().removeHandler(handler)
    assert ours.getvalue().count("turn 1 started") == 1
    assert theirs.getvalue() == ""


async def test_without_settings_the_hosts_own_handlers_get_the_lines(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "avatar_actors"):
        async with home.avatar() as aria:
            await aria.chat(SAY)
    [started] = [each for each in caplog.records if "turn 1 started" in each.getMessage()]
    assert (started.name, vars(started)["avatar"]) == ("avatar_actors.turns", "aria")
    assert (vars(started)["provider"], vars(started)["turn_id"]) == ("embedded", 1)


async def test_a_crash_is_there_with_its_traceback_and_its_restart(
    home: Home, tmp_path: Path
) -> None:
    file = tmp_path / "avatars.log"
    with trio.fail_after(PATIENCE):
        async with open_runtime(log=LogSettings(file=file)) as runtime:
            aria = await runtime.start("embedded", "aria", **home.options())
            await home.kill_when_ready(aria)
            assert (await aria.chat(SAY)).success
    text = file.read_text()
    assert "Traceback (most recent call last):" in text
    assert "avatar_actors.model.errors.AgentDied: the agent was killed by SIGKILL" in text
    for words in ("bridge crashed", "session is restarted", "its session was lost"):
        assert words in text


async def test_it_rotates_and_keeps_the_old_ones_private(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "avatars.log"
    rotating = LogSettings(file=file, level="DEBUG", max_bytes=500, backup_count=2)
    for _ in range(3):
        await one_turn(home, rotating)
    kept = sorted(path.name for path in log_files(tmp_path))
    assert kept == ["avatars.log", "avatars.log.1", "avatars.log.2"]
    for name in kept:
        assert (tmp_path / name).stat().st_size <= 500
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600


async def test_a_foreign_file_in_the_place_of_a_backup_is_kept_and_told_once(
    home: Home, tmp_path: Path
) -> None:
    file, foreign = tmp_path / "avatars.log", tmp_path / "avatars.log.1"
    rotating = LogSettings(file=file, level="DEBUG", max_bytes=500, backup_count=2)
    with trio.fail_after(PATIENCE):
        async with open_runtime(log=rotating) as runtime:
            foreign.write_text("not a log")
            aria = await runtime.start("embedded", "aria", **home.options())
            await aria.chat(SAY)
    assert foreign.read_text() == "not a log"
    assert sorted(log_files(tmp_path)) == [file, foreign]
    text = file.read_text()
    assert text.count(f"the log is not rotated: the backup {foreign}") == 1
    assert "turn 1 completed" in text


async def test_a_stderr_that_hangs_holds_up_nobody(home: Home) -> None:
    reader, writer = os.pipe()
    with (
        trio.fail_after(PATIENCE),
        os.fdopen(reader, "rb") as lines,
        os.fdopen(writer, "w", buffering=1) as pipe,
        redirect_stderr(pipe),
    ):
        async with trio.open_nursery() as nursery, open_runtime(log=LogSettings()) as runtime:
            aria = await runtime.start("embedded", "aria", **home.options())
            for _ in range(2000):  # far more than a pipe takes that nobody reads
                logging.getLogger("avatar_actors.turns").info("y" * 200)
            assert (await aria.chat(SAY)).success
            nursery.start_soon(trio.to_thread.run_sync, read_on, lines)


def read_on(lines: BinaryIO) -> None:
    assert any(b"turn 1 completed" in line for line in lines)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"level": "LOUD"}, r"log\.level must be one of DEBUG, .*; got 'LOUD'"),
        ({"format": "%(mesage)s"}, r"log\.format '%\(mesage\)s' is not a format"),
        ({"format": "no field"}, r"log\.format 'no field' is not a format"),
        ({"format": "%(message)d"}, r"log\.format '%\(message\)d' is not a format"),
        ({"format": "%(message)99999s"}, r"a field is wider than 999 characters"),
        ({"format": "%(message).2000s"}, r"a field is wider than 999 characters"),
        ({"format": f"%(message)s{'.' * 1000}"}, r"more than 1000 characters"),
        ({"max_bytes": -1}, r"log\.max_bytes"),
        ({"backup_count": -1}, r"log\.backup_count"),
    ],
)
def test_settings_that_cannot_work_are_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        LogSettings(**wrong)


@pytest.mark.parametrize("name", ["missing/avatars.log", "."])
async def test_a_file_that_cannot_be_is_one_clear_error(
    home: Home, tmp_path: Path, name: str
) -> None:
    with pytest.raises(SettingsError, match=r"log\.file: .*(create it first|cannot be written)"):
        await one_turn(home, LogSettings(file=tmp_path / name))


def run_on_a_full_disk(tmp_path: Path, then: str) -> tuple[Path, str]:
    file, work = tmp_path / "avatars.log", tmp_path / "work"
    work.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(file), str(work), then],
        env={**os.environ, "AVATAR_EMBEDDED_HOME": str(tmp_path / "store")},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "ended well\n"), done.stderr
    return file, done.stderr


def test_a_full_disk_under_the_log_ends_nobody_and_is_one_line(tmp_path: Path) -> None:
    file, told = run_on_a_full_disk(tmp_path, "stays full")
    assert told == (
        f"avatar_actors: the log {file} cannot be written: File too large;"
        " lines are lost until it can\n"
    )
    assert 0 < file.stat().st_size <= 200


def test_a_disk_with_room_again_gets_a_line_about_the_lost_ones(tmp_path: Path) -> None:
    file, told = run_on_a_full_disk(tmp_path, "room again")
    assert told.count("\n") == 1
    assert re.search(
        r"WARNING .*\d+ line\(s\) before the last one may be missing", file.read_text()
    )


@pytest.mark.parametrize("name", ["missing/avatars.log", "."])
def test_a_file_that_cannot_be_opened_leaves_no_traceback_at_the_exit(
    tmp_path: Path, name: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", UNOPENED, str(tmp_path / name)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "refused\n", "")
