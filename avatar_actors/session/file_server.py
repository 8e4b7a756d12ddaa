"""The file server: reads and writes text files for the agent, in the working directory only."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import trio

from avatar_actors.session.messages import FileServed, ServeFile
from avatar_actors.wire.facts import FileWanted
from supervisors import Inbox

_LARGEST = 32 * 1024 * 1024
# With O_PATH it is enough that we may enter a directory; elsewhere we have to be able to list it.
_SEARCH = os.O_PATH if sys.platform == "linux" else os.O_RDONLY
_DIRECTORY = _SEARCH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


async def file_server(inbox: Inbox[ServeFile], working_dir: Path) -> None:
    """Serves one file at a time. An error is the answer, not a crash."""
    async for serve in inbox:
        wanted = serve.wanted
        try:
            text = await trio.to_thread.run_sync(fulfil, working_dir, wanted)
        except (OSError, ValueError) as error:
            await serve.bridge.tell(FileServed(request_id=wanted.request_id, error=str(error)))
        else:
            await serve.bridge.tell(FileServed(request_id=wanted.request_id, text=text))


def fulfil(working_dir: Path, wanted: FileWanted) -> str:
    """The text that was read, or nothing after a write."""
    path = within(working_dir, wanted.path)
    if wanted.text is None:
        return _read(working_dir, path, wanted.first_line, wanted.max_lines)
    _write(working_dir, path, wanted.text)
    return ""


def within(working_dir: Path, name: str) -> Path:
    """The real path of a file inside the directory; PermissionError for any other."""
    try:
        root = working_dir.resolve()
        path = (root / name).resolve()
    except RuntimeError as error:  # pathlib's word for links that lead in a circle
        raise PermissionError(f"{name} leads in a circle") from error
    if not path.is_relative_to(root):
        raise PermissionError(f"{name} is outside of the working directory {root}")
    return path


def _read(working_dir: Path, path: Path, first_line: int, max_lines: int | None) -> str:
    with _open(working_dir, path, os.O_RDONLY) as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ValueError(f"{path} is larger than {_LARGEST // 2**20} MiB")
    text = data.decode("utf-8")
    if first_line <= 1 and max_lines is None:
        return text
    # Lines as in an editor: `splitlines` would also split at a form feed.
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1].removesuffix("\n")
    start = max(first_line, 1) - 1
    return "".join(lines[start : None if max_lines is None else start + max(max_lines, 0)])


def _write(working_dir: Path, path: Path, text: str) -> None:
    data = text.encode("utf-8")
    with _open(working_dir, path, os.O_WRONLY | os.O_CREAT) as file:
        file.truncate()
        file.write(data)


def _open(working_dir: Path, path: Path, flags: int) -> BinaryIO:
    try:
        fd = _walk(working_dir, path, flags)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise PermissionError(f"{path} is not a plain file")
        return os.fdopen(fd, "wb" if flags & os.O_WRONLY else "rb")
    except BaseException:
        os.close(fd)
        raise


def _walk(working_dir: Path, path: Path, flags: int) -> int:
    """Open a resolved path from descriptor to descriptor, and follow no link on the way.

    The path was free of links a moment ago; a part that another process has exchanged for a link
    since then is an error, so no name can lead out of the working directory.
    """
    root = working_dir.resolve()
    *parents, name = path.relative_to(root).parts or (".",)
    directory = os.open(root, _DIRECTORY)
    try:
        for part in parents:
            if flags & os.O_CREAT:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=directory)
            parent, directory = directory, os.open(part, _DIRECTORY, dir_fd=directory)
            os.close(parent)
        # NONBLOCK: a fifo would hold up the thread for ever; on a plain file it means nothing.
        careful = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        return os.open(name, flags | careful, 0o666, dir_fd=directory)
    finally:
        os.close(directory)
