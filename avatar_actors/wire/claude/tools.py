"""Tracks the tool calls of a turn, the sub-agents and the background tasks of Claude Code."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from avatar_actors.model.events import ActivityEvent, PlanEvent, ToolEvent
from avatar_actors.model.values import ActivityStatus, JsonObject, PlanEntry, ToolStatus
from avatar_actors.wire.claude.lines import AssistantLine, ContentBlock, as_object, as_objects
from avatar_actors.wire.json_values import text_at
from avatar_actors.wire.phases import RecentIds
from avatar_actors.wire.shared_events import titled

# The kinds of ACP, so that the tools of all agents have the same ones.
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
    "AskUserQuestion": "think",
    "EnterPlanMode": "switch_mode",
    "ExitPlanMode": "switch_mode",
}
TITLES: Final = ("description", "command", "file_path", "pattern", "url", "query", "skill")


def tool_event(block: ContentBlock, status: ToolStatus, parent_id: str = "") -> ToolEvent:
    """The event of a tool_use block."""
    parameters = as_object(block.input)
    return ToolEvent(
        tool_name=block.name,
        tool_id=block.id,
        parameters=parameters,
        status=status,
        kind=KINDS.get(block.name, "other"),
        title=titled(block.name, parameters, TITLES),
        parent_id=parent_id,
    )


class ClaudeTools:
    """The calls of the turn. Those left open are remembered, so that later turns ignore them."""

    def __init__(self) -> None:
        self._open: dict[str, ToolEvent] = {}
        self._past = RecentIds()

    def announced(self, block: ContentBlock) -> list[ToolEvent]:
        """The model starts to write a call; its input is still to come."""
        return self._now(tool_event(block, ToolStatus.PENDING))

    def started(self, block: ContentBlock, parent_id: str) -> list[ToolEvent]:
        """The call is complete; the CLI runs it now, or asks first."""
        return self._now(tool_event(block, ToolStatus.STARTED, parent_id))

    def approval(self, tool_name: str, tool_id: str, tool_input: JsonObject) -> ToolEvent:
        """The call as in a permission request."""
        block = ContentBlock(name=tool_name, id=tool_id, input=tool_input)
        known = self._open.get(tool_id)
        event = tool_event(block, ToolStatus.APPROVAL, known.parent_id if known else "")
        if tool_id:
            self._open[tool_id] = event
        return event

    def approved(self, tool_id: str) -> list[ToolEvent]:
        """The call may run."""
        event = self._open.get(tool_id)
        return self._now(replace(event, status=ToolStatus.STARTED)) if event else []

    def finished(self, block: ContentBlock, *, failure: ToolStatus) -> list[ToolEvent]:
        """The result of a call; nothing if no such call is open."""
        event = self._open.pop(block.tool_use_id, None)
        if event is None:
            return []
        text = result_text(block.content)
        if block.is_error:
            return [replace(event, status=failure, error=text)]
        return [replace(event, status=ToolStatus.COMPLETED, result=text)]

    def end_turn(self, status: ToolStatus) -> list[ToolEvent]:
        """End the calls that the agent never finished."""
        left = [replace(event, status=status) for event in self._open.values()]
        self._past.add(*self._open)
        self._open.clear()
        return left

    def _now(self, event: ToolEvent) -> list[ToolEvent]:
        if event.tool_id in self._past:
            return []
        known = self._open.get(event.tool_id)
        self._open[event.tool_id] = event
        return [] if known == event else [event]


def plan_of(block: ContentBlock) -> list[PlanEvent]:
    """The plan that a TodoWrite call sets."""
    if block.name != "TodoWrite":
        return []
    todos = as_objects(as_object(block.input).get("todos"))
    entries = tuple(
        PlanEntry(text_at(todo, "content"), text_at(todo, "status") or "pending") for todo in todos
    )
    return [PlanEvent(entries=entries)]


def result_text(content: Any) -> str:
    """A tool's result as text; it is a string or a list of blocks."""
    if isinstance(content, str):
        return content
    blocks = as_objects(content)
    return "\n".join(text_at(block, "text") or f"[{block.get('type')}]" for block in blocks)


STATUSES: Final = {
    "running": ActivityStatus.RUNNING,
    "completed": ActivityStatus.COMPLETED,
    "failed": ActivityStatus.FAILED,
    "killed": ActivityStatus.CANCELLED,
    "stopped": ActivityStatus.CANCELLED,
}
OUTPUT_LENGTH: Final = 4096
REMEMBERED: Final = 256


class ClaudeTask(Struct):
    """A sub-agent or background task. `is_implicit`: known only by its text, so its call ends it
    (2.1.197)."""

    task_id: str
    tool_id: str = ""
    activity_type: str = "agent"
    name: str = ""
    detail: str = ""
    status: ActivityStatus = ActivityStatus.RUNNING
    output: str = ""
    is_implicit: bool = False


class ClaudeTasks:
    """The running tasks, and the last of the ended ones."""

    def __init__(self) -> None:
        # What was told of the task that ended last.
        self.last_notice: str = ""
        self._last: ClaudeTask | None = None
        self._tasks: dict[str, ClaudeTask] = {}

    def notice(self, subtype: str, fields: JsonObject) -> list[ActivityEvent]:
        """The events of a `task_…` line."""
        task_id = text_at(fields, "task_id")
        if not task_id:
            return []
        task = self._tasks.get(task_id) or self._begin(_described(task_id, fields))
        if subtype == "task_updated":
            patch = as_object(fields.get("patch"))
            task.status = STATUSES.get(text_at(patch, "status"), task.status)
        elif subtype == "task_notification":
            task.status = STATUSES.get(text_at(fields, "status"), task.status)
            task.detail = self.last_notice = text_at(fields, "summary") or task.detail
            self._last = task
        else:
            task.detail = text_at(fields, "description") or task.detail
        return [_event(task)]

    @property
    def concern_turn(self) -> bool:
        """Whether the turn waits for a sub-agent, or has just waited for one."""
        running = (each for each in self._tasks.values() if each.status is ActivityStatus.RUNNING)
        waits = any(each.activity_type == "agent" for each in running)
        return waits or self._last is None or self._last.activity_type == "agent"

    def said(self, line: AssistantLine, text: str) -> list[ActivityEvent]:
        """A sub-agent wrote this text."""
        tool_id = line.parent_tool_use_id or ""
        task = self._of_tool(tool_id)
        if task is None:
            name = line.subagent_type or "agent"
            task_id = line.agent_id or tool_id
            task = ClaudeTask(
                task_id, tool_id, name=name, detail=line.task_description, is_implicit=True
            )
            self._begin(task)
        task.output = (task.output + text)[-OUTPUT_LENGTH:]
        return [_event(task)]

    def tool_over(self, tool_id: str, status: ActivityStatus) -> list[ActivityEvent]:
        """The call of a sub-agent has its result."""
        task = self._of_tool(tool_id)
        if task is None or not task.is_implicit or task.status is not ActivityStatus.RUNNING:
            return []
        task.status = status
        return [_event(task)]

    def _of_tool(self, tool_id: str) -> ClaudeTask | None:
        return next((task for task in self._tasks.values() if task.tool_id == tool_id), None)

    def _begin(self, task: ClaudeTask) -> ClaudeTask:
        if len(self._tasks) >= REMEMBERED:
            over = (t for t in self._tasks.values() if t.status is not ActivityStatus.RUNNING)
            oldest = next(over, None) or next(iter(self._tasks.values()))
            del self._tasks[oldest.task_id]
        self._tasks[task.task_id] = task
        return task


def _described(task_id: str, fields: JsonObject) -> ClaudeTask:
    kind = text_at(fields, "task_type")
    description = text_at(fields, "description")
    is_agent = kind == "local_agent" or bool(fields.get("subagent_type"))
    return ClaudeTask(
        task_id=task_id,
        tool_id=text_at(fields, "tool_use_id"),
        activity_type="agent" if is_agent else "background_task",
        name=text_at(fields, "subagent_type") or description or kind,
        detail=description,
    )


def _event(task: ClaudeTask) -> ActivityEvent:
    return ActivityEvent(
        activity_id=task.task_id,
        parent_activity_id=task.tool_id,
        activity_type=task.activity_type,
        name=task.name,
        status=task.status,
        detail=task.detail,
        is_cancellable=task.status is ActivityStatus.RUNNING,
        output=task.output,
    )
