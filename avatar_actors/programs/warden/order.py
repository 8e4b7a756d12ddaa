"""The order to start an agent, as the host sends it to the keeper.

One line, `order EXIT_GRACE CLOSE_GRACE ARGUMENTS LENGTH`, then LENGTH bytes: the working
directory, the arguments and the environment's `NAME=value`, separated by NULs.
"""

import os
from collections.abc import Mapping, Sequence

ORDER = b"order"
WORDS_IN_HEADER = 5


class StartOrder:
    """What to start and where; `exit_grace` and `close_grace` are those of the host's `Launch`."""

    __slots__ = ("argv", "close_grace", "cwd", "env", "exit_grace")

    def __init__(
        self,
        argv: Sequence[bytes],
        cwd: bytes,
        env: Mapping[bytes, bytes],
        exit_grace: float,
        close_grace: float,
    ) -> None:
        self.argv = argv
        self.cwd = cwd
        self.env = env
        self.exit_grace = exit_grace
        self.close_grace = close_grace


def pack_order(order: StartOrder) -> bytes:
    """The order as bytes; ValueError for what no process can be given: a NUL, a name with `=`."""
    if any(b"=" in name or not name for name in order.env):
        raise ValueError("illegal environment variable name")
    pairs = (name + b"=" + value for name, value in order.env.items())
    parts = [order.cwd, *order.argv, *pairs]
    if any(b"\0" in part for part in parts):
        raise ValueError("embedded null byte")
    body = b"\0".join(parts)
    header = (order.exit_grace, order.close_grace, len(order.argv), len(body))
    return b"%b %r %r %d %d\n%b" % (ORDER, *header, body)


def unpack_order(data: bytes) -> StartOrder | None:
    """The order, once all of it has arrived."""
    header, newline, body = data.partition(b"\n")
    if not newline:
        return None
    _, exit_grace, close_grace, arguments, length = header.split()
    if len(body) < int(length):
        return None
    cwd, *rest = body.split(b"\0")
    argv, pairs = rest[: int(arguments)], rest[int(arguments) :]
    env = dict(pair.split(b"=", 1) for pair in pairs)
    return StartOrder(argv, cwd, env, float(exit_grace), float(close_grace))


def encode(texts: Sequence[str]) -> list[bytes]:
    """Texts as bytes in the encoding of the system."""
    return [os.fsencode(text) for text in texts]
