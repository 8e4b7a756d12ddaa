"""What was said, in whole pairs of prompt and answer. Pure."""

from __future__ import annotations

from collections import deque

from avatar_actors.types import Message


class History:
    """The last messages, at most `limit` of them; 0 keeps none."""

    def __init__(self, limit: int) -> None:
        self._pairs: deque[tuple[Message, Message]] = deque(maxlen=limit // 2)

    def add(self, turn_id: int, prompt: str, answer: str, now: float) -> None:
        """A turn has ended."""
        said = Message("user", prompt, turn_id, now), Message("assistant", answer, turn_id, now)
        self._pairs.append(said)

    def messages(self) -> tuple[Message, ...]:
        """All of it, the oldest first."""
        return tuple(message for pair in self._pairs for message in pair)

    def clear(self) -> None:
        """Forget it."""
        self._pairs.clear()
