"""The order to start an agent, as the host sends it to the keeper.

One line, `order EXIT_GRACE CLOSE_GRACE NICE ARGUMENTS LENGTH`, then LENGTH bytes: the working
directory, the arguments and the environment's `NAME=value`, separated by NULs.
"""

import os
from collections.abc import Mapping, Sequence

ORDER = b"order"


class StartOrder:
    """What to start and where; the graces and `nice` are those of the host's `Launch`."""

    __slots__ = ("argv", "close_grace", "cwd", "env", "exit_grace", "nice")

    def __init__(
        self,
        argv: Sequence[bytes],
        cwd: bytes,
        env: Mapping[bytes, bytes],
        *,
        exit_grace: float,
        close_grace: float,
        nice: int,
    ) -> None:
        self.argv = argv
        self.cwd = cwd
        self.env = env
        self.exit_grace = exit_grace
        self.close_grace = close_grace
        self.nice = nice


def pack_order(order: StartOrder) -> bytes:
    """The order as bytes; ValueError for what no process can be given: a NUL, a name with `=`."""
    if any(b"=" in name or not name for name in order.env):
        raise ValueError("illegal environment variable name")
    pairs = (name + b"=" + value for name, value in order.env.items())
    parts = [order.cwd, *order.argv, *pairs]
    if any(b"\0" in part for part in parts):
        raise ValueError("embedded null byte")
    body = b"\0".join(parts)
    header = (order.exit_grace, order.close_grace, order.nice, len(order.argv), len(body))
    return b"%b %r %r %d %d %d\n%b" % (ORDER, *header, body)


def unpack_order(data: bytes) -> StartOrder | None:
    """The order, once all of it has arrived."""
    header, newline, body = data.partition(b"\n")
    if not newline:
        return None
    _, exit_grace, close_grace, nice, arguments, length = header.split()
    if len(body) < int(length):
        return None
    cwd, *rest = body.split(b"\0")
    argv, pairs = rest[: int(arguments)], rest[int(arguments) :]
    env = dict(pair.split(b"=", 1) for pair in pairs)
    return StartOrder(
        argv,
        cwd,
        env,
        exit_grace=float(exit_grace),
        close_grace=float(close_grace),
        nice=int(nice),
    )


def encode(texts: Sequence[str]) -> list[bytes]:
    """Texts as bytes in the encoding of the system."""
    return [os.fsencode(text) for text in texts]
