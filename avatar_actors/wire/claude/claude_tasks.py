"""Sub-agents and background tasks: what they do is an activity, never text of the answer."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from avatar_actors.model.events import ActivityEvent
from avatar_actors.model.values import ActivityStatus, JsonObject
from avatar_actors.wire.claude.lines import AssistantLine, as_object
from avatar_actors.wire.json_values import text_at

STATUSES: Final = {
    "running": ActivityStatus.RUNNING,
    "completed": ActivityStatus.COMPLETED,
    "failed": ActivityStatus.FAILED,
    "killed": ActivityStatus.CANCELLED,
    "stopped": ActivityStatus.CANCELLED,
}
OUTPUT_LENGTH: Final = 4096
REMEMBERED: Final = 256


class Task(Struct):
    """One of them. `is_implicit`: known only by what it says, so its call ends it (2.1.197)."""

    task_id: str
    tool_id: str = ""
    run_id: str = ""
    activity_type: str = "agent"
    name: str = ""
    detail: str = ""
    status: ActivityStatus = ActivityStatus.RUNNING
    output: str = ""
    is_implicit: bool = False


class Tasks:
    """All that run, and the last of those that ran."""

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}

    def notice(self, subtype: str, fields: JsonObject) -> list[ActivityEvent]:
        """What a line `task_…` says."""
        task_id = text_at(fields, "task_id")
        if not task_id:
            return []
        task = self._tasks.get(task_id) or self._begin(_described(task_id, fields))
        if subtype == "task_updated":
            patch = as_object(fields.get("patch"))
            task.status = STATUSES.get(text_at(patch, "status"), task.status)
        elif subtype == "task_notification":
            task.status = STATUSES.get(text_at(fields, "status"), task.status)
            task.detail = text_at(fields, "summary") or task.detail
        else:
            task.detail = text_at(fields, "description") or task.detail
        return [_event(task)]

    def said(self, line: AssistantLine, text: str) -> list[ActivityEvent]:
        """A sub-agent wrote this text."""
        tool_id = line.parent_tool_use_id or ""
        task = self._of_tool(tool_id)
        if task is None:
            name = line.subagent_type or "agent"
            task_id = line.agent_id or tool_id
            task = Task(task_id, tool_id, name=name, detail=line.task_description, is_implicit=True)
            self._begin(task)
        task.output = (task.output + text)[-OUTPUT_LENGTH:]
        return [_event(task)]

    def reported(self, run_id: str, text: str) -> list[ActivityEvent]:
        """The model was woken by a task, outside of any turn, and said this about it."""
        runs = (task for task in self._tasks.values() if run_id and run_id == task.run_id)
        task = next(runs, None)
        if task is None or not text:
            return []
        task.output = (task.output + text)[-OUTPUT_LENGTH:]
        return [_event(task)]

    def tool_over(self, tool_id: str, status: ActivityStatus) -> list[ActivityEvent]:
        """The call that a sub-agent answers has its result."""
        task = self._of_tool(tool_id)
        if task is None or not task.is_implicit or task.status is not ActivityStatus.RUNNING:
            return []
        task.status = status
        return [_event(task)]

    def _of_tool(self, tool_id: str) -> Task | None:
        return next((task for task in self._tasks.values() if task.tool_id == tool_id), None)

    def _begin(self, task: Task) -> Task:
        if len(self._tasks) >= REMEMBERED:
            over = (t for t in self._tasks.values() if t.status is not ActivityStatus.RUNNING)
            oldest = next(over, None) or next(iter(self._tasks.values()))
            del self._tasks[oldest.task_id]
        self._tasks[task.task_id] = task
        return task


def _described(task_id: str, fields: JsonObject) -> Task:
    kind = text_at(fields, "task_type")
    description = text_at(fields, "description")
    is_agent = kind == "local_agent" or bool(fields.get("subagent_type"))
    return Task(
        task_id=task_id,
        tool_id=text_at(fields, "tool_use_id"),
        run_id=text_at(fields, "run_id"),
        activity_type="agent" if is_agent else "background_task",
        name=text_at(fields, "subagent_type") or description or kind,
        detail=description,
    )


def _event(task: Task) -> ActivityEvent:
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
