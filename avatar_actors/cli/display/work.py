"""The agent's tools, sub-agents and background tasks: collected as jobs, drawn as a box or tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
from msgspec import Struct
from rich.text import Text

from avatar_actors import ActivityEvent, ActivityStatus, ToolEvent, ToolStatus
from avatar_actors.cli.terminal import formatting
from avatar_actors.cli.terminal.rendering import Signs, Style
from avatar_actors.cli.terminal.text import last_lines, one_line

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
        name, detail = self.name or self.kind, self.detail
        if not detail or detail == name:
            return name
        return detail if detail.startswith(f"{name} ") else f"{name}: {detail}"


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
        if job.is_over and job.took is None:
            job = msgspec.structs.replace(job, took=now - job.since)
        self.jobs[job.job_id] = job


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


MANY: Final = 8
_BAR: Final = 10
_BOX: Final = 60
_FRAMES_A_SECOND: Final = 10
_WORDS: Final = {
    ActivityStatus.RUNNING: "running",
    ActivityStatus.PENDING: "waiting",
    ActivityStatus.COMPLETED: "done",
    ActivityStatus.FAILED: "failed",
    ActivityStatus.CANCELLED: "cancelled",
    ActivityStatus.UNKNOWN: "unknown",
}
_LOOKS: Final = {
    ActivityStatus.RUNNING: "spinner",
    ActivityStatus.PENDING: "warning",
    ActivityStatus.COMPLETED: "ok",
    ActivityStatus.FAILED: "failed",
    ActivityStatus.CANCELLED: "dim",
    ActivityStatus.UNKNOWN: "warning",
}


def spinner(signs: Signs, now: float) -> str:
    """The spinner's character at this time."""
    return signs.spinner[int(now * _FRAMES_A_SECOND) % len(signs.spinner)]


def live_box(work: Work, style: Style, now: float) -> list[Text]:
    """The box while jobs run; of many jobs, only the counts and those running."""
    jobs = list(work.jobs.values())
    if not jobs:
        return []
    title = "Activities" if work.is_tree else "Tools"
    done = sum(job.is_over for job in jobs)
    if len(jobs) > MANY:
        busy = [job for job in jobs if job.status is ActivityStatus.RUNNING or job.asks]
        rows = [_progress(jobs, style.signs), _counts(jobs)]
        rows += [_row(0, job, style, now) for job in busy[:MANY]]
        rows += _and_more(len(busy) - MANY)
        return _boxed(title, rows, style.signs)
    if work.is_tree or len(jobs) > 1:
        title += f" {style.signs.dot} {done}/{len(jobs)} done"
    rows = list[Text]()
    for depth, job in rooted(jobs):
        rows.append(_row(depth, job, style, now))
        rows += _tail(depth, job, style, 1 if job.is_over else 3)
    return _boxed(title, rows, style.signs)


def final_box(jobs: Sequence[Job], style: Style) -> list[Text]:
    """The box of ended jobs, which stays above the frame."""
    if not jobs:
        return []
    nested = rooted(jobs)
    is_tree = any(depth or job.kind != "tool_use" for depth, job in nested)
    rows: list[Text] = []
    for depth, job in nested:
        rows.append(_row(depth, job, style, 0.0))
        rows += _tail(depth, job, style, _tail_size(job, jobs, style))
    return _boxed("Activities" if is_tree else "Tools", rows, style.signs)


def _tail_size(job: Job, jobs: Sequence[Job], style: Style) -> int:
    if style.verbose:
        return 10
    if job.status is ActivityStatus.FAILED:
        return 5
    return 1 if len(jobs) <= MANY else 0


def _boxed(title: str, rows: Sequence[Text], signs: Signs) -> list[Text]:
    head = f"{signs.top}{signs.line} {title} "
    head += signs.line * (_BOX - len(head))
    side = f"{signs.side} "
    lines = [Text.assemble((side, "border"), row) for row in rows]
    foot = signs.bottom + signs.line * (_BOX - 1)
    return [
        Text(head, "border", overflow="crop"),
        *lines,
        Text(foot, "border", overflow="crop"),
    ]


def _row(depth: int, job: Job, style: Style, now: float) -> Text:
    signs = style.signs
    row = Text.assemble((f"{signs.side}  " * depth, "border"), _icon(job, signs, now), " ")
    row.append(job.label, "label" if job.is_over else "label.busy")
    if job.asks:
        row.append(" (waits for your answer)", "warning")
    elif job.took is not None:
        row.append(f" ({formatting.seconds(job.took)})", "dim")
    elif job.status is ActivityStatus.RUNNING and now - job.since >= 1:
        row.append(f" ({formatting.elapsed(now - job.since)})", "dim")
    if not job.is_over and 0 < job.progress <= 1:
        row.append(f" {job.progress:.0%}", "dim")
    if job.status in {ActivityStatus.CANCELLED, ActivityStatus.UNKNOWN}:
        row.append(f" {_WORDS[job.status]}", "dim")
    return row


def _icon(job: Job, signs: Signs, now: float) -> Text:
    icon = {
        ActivityStatus.RUNNING: spinner(signs, now),
        ActivityStatus.PENDING: signs.waiting,
        ActivityStatus.COMPLETED: signs.ok,
        ActivityStatus.FAILED: signs.failed,
        ActivityStatus.CANCELLED: signs.cancelled,
        ActivityStatus.UNKNOWN: signs.unknown,
    }[job.status]
    return Text(icon, _LOOKS[job.status])


def _tail(depth: int, job: Job, style: Style, most: int) -> list[Text]:
    margin = f"{style.signs.side}  " * depth
    look = "failed" if job.status is ActivityStatus.FAILED else ""
    return [
        Text.assemble((margin, "border"), "  ", (line, f"dim {look}"))
        for line in last_lines(job.output, most)
    ]


def _progress(jobs: Sequence[Job], signs: Signs) -> Text:
    done, of = sum(job.is_over for job in jobs), len(jobs)
    full = _BAR * done // of
    bar = signs.full * full + signs.empty * (_BAR - full)
    return Text.assemble(f"[{done}/{of}] ", (bar, "ok"), f" {done / of:.0%}")


def _counts(jobs: Sequence[Job]) -> Text:
    counts = Counter(job.status for job in jobs)
    row = Text()
    for status, word in _WORDS.items():
        if counts[status]:
            row.append(", " if row.plain else "")
            row.append(f"{counts[status]} {word}", _LOOKS[status])
    return row


def _and_more(number: int) -> list[Text]:
    return [Text(f"and {number} more", "dim")] if number > 0 else []
