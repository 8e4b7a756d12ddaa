"""What a tool call was named, given and has put out, from the forms in which ACP agents tell it."""

from __future__ import annotations

from typing import Final

from avatar_actors.model.values import JsonObject
from avatar_actors.wire.acp.update_types import ToolFields
from avatar_actors.wire.json_values import at, is_array, is_object, text_at

# The plain text first: codex (zed's adapter 0.16.0) also sends it fenced, as content.
OUTPUT_KEYS: Final = (
    "formatted_output",
    "aggregated_output",
    "output",
    "stdout",
    "result",
    "content",
    "text",
    "error",
    "message",
)
DIFF_KEYS: Final = ("path", "oldText", "newText")
DEPTH: Final = 4
SHELL_ARGV: Final = 3


def tool_name(fields: ToolFields, name_end: str) -> str:
    """The tool's own name, if the agent tells it; the title is for people and no name.

    codex-acp 2.6.0 has `name`, claude-agent-acp 0.49.0 and qwen 0.15.10 tell it in `_meta`, gemini
    0.61.0 begins the call's id with it. An MCP tool of codex is named as Claude does.
    """
    server, tool = text_at(fields.raw_input, "server"), text_at(fields.raw_input, "tool")
    if server and tool:
        return f"mcp__{server}__{tool}"
    told = fields.name or text_at(fields.meta, "claudeCode", "toolName")
    told = told or text_at(fields.meta, "toolName")
    if told or not name_end:
        return told
    name, end, _ = fields.tool_call_id.partition(name_end)
    return name if end else ""


def tool_parameters(fields: ToolFields) -> JsonObject:
    """What the tool was given; where the agent keeps that back, what its title and place tell."""
    given = fields.raw_input
    if is_object(given):
        arguments = at(given, "arguments")
        if "server" in given and "tool" in given and is_object(arguments):
            return arguments
        line = _shell_line(at(given, "command"))
        return {**given, "command": line} if line else given
    return _guessed_parameters(fields)


def _shell_line(command: object) -> str:
    """The line inside of ["/bin/bash", "-lc", line], so that a policy can look at it."""
    if is_array(command) and len(command) == SHELL_ARGV and command[1] in {"-lc", "-c"}:
        return command[2] if isinstance(command[2], str) else ""
    return ""


def _guessed_parameters(fields: ToolFields) -> JsonObject:
    # gemini 0.61.0 sends no rawInput: for a command the title is the command.
    if fields.kind == "execute" and fields.title:
        return {"command": fields.title}
    for piece in fields.content or []:
        # Of an edit it tells the diff, which is what somebody is asked to allow.
        if at(piece, "type") == "diff" and text_at(piece, "path"):
            return {key: value for key, value in piece.items() if key in DIFF_KEYS}
    for place in (*(fields.locations or []), *(fields.content or [])):
        if path := text_at(place, "path"):
            return {"path": path}
    return {}


def tool_output(fields: ToolFields) -> str | None:
    """The text of the tool's output as of this update; None: unchanged."""
    if output := output_text(fields.raw_output):
        return output
    return None if fields.content is None else content_text(fields.content)


def output_text(value: object, depth: int = DEPTH) -> str:
    """The text inside of a raw output: a string, or what stands under the keys agents use."""
    if isinstance(value, str):
        return value
    if depth and is_array(value):
        return "".join(output_text(item, depth - 1) for item in value)
    if depth and is_object(value):
        return next(filter(None, (output_text(at(value, k), depth - 1) for k in OUTPUT_KEYS)), "")
    return ""


def content_text(content: list[JsonObject]) -> str:
    """The texts of a tool call's content; a diff is told by the path it changes."""
    return "\n".join(filter(None, map(_piece_text, content)))


def _piece_text(piece: JsonObject) -> str:
    if at(piece, "type") == "diff":
        return text_at(piece, "path")
    return text_at(piece, "content", "text") or text_at(piece, "content", "resource", "text")


def terminal_output(fields: ToolFields) -> str:
    """What codex-acp 2.6.0 shows of a terminal of its own; no terminal request is made for it."""
    return text_at(fields.meta, "terminal_output_delta", "data")


def exit_text(fields: ToolFields) -> str:
    """How a command ended, if that is told."""
    code = at(fields.meta, "terminal_exit", "exit_code")
    code = at(fields.raw_output, "exit_code") if code is None else code
    return f"exit code {code}" if type(code) is int else ""
