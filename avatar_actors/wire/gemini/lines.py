"""Types of the lines of Gemini's headless stream-json, and of those that our shim adds."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct

from avatar_actors.wire.json_values import is_object, text_at
from avatar_actors.wire.mending import Piece


class MessageLine(Struct, frozen=True, gc=False, tag_field="type", tag="message"):
    """A piece of the answer, or the prompt echoed."""

    role: str = ""
    content: str = ""
    delta: bool = False


class InitLine(Struct, frozen=True, tag_field="type", tag="init"):
    """The beginning of a run."""

    session_id: str = ""
    model: str = ""


class ToolUseLine(Struct, frozen=True, tag_field="type", tag="tool_use"):
    """A tool call, complete; it runs now."""

    tool_name: str = ""
    tool_id: str = ""
    parameters: dict[str, Any] = {}


class ToolResultLine(Struct, frozen=True, tag_field="type", tag="tool_result"):
    """The result of a tool call."""

    tool_id: str = ""
    status: str = ""
    output: Any = None
    error: Any = None


class ErrorLine(Struct, frozen=True, tag_field="type", tag="error"):
    """A warning that does not end the run (documented, not seen)."""

    severity: str = ""
    message: str = ""


class GeminiResultLine(Struct, frozen=True, tag_field="type", tag="result"):
    """The result of the run; missing after a signal (0.61.0)."""

    status: Any = None
    error: Any = None
    stats: Any = None


class HelloLine(Struct, frozen=True, tag_field="type", tag="avatar_hello"):
    """The shim has started; says whether gemini is installed."""

    session_id: str = ""
    error: str = ""


class ExitLine(Struct, frozen=True, tag_field="type", tag="avatar_exit"):
    """The run has ended and its process is reaped; without a returncode it could not start."""

    turn: int = 0
    returncode: int | None = None
    error: str = ""


Line: TypeAlias = (
    MessageLine
    | InitLine
    | ToolUseLine
    | ToolResultLine
    | ErrorLine
    | GeminiResultLine
    | HelloLine
    | ExitLine
)

line_decoder: Final = msgspec.json.Decoder(Line)


def piece_of(line: object) -> Piece | None:
    """Where a line has a piece of the answer's text."""
    is_piece = text_at(line, "type") == "message" and text_at(line, "role") == "assistant"
    is_text = is_object(line) and isinstance(line.get("content"), str)
    return (line, "content") if is_piece and is_object(line) and is_text else None
