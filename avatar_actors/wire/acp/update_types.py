"""Types of ACP agents' updates about session and tools; schema has replies and requests."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Struct, field

from avatar_actors.model.values import JsonObject
from avatar_actors.wire.acp.schema import ConfigOption
from avatar_actors.wire.json_values import at, is_object, text_at
from avatar_actors.wire.mending import Piece


class TextBlock(Struct, tag="text", tag_field="type", gc=False):
    """Text."""

    text: str


class ImageBlock(Struct, tag="image", tag_field="type", rename="camel", gc=False):
    """A picture."""

    mime_type: str = ""


class AudioBlock(Struct, tag="audio", tag_field="type", rename="camel", gc=False):
    """A sound."""

    mime_type: str = ""


class LinkBlock(Struct, tag="resource_link", tag_field="type", gc=False):
    """A link."""

    uri: str
    name: str = ""


class ResourceBlock(Struct, tag="resource", tag_field="type", gc=False):
    """A text or bytes with an address."""

    resource: JsonObject


Block: TypeAlias = TextBlock | ImageBlock | AudioBlock | LinkBlock | ResourceBlock


class _Update(Struct, tag_field="sessionUpdate", rename="camel", gc=False, kw_only=True):
    meta: JsonObject | None = field(name="_meta", default=None)


class _Chunk(_Update, kw_only=True):
    content: Block
    message_id: str | None = None


class MessageChunk(_Chunk, tag="agent_message_chunk"):
    """A piece of the answer."""


class ThoughtChunk(_Chunk, tag="agent_thought_chunk"):
    """A piece of a thought."""


class UserChunk(_Chunk, tag="user_message_chunk"):
    """The prompt echoed, or an earlier one replayed."""


class _Tool(_Update, kw_only=True):
    tool_call_id: str
    name: str | None = None
    title: str | None = None
    kind: str | None = None
    status: str | None = None
    content: list[JsonObject] | None = None
    locations: list[JsonObject] | None = None
    raw_input: Any = None
    raw_output: Any = None


class ToolStart(_Tool, tag="tool_call"):
    """A new tool call."""


class ToolChange(_Tool, tag="tool_call_update"):
    """An update of a tool call."""


ToolFields: TypeAlias = ToolStart | ToolChange


class PermissionParams(Struct, rename="camel", gc=False):
    """A permission request for a tool call."""

    session_id: str
    tool_call: ToolChange
    options: list[JsonObject]


class PlanStep(Struct, gc=False):
    """One entry of a plan."""

    content: str
    status: str = "pending"
    priority: str = "medium"


class PlanUpdate(_Update, tag="plan", kw_only=True):
    """The whole plan."""

    entries: list[PlanStep]


class NamedPlanUpdate(_Update, tag="plan_update", kw_only=True):
    """One of several plans: entries, a text, or an address."""

    plan: JsonObject


class PlanRemoved(_Update, tag="plan_removed", kw_only=True):
    """A plan was dropped."""

    plan_id: str = ""


class AgentCommand(Struct, gc=False):
    """A command that the agent understands in a prompt."""

    name: str
    description: str | None = None


class CommandsUpdate(_Update, tag="available_commands_update", kw_only=True):
    """All the commands."""

    available_commands: list[AgentCommand]


class ModeUpdate(_Update, tag="current_mode_update", kw_only=True):
    """The mode has changed."""

    current_mode_id: str


class ConfigUpdate(_Update, tag="config_option_update", kw_only=True):
    """All the options."""

    config_options: list[ConfigOption]


class InfoUpdate(_Update, tag="session_info_update", kw_only=True):
    """The session's title; some agents put their status into `_meta`."""

    title: str | None = None


class UsageUpdate(_Update, tag="usage_update", kw_only=True):
    """How full the context is, and what the session has cost. Loosely typed: figures may be odd."""

    used: Any = 0
    size: Any = 0
    cost: JsonObject | None = None


class NoticeUpdate(_Update, tag="notice", kw_only=True):
    """A warning or remark for the user, which is no part of the answer."""

    severity: str = ""
    title: str = ""
    description: Any = None


class CompactionUpdate(_Update, tag="compaction_update", kw_only=True):
    """The agent is making its context shorter, or has ended doing so."""

    status: str = ""
    error: Any = None


class CompactionSummary(_Update, tag="compaction_summary_chunk", kw_only=True):
    """A piece of the summary that replaces the agent's context; for the agent itself."""


Update: TypeAlias = (
    MessageChunk
    | ThoughtChunk
    | UserChunk
    | ToolStart
    | ToolChange
    | PlanUpdate
    | NamedPlanUpdate
    | PlanRemoved
    | CommandsUpdate
    | ModeUpdate
    | ConfigUpdate
    | InfoUpdate
    | UsageUpdate
    | NoticeUpdate
    | CompactionUpdate
    | CompactionSummary
)


class UpdateParams(Struct, rename="camel", gc=False):
    """An update of one session."""

    session_id: str
    update: Update


class UpdateLine(Struct, gc=False):
    """The whole line of an update, decoded in one pass: this is the hot path."""

    method: Literal["session/update"]
    params: UpdateParams


UPDATE_LINE: Final = msgspec.json.Decoder(UpdateLine)


def piece_of(line: object) -> Piece | None:
    """Where a line has a plain piece of the answer."""
    update = at(line, "params", "update")
    content = at(update, "content")
    is_piece = text_at(update, "sessionUpdate") == "agent_message_chunk"
    if not is_piece or at(update, "_meta") is not None or not is_object(content):
        return None
    is_text = text_at(content, "type") == "text" and isinstance(content.get("text"), str)
    return (content, "text") if is_text else None
