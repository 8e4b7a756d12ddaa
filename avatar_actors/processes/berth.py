"""The half of a lease that goes to the warden, for a keeper; the other half is the `Lease`."""

import os
from collections.abc import Sequence
from types import TracebackType


class Berth:
    """The keeper's ends, until they are sent: control socket, stdin, stdout, stderr.

    They are closed at the end of `with berth:`, or when it is forgotten: a keeper gets copies.
    """

    def __init__(self, fds: Sequence[int]) -> None:
        self.fds = tuple(fds)

    def close(self) -> None:
        """Withdraw it, if it has not been sent. May be called again."""
        fds, self.fds = self.fds, ()
        for fd in fds:
            os.close(fd)

    def __enter__(self) -> "Berth":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()
