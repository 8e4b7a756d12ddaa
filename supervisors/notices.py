"""What happens in a tree, told as a stream of facts for logs, metrics, dashboards and tests."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

import trio

from supervisors._mailbox import Mailbox, Undelivered
from supervisors._value import Value
from supervisors.exits import Exit
from supervisors.logs import SafeLogger
from supervisors.specs import MailboxSpec, Overflow

_log = SafeLogger("supervisors")


class Notice(Value):
    """Something happened to the child at `path`, at `time` on trio's clock."""

    path: str
    time: float


class LifeNotice(Notice):
    """Something about one life of the child; the first one is number 1."""

    life: int


class Started(LifeNotice):
    """A life began; it is not ready yet."""


class Ready(LifeNotice):
    """The child is up: its start is over."""


class Stuck(LifeNotice):
    """A child did not end when cancelled. It is left behind, still running, and not waited for."""


class Crashed(LifeNotice):
    """A life ended by an error, which carries its traceback."""

    error: BaseException | None


class Stopped(LifeNotice):
    """A life ended in order: it returned, was shut down, killed or ignored its start."""

    exit: Exit


class Restarting(Notice):
    """The supervisor will start the child again, `delay` seconds from now."""

    delay: float


class GaveUp(Notice):
    """A supervisor used up its restart budget and stops; `child` was the last straw."""

    child: str


class DeadLetter(Notice):
    """A message that nobody will read. The message itself may be private: it is never logged."""

    message: object
    why: Undelivered


class NoticeStream:
    """One reader's view: bounded, and the oldest notices go first when the reader is too slow."""

    def __init__(self, capacity: int) -> None:
        self.missed: int = 0
        self._box = Mailbox(MailboxSpec(capacity, Overflow.DROP_OLDEST), self)
        self._box.open()

    def __aiter__(self) -> NoticeStream:
        return self

    async def __anext__(self) -> Notice:
        await trio.lowlevel.checkpoint()
        while not self._box.queue:
            await self._box.wait_for_mail()
        notice: Notice = self._box.pop()
        return notice

    def seen_so_far(self) -> list[Notice]:
        """Take what is there, without waiting."""
        return [self._box.pop() for _ in range(len(self._box.queue))]

    def push(self, notice: Notice) -> None:
        """Add one at the end."""
        self._box.put(notice)

    def bury(self, _: object, __: Undelivered) -> None:
        """The oldest one made room."""
        self.missed += 1


class NoticeBoard:
    """Tells every stream of a tree. Nobody listening: nothing is made, nothing is kept."""

    def __init__(self) -> None:
        self._streams: dict[NoticeStream, None] = {}
        self.dead_letters: int = 0

    @contextmanager
    def subscribe(self, capacity: int) -> Generator[NoticeStream]:
        """A stream of what happens from now on."""
        stream = NoticeStream(capacity)
        self._streams[stream] = None
        try:
            yield stream
        finally:
            del self._streams[stream]

    def tell(self, make: Callable[..., Notice], path: str, *facts: object) -> None:
        """Hand a notice to the streams."""
        if self._streams:
            notice = make(path, trio.current_time(), *facts)
            for stream in self._streams:
                stream.push(notice)

    def crashed(self, path: str, life: int, error: BaseException | None) -> None:
        """A crash is logged too: nobody should have to subscribe to see a traceback."""
        if isinstance(error, Exception):
            # Not the error itself: `logging` would ask for its truth, which is foreign code.
            cause = (type(error), error, error.__traceback__)
            _log.error("%s crashed (life %d)", path, life, exc_info=cause)
        self.tell(Crashed, path, life, error)

    def gave_up(self, path: str, child: str) -> None:
        """The restart budget is spent."""
        _log.error("%s gave up: %s used up its restart budget", path, child)
        self.tell(GaveUp, path, child)

    def stuck(self, path: str, life: int) -> None:
        """A child ignores its cancellation."""
        _log.error("%s ignores cancellation; its task is left behind, still running", path)
        self.tell(Stuck, path, life)

    def dead_letter(self, path: str, message: object, why: Undelivered) -> None:
        """Count it, and show it to who asked."""
        self.dead_letters += 1
        self.tell(DeadLetter, path, message, why)
