"""Draws the agent's tools, sub-agents and background tasks as a box or a tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from rich.text import Text

from avatar_actors import ActivityStatus
from avatar_actors.cli.terminal import formatting
from avatar_actors.cli.terminal.rendering import Signs, Style
from avatar_actors.cli.terminal.text import last_lines
from avatar_actors.picture.work import Job, Work, rooted

MANY: Final = 8
_BAR: Final = 10
_BOX: Final = 60
_FRAMES_A_SECOND: Final = 10
_WORDS_AND_LOOKS: Final = {
    ActivityStatus.RUNNING: ("running", "spinner"),
    ActivityStatus.PENDING: ("waiting", "warning"),
    ActivityStatus.COMPLETED: ("done", "ok"),
    ActivityStatus.FAILED: ("failed", "failed"),
    ActivityStatus.CANCELLED: ("cancelled", "dim"),
    ActivityStatus.UNKNOWN: ("unknown", "warning"),
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
        rows = [_counts(jobs)]
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
        row.append(f" {_WORDS_AND_LOOKS[job.status][0]}", "dim")
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
    return Text(icon, _WORDS_AND_LOOKS[job.status][1])


def _tail(depth: int, job: Job, style: Style, most: int) -> list[Text]:
    margin = f"{style.signs.side}  " * depth
    look = "failed" if job.status is ActivityStatus.FAILED else ""
    return [
        Text.assemble((margin, "border"), "  ", (line, f"dim {look}"))
        for line in last_lines(job.output, most)
    ]


def progress_line(jobs: Sequence[Job], signs: Signs) -> Text:
    """How many jobs are done, as a bar too, and what runs: `[2/5] ████░░░░░░ 40% · Read, Grep`."""
    done, of = sum(job.is_over for job in jobs), len(jobs)
    begun = sum(min(max(job.progress, 0.0), 1.0) for job in jobs if not job.is_over)
    share = (done + begun) / of
    full = int(_BAR * share)
    bar = signs.full * full + signs.empty * (_BAR - full)
    row = Text.assemble(f"[{done}/{of}] ", (bar, "ok"), f" {share:.0%}")
    running = [job.name or job.kind for job in jobs if job.status is ActivityStatus.RUNNING]
    return row.append(f" {signs.dot} {', '.join(dict.fromkeys(running))}") if running else row


def _counts(jobs: Sequence[Job]) -> Text:
    counts = Counter(job.status for job in jobs)
    row = Text()
    for status, (word, look) in _WORDS_AND_LOOKS.items():
        if counts[status]:
            row.append(", " if row.plain else "")
            row.append(f"{counts[status]} {word}", look)
    return row


def _and_more(number: int) -> list[Text]:
    return [Text(f"and {number} more", "dim")] if number > 0 else []
