"""Tracks the tool calls of the current turn, in whichever form an ACP agent reports them."""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field

from avatar_actors.model.events import ToolEvent
from avatar_actors.model.values import JsonObject, ToolStatus
from avatar_actors.wire.acp.profile import AcpProfile
from avatar_actors.wire.acp.update_types import ToolFields, ToolStart
from avatar_actors.wire.framing import TextTail
from avatar_actors.wire.json_values import at, is_array, is_object, text_at
from avatar_actors.wire.phases import RecentIds

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
    """The tool's own name, if the agent reports it; the title is for people, not a name.

    codex-acp 2.6.0 has `name`, claude-agent-acp 0.49.0 and qwen 0.15.10 have it in `_meta`, the
    call ids of gemini 0.61.0 start with it. An MCP tool of codex is named as in Claude.
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
    """The tool's input; if the agent does not send it, what title and locations tell."""
    given = fields.raw_input
    if is_object(given):
        arguments = at(given, "arguments")
        if "server" in given and "tool" in given and is_object(arguments):
            return arguments
        line = _shell_line(at(given, "command"))
        return {**given, "command": line} if line else given
    return _guessed_parameters(fields)


def _shell_line(command: object) -> str:
    """The line inside ["/bin/bash", "-lc", line], so that a policy can check it."""
    if is_array(command) and len(command) == SHELL_ARGV and command[1] in {"-lc", "-c"}:
        return command[2] if isinstance(command[2], str) else ""
    return ""


def _guessed_parameters(fields: ToolFields) -> JsonObject:
    # gemini 0.61.0 sends no rawInput: the title of a command is the command.
    if fields.kind == "execute" and fields.title:
        return {"command": fields.title}
    for piece in fields.content or []:
        # For an edit it sends the diff, which is what a person is asked to allow.
        if at(piece, "type") == "diff" and text_at(piece, "path"):
            return {key: value for key, value in piece.items() if key in DIFF_KEYS}
    for place in (*(fields.locations or []), *(fields.content or [])):
        if path := text_at(place, "path"):
            return {"path": path}
    return {}


def tool_output(fields: ToolFields) -> str | None:
    """The tool's output as of this update; None if unchanged."""
    if output := output_text(fields.raw_output):
        return output
    return None if fields.content is None else content_text(fields.content)


def output_text(value: object, depth: int = DEPTH) -> str:
    """The text in a raw output: a string, or the value under the keys that agents use."""
    if isinstance(value, str):
        return value
    if depth and is_array(value):
        return "".join(output_text(item, depth - 1) for item in value)
    if depth and is_object(value):
        return next(filter(None, (output_text(at(value, k), depth - 1) for k in OUTPUT_KEYS)), "")
    return ""


def content_text(content: list[JsonObject]) -> str:
    """The texts of a tool call's content; a diff is shown by its path."""
    return "\n".join(filter(None, map(_piece_text, content)))


def _piece_text(piece: JsonObject) -> str:
    if at(piece, "type") == "diff":
        return text_at(piece, "path")
    return text_at(piece, "content", "text") or text_at(piece, "content", "resource", "text")


def terminal_output(fields: ToolFields) -> str:
    """The output of codex-acp 2.6.0's own terminal, which it runs without a terminal request."""
    return text_at(fields.meta, "terminal_output_delta", "data")


def exit_text(fields: ToolFields) -> str:
    """How a command ended, if reported."""
    code = at(fields.meta, "terminal_exit", "exit_code")
    code = at(fields.raw_output, "exit_code") if code is None else code
    return f"exit code {code}" if type(code) is int else ""


STATUS: Final = {
    "pending": ToolStatus.PENDING,
    "in_progress": ToolStatus.STARTED,
    "completed": ToolStatus.COMPLETED,
    "failed": ToolStatus.FAILED,
}
MOST_OPEN: Final = 1024
# Of a longer output the end is kept, which says how the command went.
MOST_OUTPUT: Final = 256 * 1024


class ToolState(Struct):
    """What is known of an open call."""

    name: str = ""
    kind: str = ""
    title: str = ""
    parameters: JsonObject = {}
    status: ToolStatus = ToolStatus.PENDING
    output: str = ""
    printed: TextTail = field(default_factory=lambda: TextTail(MOST_OUTPUT))
    ending: str = ""
    parent_id: str = ""


class AcpTools:
    """The open calls of a turn. Updates of ended calls and of earlier turns are ignored."""

    def __init__(self, profile: AcpProfile) -> None:
        self._profile = profile
        self._open: dict[str, ToolState] = {}
        self._over = RecentIds()
        self._of_earlier_turns = RecentIds()

    def is_fenced(self, fields: ToolFields) -> bool:
        """Whether an earlier turn left this call open."""
        return fields.tool_call_id in self._of_earlier_turns and type(fields) is not ToolStart

    def told(self, fields: ToolFields) -> list[ToolEvent]:
        """The agent announces or updates a call."""
        tool_id = fields.tool_call_id
        if tool_id in self._over and type(fields) is not ToolStart:
            return []
        is_new = tool_id not in self._open
        tool = self._open.setdefault(tool_id, ToolState())
        had_parameters = bool(tool.parameters)
        self._note(tool, fields)
        status = self._status(tool, fields, is_new=is_new)
        if status is tool.status and not is_new and had_parameters >= bool(tool.parameters):
            return []
        return [*self._crowded_out(), self._come_to(tool_id, status)]

    def asked(self, fields: ToolFields) -> ToolEvent:
        """The agent asks whether the call may run; it may not have announced it before."""
        tool = self._open.setdefault(fields.tool_call_id, ToolState())
        title, parameters = tool.title, tool.parameters
        self._note(tool, fields)
        # zed's codex-acp 0.16.0 sends the title and form of the question here.
        tool.title, tool.parameters = title or tool.title, parameters or tool.parameters
        return self._come_to(fields.tool_call_id, ToolStatus.APPROVAL)

    def allowed(self, tool_id: str) -> list[ToolEvent]:
        """The call was allowed; gemini 0.61.0 does not report that it runs now."""
        return [self._come_to(tool_id, ToolStatus.STARTED)] if tool_id in self._open else []

    def denied(self, tool_id: str, why: str) -> list[ToolEvent]:
        """The call was denied; gemini 0.61.0 reports nothing more of it, codex that it failed."""
        if tool_id not in self._open:
            return []
        return [self._come_to(tool_id, ToolStatus.CANCELLED, why)]

    def end_turn(self, status: ToolStatus) -> list[ToolEvent]:
        """End the open calls with this status; later turns ignore them."""
        left = list(self._open)
        ends = [self._come_to(tool_id, status) for tool_id in left]
        self._over = RecentIds()
        self._of_earlier_turns.add(*left)
        return ends

    def _crowded_out(self) -> list[ToolEvent]:
        if len(self._open) <= MOST_OPEN:
            return []
        return [self._come_to(next(iter(self._open)), ToolStatus.UNKNOWN)]

    def _note(self, tool: ToolState, fields: ToolFields) -> None:
        tool.name = tool_name(fields, self._profile.tool_name_end) or tool.name
        tool.kind = fields.kind or tool.kind
        tool.title = fields.title or tool.title
        tool.parameters = tool_parameters(fields) or tool.parameters
        output = tool_output(fields)
        tool.output = tool.output if output is None else output[-MOST_OUTPUT:]
        tool.printed.add(terminal_output(fields))
        tool.ending = exit_text(fields) or tool.ending
        parent_id = text_at(fields.meta, "claudeCode", "parentToolUseId")
        tool.parent_id = parent_id or tool.parent_id

    def _status(self, tool: ToolState, fields: ToolFields, *, is_new: bool) -> ToolStatus:
        told = STATUS.get(fields.status or "", ToolStatus.PENDING if is_new else tool.status)
        if tool.status is ToolStatus.APPROVAL and told is ToolStatus.PENDING:
            return ToolStatus.APPROVAL
        ending = self._profile.cancelled_ending
        was_cancelled = tool.output in self._profile.cancelled_outputs
        was_cancelled |= bool(ending) and tool.output.endswith(ending)
        if told is ToolStatus.COMPLETED and was_cancelled:
            return ToolStatus.CANCELLED
        return told

    def _come_to(self, tool_id: str, status: ToolStatus, why: str = "") -> ToolEvent:
        tool = self._open[tool_id]
        tool.status = status
        if status.is_over:
            del self._open[tool_id]
            self._over.add(tool_id)
        return ToolEvent(
            tool_name=tool.name or tool.kind or "other",
            tool_id=tool_id,
            parameters=tool.parameters,
            status=status,
            result=_result(tool),
            error=_error(tool, why),
            kind=tool.kind or "other",
            title=tool.title,
            parent_id=tool.parent_id,
        )


def _result(tool: ToolState) -> str | None:
    """None if unknown: gemini 0.61.0 never sends what a command printed."""
    if tool.status is not ToolStatus.COMPLETED:
        return None
    return tool.printed.text() or tool.output or None


def _error(tool: ToolState, why: str) -> str | None:
    if tool.status is ToolStatus.FAILED:
        told = (tool.printed.text() or tool.output, tool.ending)
        return "\n".join(filter(None, told)) or "failed"
    if tool.status.is_over and tool.status is not ToolStatus.COMPLETED:
        return why or tool.printed.text() or tool.status.value
    return None
