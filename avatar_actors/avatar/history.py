"""What was said: the text of an answer, and whole pairs of prompt and answer. Pure; bounded."""

from __future__ import annotations

from collections import deque

from avatar_actors.model.values import Message


class AnswerText:
    """The text of one answer, of which the first `limit` characters are kept."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: list[str] = []
        self._length = 0
        self.is_cut = False

    def add(self, piece: str) -> bool:
        """It goes on; whether this is where it is cut."""
        self._length += len(piece)
        excess = self._length - self._limit
        if excess <= 0:
            # One string per batch: the memory of a long turn is that of its text.
            self._pieces.append(piece)
            return False
        self._pieces += [] if self.is_cut else [piece[: len(piece) - excess]]
        is_first, self.is_cut = not self.is_cut, True
        return is_first

    def whole(self) -> str:
        """What is kept of it."""
        return "".join(self._pieces)


class History:
    """The last messages: at most `limit` of them (0 keeps none), and `most` characters.

    The latest pair is kept in any case.
    """

    def __init__(self, limit: int, most: int) -> None:
        self._pairs: deque[tuple[Message, Message]] = deque(maxlen=limit // 2)
        self._most = most

    def add(self, turn_id: int, prompt: str, answer: str, now: float) -> None:
        """A turn has ended."""
        said = Message("user", prompt, turn_id, now), Message("assistant", answer, turn_id, now)
        self._pairs.append(said)
        length = sum(len(message.content) for message in self.messages())
        while length > self._most and len(self._pairs) > 1:
            length -= sum(len(message.content) for message in self._pairs.popleft())

    def messages(self) -> tuple[Message, ...]:
        """All of it, the oldest first."""
        return tuple(message for pair in self._pairs for message in pair)

    def clear(self) -> None:
        """Forget it."""
        self._pairs.clear()
