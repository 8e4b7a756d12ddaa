"""The agent's tools, sub-agents and background tasks, folded from events into jobs; no drawing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec import Struct

from avatar_actors import ActivityEvent, ActivityStatus, ToolEvent, ToolStatus
from avatar_actors.cli.terminal.text import labelled, one_line

_STATUS: Final = {
    ToolStatus.PENDING: ActivityStatus.PENDING,
    ToolStatus.APPROVAL: ActivityStatus.PENDING,
    ToolStatus.STARTED: ActivityStatus.RUNNING,
    ToolStatus.COMPLETED: ActivityStatus.COMPLETED,
    ToolStatus.FAILED: ActivityStatus.FAILED,
    ToolStatus.CANCELLED: ActivityStatus.CANCELLED,
    ToolStatus.UNKNOWN: ActivityStatus.UNKNOWN,
}
# The parameters that name what a tool works on; the first that is present counts.
_OBJECTS: Final = (
    "command", "file_path", "path", "pattern", "query", "url", "description", "prompt",
)  # fmt: skip
_TREE: Final = {"agent", "background_task"}


class Job(Struct, frozen=True, kw_only=True):
    """A tool call, a sub-agent or a background task. `took` is None until it is over."""

    job_id: str
    parent_id: str = ""
    kind: str = "tool_use"
    name: str = ""
    detail: str = ""
    status: ActivityStatus = ActivityStatus.PENDING
    asks: bool = False
    since: float = 0.0
    heard: float = 0.0
    """When the last news of it came."""
    took: float | None = None
    output: str = ""
    progress: float = 0.0

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.status not in {ActivityStatus.PENDING, ActivityStatus.RUNNING}

    @property
    def label(self) -> str:
        """Its name, and what it works on."""
        return labelled(self.name or self.kind, self.detail)


class Work:
    """The jobs since the agent last wrote text, and those still running."""

    def __init__(self) -> None:
        self.jobs: dict[str, Job] = {}
        self._shown: set[str] = set()

    @property
    def is_over(self) -> bool:
        """Whether there are jobs and all have ended."""
        return bool(self.jobs) and all(job.is_over for job in self.jobs.values())

    @property
    def is_tree(self) -> bool:
        """Whether jobs have parents, so that a list would hide the structure."""
        return any(job.kind in _TREE or job.parent_id in self.jobs for job in self.jobs.values())

    def tool(self, event: ToolEvent, now: float) -> None:
        """Fold in the new status of a tool call."""
        if event.tool_id in self._shown:
            return
        known = self.jobs.get(event.tool_id) or Job(job_id=event.tool_id, since=now)
        job = msgspec.structs.replace(
            known,
            parent_id=event.parent_id or known.parent_id,
            name=one_line(event.tool_name) or known.name,
            detail=_object(event) or known.detail,
            status=_STATUS[event.status],
            asks=event.status is ToolStatus.APPROVAL,
            output=event.result or event.error or known.output,
        )
        self._put(job, now)

    def activity(self, event: ActivityEvent, now: float) -> None:
        """Fold in a changed activity; the turn itself is not a job."""
        if event.activity_type == "turn" or event.activity_id in self._shown:
            return
        known = self.jobs.get(event.activity_id)
        if known is None:
            known = Job(job_id=event.activity_id, since=now, detail=one_line(event.detail))
        is_task = event.activity_type in _TREE
        job = msgspec.structs.replace(
            known,
            kind=event.activity_type,
            parent_id=event.parent_activity_id or known.parent_id,
            name=one_line(event.name) or known.name,
            detail=one_line(event.detail) or known.detail if is_task else known.detail,
            status=event.status,
            output=event.output or known.output,
            progress=event.progress,
        )
        if event.completed_at and event.started_at and known.took is None:
            job = msgspec.structs.replace(job, took=event.completed_at - event.started_at)
        self._put(job, now)

    def take(self) -> list[Job]:
        """Remove and return the jobs that have ended."""
        over = [job for job in self.jobs.values() if job.is_over]
        for job in over:
            del self.jobs[job.job_id]
        self._shown.update(job.job_id for job in over)
        return over

    def _put(self, job: Job, now: float) -> None:
        took = now - job.since if job.is_over and job.took is None else job.took
        self.jobs[job.job_id] = msgspec.structs.replace(job, took=took, heard=now)


def _object(event: ToolEvent) -> str:
    for key in _OBJECTS:
        value = event.parameters.get(key)
        if isinstance(value, str) and value.strip():
            return one_line(value)
    return one_line(event.title)


def rooted(jobs: Iterable[Job]) -> list[tuple[int, Job]]:
    """The jobs with their depth, each below its parent."""
    table = {job.job_id: job for job in jobs}
    below: dict[str, list[Job]] = {}
    for job in table.values():
        parent = job.parent_id if job.parent_id in table else ""
        below.setdefault(parent, []).append(job)
    rows: list[tuple[int, Job]] = []
    waiting = [(0, job) for job in reversed(below.pop("", []))]
    while waiting:
        depth, job = waiting.pop()
        rows.append((depth, job))
        waiting += [(depth + 1, child) for child in reversed(below.pop(job.job_id, []))]
    # An agent may report a cycle of parents; those jobs are shown all the same.
    return rows + [(0, job) for left in below.values() for job in left]


def agent_numbers(jobs: Iterable[Job]) -> dict[str, int]:
    """The number, from 1, of the agent that each job is or belongs to; others are not in it.

    An agent is a sub-agent, a background task, or a tool with jobs of its own below it.
    """
    table = {job.job_id: job for job in jobs}
    parents = {job.parent_id for job in table.values()}
    agents = [job_id for job_id, job in table.items() if job.kind in _TREE or job_id in parents]
    numbers = {job_id: number for number, job_id in enumerate(agents, start=1)}
    for job_id, job in table.items():
        seen, above = {job_id}, job.parent_id
        while job_id not in numbers and above in table and above not in seen:
            seen.add(above)
            if above in numbers:
                numbers[job_id] = numbers[above]
            above = table[above].parent_id
    return numbers
