"""Types of the lines that Claude Code writes; other modules interpret them.

Only the fields that are used are decoded: a text delta takes one pass and three small structs. The
order of keys is not stable (2.1.325 puts `type` last in a result), so decoding finds the kind.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct

from avatar_actors.model.values import JsonObject
from avatar_actors.wire.json_values import at, is_array, is_object, text_at
from avatar_actors.wire.mending import Piece


class ContentBlock(Struct, frozen=True, gc=False):
    """A block of a message: text, thinking, tool_use, tool_result, or an ignored kind."""

    type: str = ""
    text: str = ""
    thinking: str = ""
    id: str = ""
    name: str = ""
    input: Any = None
    tool_use_id: str = ""
    content: Any = None
    is_error: bool | None = None


class ModelMessage(Struct, frozen=True):
    """A message from the model or to it."""

    id: str = ""
    model: str = ""
    content: str | list[ContentBlock] = ""

    @property
    def blocks(self) -> list[ContentBlock]:
        """The blocks; a plain string is one block of text."""
        if isinstance(self.content, str):
            return [ContentBlock(type="text", text=self.content)] if self.content else []
        return self.content


class Delta(Struct, frozen=True, gc=False):
    """More of the open block."""

    type: str = ""
    text: str = ""
    thinking: str = ""


class StreamEvent(Struct, frozen=True, gc=False):
    """An event of the model's stream, as the Messages API has it."""

    type: str = ""
    delta: Delta | None = None
    content_block: ContentBlock | None = None
    message: ModelMessage | None = None
    usage: Any = None


class StreamLine(Struct, frozen=True, gc=False, tag_field="type", tag="stream_event"):
    """One event of the stream; sub-agents have none (2.1.197 to 2.1.325)."""

    event: StreamEvent
    parent_tool_use_id: str | None = None


class AssistantLine(Struct, frozen=True, tag_field="type", tag="assistant"):
    """A whole block of the model's message, after its deltas if there were any."""

    message: ModelMessage
    parent_tool_use_id: str | None = None
    agent_id: str = ""
    session_id: str = ""
    subagent_type: str = ""
    task_description: str = ""
    user_message_uuids: Any = None
    error: Any = None


class UserLine(Struct, frozen=True, tag_field="type", tag="user", rename="camel"):
    """Tool results, echoes of prompts, and what the CLI writes in the user's name."""

    message: ModelMessage | None = None
    parent_tool_use_id: str | None = msgspec.field(default=None, name="parent_tool_use_id")
    session_id: str = msgspec.field(default="", name="session_id")
    is_replay: bool = False


class ClaudeResultLine(Struct, frozen=True, tag_field="type", tag="result"):
    """The end of one run of the model. Loosely typed: a turn must end whatever it holds."""

    subtype: Any = None
    is_error: Any = False
    result: Any = None
    errors: Any = None
    stop_reason: Any = None
    terminal_reason: Any = None
    total_cost_usd: Any = None
    usage: Any = None
    model_usage: Any = msgspec.field(default=None, name="modelUsage")
    model_usage_since_last_result: Any = None
    origin: Any = None
    session_id: Any = None
    user_message_uuids: Any = None
    api_error_status: Any = None
    structured_output: Any = None
    uuid: Any = None


class SystemLine(Struct, frozen=True, tag_field="type", tag="system"):
    """A notice; the fields of its kind are decoded separately."""

    subtype: str = ""
    session_id: str = ""


class ControlRequestLine(Struct, frozen=True, tag_field="type", tag="control_request"):
    """A request of the CLI, which waits for the answer."""

    request_id: str = ""
    request: Any = None


class ControlResponse(Struct, frozen=True):
    """The answer to a request of ours."""

    request_id: str = ""
    subtype: str = ""
    response: Any = None
    error: Any = None


class ControlResponseLine(Struct, frozen=True, tag_field="type", tag="control_response"):
    """The envelope of an answer."""

    response: ControlResponse


class ControlCancelLine(Struct, frozen=True, tag_field="type", tag="control_cancel_request"):
    """The CLI no longer waits for an answer."""

    request_id: str = ""


class LifecycleLine(Struct, frozen=True, tag_field="type", tag="command_lifecycle"):
    """The state of a message of ours: queued, started, completed, cancelled."""

    command_uuid: str = ""
    state: str = ""


Line: TypeAlias = (
    StreamLine
    | AssistantLine
    | UserLine
    | ClaudeResultLine
    | SystemLine
    | ControlRequestLine
    | ControlResponseLine
    | ControlCancelLine
    | LifecycleLine
)

line_decoder: Final = msgspec.json.Decoder(Line)


def piece_of(line: object) -> Piece | None:
    """Where a line has a piece of the answer's text."""
    delta = at(line, "event", "delta")
    is_own = text_at(line, "type") == "stream_event" and not at(line, "parent_tool_use_id")
    is_text = is_object(delta) and isinstance(delta.get("text"), str)
    return (delta, "text") if is_own and is_object(delta) and is_text else None


def as_object(value: object) -> JsonObject:
    """The value if it is an object, else an empty one."""
    return value if is_object(value) else {}


def as_objects(value: object) -> list[JsonObject]:
    """The objects in the value if it is an array, else none."""
    return [item for item in value if is_object(item)] if is_array(value) else []


def as_texts(value: object) -> list[str]:
    """The texts in the value if it is an array, else none."""
    return [item for item in value if isinstance(item, str)] if is_array(value) else []
