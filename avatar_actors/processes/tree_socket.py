"""The Unix socket on which a program offers its tree: creates it, and finds those of others."""

import contextlib
import os
import socket
import stat
import struct
import sys
import tempfile
from collections.abc import Generator, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import trio

from avatar_actors.processes.private_root import (
    open_private_root,
    private_root_parents,
    sweep_private_roots,
)
from avatar_actors.processes.sweep import parse_identity
from avatar_actors.processes.types import PrivateRootRefused

SOCKET = "tree"
# The shortest limit of a kernel, macOS's 104, without the zero at the end.
LONGEST = 103
SHORT_PLACE = Path("/tmp")
_CREDENTIALS = struct.Struct("3i")


class TreeSocket(NamedTuple):
    """Where a program with this process id offers its tree."""

    pid: int
    path: Path


@contextlib.contextmanager
def listening_for_watchers(private_root: Path) -> Generator[socket.socket]:
    """A listening socket in the private directory, or a shorter one if its path is too long."""
    with contextlib.ExitStack() as stack:
        path = private_root / SOCKET
        if len(os.fsencode(path)) > LONGEST:
            sweep_private_roots(SHORT_PLACE)
            path = stack.enter_context(open_private_root(SHORT_PLACE)) / SOCKET
        listener = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        listener.bind(os.fspath(path))
        path.chmod(0o600)
        listener.listen()
        listener.setblocking(False)
        yield listener


def tree_sockets() -> list[TreeSocket]:
    """The sockets of this user's running programs; removes what dead ones left behind."""
    return [found for place in _places() for found in _sockets_in(place)]


def is_our_user(peer: trio.socket.SocketType) -> bool:
    """Whether the peer runs as this user; True where the kernel does not tell."""
    if sys.platform != "linux":
        return True
    credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _pid, user, _group = _CREDENTIALS.unpack(credentials)
    return bool(user == os.geteuid())


def _places() -> Iterator[Path]:
    named = os.environ.get("XDG_RUNTIME_DIR", "")
    usual = (named, f"/run/user/{os.geteuid()}", tempfile.gettempdir(), str(SHORT_PLACE))
    seen: set[Path] = set()
    for place in map(Path, filter(None, usual)):
        with contextlib.suppress(OSError):
            real = place.resolve(strict=True)
            if real not in seen:
                yield place
            seen.add(real)


def _sockets_in(place: Path) -> Iterator[TreeSocket]:
    # A directory that is not safely ours has no program that we could watch.
    with contextlib.suppress(PrivateRootRefused, OSError):
        sweep_private_roots(place)
        for directory in chain.from_iterable(map(Path.iterdir, private_root_parents(place))):
            process = parse_identity(directory.name.partition("-")[0])
            path = directory / SOCKET
            if process is not None and _is_socket(path):
                yield TreeSocket(process.pid, path)


def _is_socket(path: Path) -> bool:
    try:
        return stat.S_ISSOCK(path.lstat().st_mode)
    except OSError:
        return False
