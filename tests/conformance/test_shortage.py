"""No descriptors, no space, no directory: a typed error, nothing leaks, the runtime lives."""

import errno
import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio

from avatar_actors import (
    AvatarDown,
    AvatarStartError,
    BridgeState,
    Outcome,
    Restarts,
    SupervisionEvent,
    open_runtime,
)
from tests.conformance.dialects import Dialect, every_dialect
from tests.conformance.hosts import open_host
from tests.conformance.subject import PATIENCE, open_subject, recorded, subject_options


@contextmanager
def no_descriptors_left() -> Generator[None]:
    """Every open() of this program fails with EMFILE meanwhile."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    taken: list[int] = []
    try:
        while (fd := open_or_not()) is not None:
            taken.append(fd)
        yield
    finally:
        for fd in taken:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def open_or_not() -> int | None:
    try:
        return os.open(os.devnull, os.O_RDONLY)
    except OSError:
        return None


# In a mount namespace of its own, as root of a user namespace of its own.
NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount")
MOUNT = 'mount -t tmpfs -o "$1" disk "$0" && shift && exec env "$@"'


def small_disk(place: Path, size: str, *environment: str) -> tuple[str, ...]:
    """A wrapper command for a program that finds a small disk at the place."""
    return (*NAMESPACE, "sh", "-c", MOUNT, str(place), size, *environment)


def can_mount() -> bool:
    with tempfile.TemporaryDirectory() as place:
        command = [*small_disk(Path(place), "size=16k"), "true"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


@every_dialect()
async def test_start_without_descriptors_is_a_typed_error_and_works_once_there_are_some(
    dialect: Dialect, tmp_path: Path
) -> None:
    options = subject_options(dialect, tmp_path)
    with trio.fail_after(PATIENCE):
        async with open_runtime() as runtime:
            healthy = await runtime.start(**options)
            with no_descriptors_left():
                with pytest.raises(AvatarStartError) as raised:
                    await runtime.start(**options)
                assert (await healthy.chat("12*(3+4)")).content.strip()
            assert os.strerror(errno.EMFILE) in str(raised.value)
            another = await runtime.start(**options)
            assert (await another.chat("12*(3+4)")).success


@every_dialect()
async def test_restart_without_descriptors_is_tried_until_there_are_some(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        assert await subject.says("before")
        with no_descriptors_left():
            await subject.kill()
            await subject.recorder.until_state(BridgeState.ERROR)
            await subject.recorder.until(
                SupervisionEvent, lambda event: event.notice == "restarting"
            )
        assert await subject.says("and now")


@every_dialect()
async def test_working_directory_that_goes_away_ends_the_avatar_with_the_reason(
    dialect: Dialect, tmp_path: Path
) -> None:
    few = Restarts(max_restarts=2, factor=1.0)
    options = subject_options(dialect, tmp_path)
    with trio.fail_after(PATIENCE):
        async with open_runtime() as runtime:
            other = await runtime.start(**subject_options(dialect, tmp_path))
            options["restarts"] = few
            options["working_dir"] = tmp_path / "gone"
            (tmp_path / "gone").mkdir()
            avatar = await runtime.start(**options)
            async with recorded(avatar) as recorder:
                assert (await avatar.chat("12*(3+4)")).success
                shutil.rmtree(tmp_path / "gone")
                pid = (await avatar.health()).pid
                assert pid is not None
                os.kill(pid, 9)
                with pytest.raises(AvatarDown, match="gone"):
                    await avatar.wait()
            assert [event for event in recorder.all(SupervisionEvent) if "gone" in event.detail]
            assert (await other.chat("12*(3+4)")).outcome is Outcome.COMPLETED


@every_dialect()
async def test_working_directory_that_is_back_in_time_is_used_again(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        assert await subject.says("before")
        (tmp_path / "work").rename(tmp_path / "away")
        await subject.kill()
        await subject.recorder.until(SupervisionEvent, lambda event: "gone" in event.detail)
        (tmp_path / "away").rename(tmp_path / "work")
        assert await subject.says("and now")


@pytest.mark.skipif(not can_mount(), reason="needs a mount namespace for a full disk of its own")
async def test_full_disk_under_the_working_directory_is_told_to_the_agent(tmp_path: Path) -> None:
    with trio.fail_after(PATIENCE):
        steps = [{"write": "big", "text": "x" * 60_000}]
        disk = small_disk(tmp_path, "size=16k")
        async with open_host("acp", tmp_path, steps, [{"say": "alive"}], prefix=disk) as host:
            await host.says("up")
            await host.says("ready")
            assert os.strerror(errno.ENOSPC) in (await host.says("answer"))["text"]
            assert (await host.says("answer"))["text"] == "alive"


@pytest.mark.skipif(not can_mount(), reason="needs a mount namespace for a full disk of its own")
async def test_full_disk_under_the_private_directory_is_a_typed_error(tmp_path: Path) -> None:
    with trio.fail_after(PATIENCE):
        disk = small_disk(tmp_path, "nr_inodes=4", f"XDG_RUNTIME_DIR={tmp_path}")
        async with open_host("acp", tmp_path, prefix=disk) as host:
            await host.says("up")
            error = await host.says("error")
            assert os.strerror(errno.ENOSPC) in error["text"]
            assert error["kind"] == "AvatarStartError"
