"""What a wire has to say itself about an agent's lines."""

from __future__ import annotations

from avatar_actors.model.events import DiagnosticEvent, UnrecognisedEvent
from avatar_actors.model.values import Level
from avatar_actors.wire.json_values import raw_text


def remark(message: str) -> DiagnosticEvent:
    """A warning of the wire's own."""
    return DiagnosticEvent(message=message, level=Level.WARNING, source="wire")


def unrecognised(raw: bytes, source: str) -> UnrecognisedEvent:
    """A line of a kind that the wire does not know."""
    return UnrecognisedEvent(raw=raw_text(raw), source=source)
