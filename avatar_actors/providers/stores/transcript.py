"""What was said in a stored session: the end of its file, and who tells what its lines mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from avatar_actors.model.values import JsonObject, StoredMessage
from avatar_actors.providers.stores.store import Shelf
from avatar_actors.wire.json_values import is_array, is_object, text_at

# A longer file is read from here on: what was said last counts most.
LONGEST: Final = 16 * 1024 * 1024

Transcript: TypeAlias = Callable[[Iterable[JsonObject]], Iterable[StoredMessage]]
"""Makes the messages of a session's lines, in their order. Pure."""


class SessionTranscript(Struct, frozen=True):
    """The messages, oldest first; and what of the session is left out or could not be read."""

    messages: tuple[StoredMessage, ...] = ()
    diagnostics: tuple[str, ...] = ()


def last_said(path: Path, transcript: Transcript, limit: int) -> SessionTranscript:
    """The last messages of the session in this file."""
    shelf = Shelf()
    lines, is_whole = shelf.last_lines(path, LONGEST)
    messages = [each for each in transcript(lines) if each.text.strip()]
    remarks = [*shelf.remarks]
    if not is_whole:
        remarks.append(f"{path}: only the last {LONGEST // 2**20} MB were read")
    if (earlier := len(messages) - limit) > 0:
        remarks.append(f"{earlier} earlier messages are left out")
    return SessionTranscript(tuple(messages[-limit:]) if limit else (), tuple(remarks))


def texts_of(content: object) -> Iterator[str]:
    """The pieces of text in a message's content: a text, or a list of parts."""
    for part in content if is_array(content) else [content]:
        text = text_at(part, "text") if is_object(part) else part
        if isinstance(text, str) and text.strip():
            yield text
