"""A network that is nothing but loopback: where Linux lets us, the suite runs in one of its own."""

import fcntl
import os
import shutil
import socket
import struct
import subprocess
from pathlib import Path

# Of Linux's if.h and sockios.h.
SIOCSIFFLAGS = 0x8914
IFF_UP = 0x1

INSIDE = "AVATAR_AGENTS_LOOPBACK_ONLY"


def way_in() -> tuple[str, ...]:
    """What to put before a command so that it runs there; nothing where that is not possible."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return ()
    ways = [(unshare, "--net"), (unshare, "--user", "--map-root-user", "--net")]
    return next((way for way in ways if _works(way)), ())


def raise_loopback() -> None:
    """A new network has its loopback down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", IFF_UP)
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, request)


def is_loopback_only() -> bool:
    """Whether this process has no other network, whoever saw to that."""
    try:
        rows = Path("/proc/self/net/dev").read_text("ascii").splitlines()[2:]
    except OSError:
        return False
    names = {row.partition(":")[0].strip() for row in rows}
    # Tunnels that every new network of some kernels has lead nowhere and are down.
    return all(name == "lo" or not _is_up(name) for name in names)


def _is_up(name: str) -> bool:
    try:
        flags = Path(f"/sys/class/net/{name}/flags").read_text("ascii")
    except OSError:
        return False
    return bool(int(flags, 16) & IFF_UP)


def _works(way: tuple[str, ...]) -> bool:
    done = subprocess.run([*way, "true"], capture_output=True, check=False)
    return done.returncode == 0


def is_inside() -> bool:
    return INSIDE in os.environ
