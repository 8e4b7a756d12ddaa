"""Counts mailbox crossings: every message put into an actor's mailbox, and every answer to one."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest
import trio

from supervisors import _mailbox


class Crossings:
    """What has crossed, in order: "turn queue: Submit", "answer: RunTurn", "channel: bytes"."""

    def __init__(self) -> None:
        self.seen: list[str] = []


@contextmanager
def counting_crossings() -> Generator[Crossings]:
    """For the length of a block, in this process; the product itself knows nothing of it."""
    crossings = Crossings()
    mailbox: Any = _mailbox.Mailbox
    reply: Any = _mailbox.Reply
    channel: Any = trio.MemorySendChannel
    put, settle, send = mailbox.put, reply._settle, channel.send_nowait

    def counted_put(self: Any, item: Any) -> Any:
        message = item.message if type(item) is reply else item
        name = self._owner.path.rpartition("/")[2]
        crossings.seen.append(f"{name}: {type(message).__name__}")
        return put(self, item)

    def counted_settle(self: Any, outcome: Any) -> None:
        # What was told, not asked, has an answer that nobody waits for.
        if not self.is_settled and self._asker is not None:
            crossings.seen.append(f"answer: {type(self.message).__name__}")
        settle(self, outcome)

    def counted_send(self: Any, value: Any) -> None:
        crossings.seen.append(f"channel: {type(value).__name__}")
        send(self, value)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mailbox, "put", counted_put)
        patch.setattr(reply, "_settle", counted_settle)
        patch.setattr(channel, "send_nowait", counted_send)
        yield crossings
