"""The tool calls of a turn: which are open, what becomes of them, and which belong to the past."""

from __future__ import annotations

from typing import Any, Final

from avatar_actors.model.events import PlanEvent, ToolEvent
from avatar_actors.model.values import JsonObject, PlanEntry, ToolStatus
from avatar_actors.wire.claude.lines import Block, as_object, as_objects
from avatar_actors.wire.fence import Fence
from avatar_actors.wire.json_values import text_at

# The kinds are those of ACP, so that every agent's tools have the same ones.
KINDS: Final = {
    "Read": "read",
    "NotebookRead": "read",
    "LSP": "read",
    "Edit": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Write": "edit",
    "Bash": "execute",
    "BashOutput": "execute",
    "KillShell": "execute",
    "Monitor": "execute",
    "Glob": "search",
    "Grep": "search",
    "ToolSearch": "search",
    "WebFetch": "fetch",
    "WebSearch": "fetch",
    "Agent": "think",
    "Task": "think",
    "TodoWrite": "think",
    "EnterPlanMode": "switch_mode",
    "ExitPlanMode": "switch_mode",
}
TITLES: Final = ("description", "command", "file_path", "pattern", "url", "query", "skill")
TITLE_LENGTH: Final = 200


def tool_event(block: Block, status: ToolStatus, parent_id: str = "") -> ToolEvent:
    """The event of a tool_use block."""
    parameters = as_object(block.input)
    return ToolEvent(
        tool_name=block.name,
        tool_id=block.id,
        parameters=parameters,
        status=status,
        kind=KINDS.get(block.name, "other"),
        title=_title(block.name, parameters),
        parent_id=parent_id,
    )


class Tools:
    """The calls of the turn. Those it left open are remembered: no later turn may have them."""

    def __init__(self) -> None:
        self._open: dict[str, ToolEvent] = {}
        self._past = Fence()

    def announced(self, block: Block) -> list[ToolEvent]:
        """The model begins to write a call; its input is still to come."""
        return self._now(tool_event(block, ToolStatus.PENDING))

    def started(self, block: Block, parent_id: str) -> list[ToolEvent]:
        """The call is complete; the CLI runs it now, or asks first."""
        return self._now(tool_event(block, ToolStatus.STARTED, parent_id))

    def approval(self, tool_name: str, tool_id: str, tool_input: JsonObject) -> ToolEvent:
        """The call as it stands in a permission request."""
        block = Block(name=tool_name, id=tool_id, input=tool_input)
        known = self._open.get(tool_id)
        event = tool_event(block, ToolStatus.APPROVAL, known.parent_id if known else "")
        if tool_id:
            self._open[tool_id] = event
        return event

    def approved(self, tool_id: str) -> list[ToolEvent]:
        """The call may run; whether it does, its result will tell."""
        event = self._open.get(tool_id)
        return self._now(_with(event, ToolStatus.STARTED)) if event else []

    def finished(self, block: Block, *, failure: ToolStatus) -> list[ToolEvent]:
        """The result of a call has come; nothing when no such call is open."""
        event = self._open.pop(block.tool_use_id, None)
        if event is None:
            return []
        text = result_text(block.content)
        if block.is_error:
            return [_with(event, failure, error=text)]
        return [_with(event, ToolStatus.COMPLETED, result=text)]

    def end_turn(self, status: ToolStatus) -> list[ToolEvent]:
        """What becomes of the calls that the agent never finished."""
        left = [_with(event, status) for event in self._open.values()]
        self._past.add(*self._open)
        self._open.clear()
        return left

    def _now(self, event: ToolEvent) -> list[ToolEvent]:
        if event.tool_id in self._past:
            return []
        known = self._open.get(event.tool_id)
        self._open[event.tool_id] = event
        return [] if known == event else [event]


def plan_of(block: Block) -> list[PlanEvent]:
    """The plan that a TodoWrite call sets."""
    if block.name != "TodoWrite":
        return []
    todos = as_objects(as_object(block.input).get("todos"))
    entries = tuple(
        PlanEntry(text_at(todo, "content"), text_at(todo, "status") or "pending") for todo in todos
    )
    return [PlanEvent(entries=entries)]


def result_text(content: Any) -> str:
    """A tool's result as text: it is a string or a list of blocks."""
    if isinstance(content, str):
        return content
    blocks = as_objects(content)
    return "\n".join(text_at(block, "text") or f"[{block.get('type')}]" for block in blocks)


def _with(
    event: ToolEvent, status: ToolStatus, *, result: str | None = None, error: str | None = None
) -> ToolEvent:
    return ToolEvent(
        tool_name=event.tool_name,
        tool_id=event.tool_id,
        parameters=event.parameters,
        status=status,
        result=result,
        error=error,
        kind=event.kind,
        title=event.title,
        parent_id=event.parent_id,
    )


def _title(name: str, parameters: JsonObject) -> str:
    texts = (text_at(parameters.get(key)) for key in TITLES)
    return next((text for text in texts if text), name)[:TITLE_LENGTH]
