"""The file clerk: reads and writes text files for the agent, inside the working directory only."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

import trio

from avatar_actors.session_messages import FileServed, ServeFile
from avatar_actors.wire.facts import FileWanted
from supervisors import Inbox

_LARGEST = 32 * 1024 * 1024


async def file_clerk(inbox: Inbox[ServeFile], working_dir: Path) -> None:
    """One file at a time. What goes wrong is the answer, not a crash."""
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
        return _read(path, wanted.first_line, wanted.max_lines)
    _write(path, wanted.text)
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


def _read(path: Path, first_line: int, max_lines: int | None) -> str:
    with _open(path, os.O_RDONLY) as file:
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


def _write(path: Path, text: str) -> None:
    data = text.encode("utf-8")
    path.parent.mkdir(parents=True, exist_ok=True)
    with _open(path, os.O_WRONLY | os.O_CREAT) as file:
        file.truncate()
        file.write(data)


def _open(path: Path, flags: int) -> BinaryIO:
    # NOFOLLOW: resolved a moment ago; a link that took its place meanwhile leads elsewhere.
    # NONBLOCK: a fifo would hold up the thread for ever; on a plain file it means nothing.
    fd = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise PermissionError(f"{path} is not a plain file")
        return os.fdopen(fd, "wb" if flags & os.O_WRONLY else "rb")
    except BaseException:
        os.close(fd)
        raise
