"""The rows of the activity panel: the tree of jobs, folded and coloured. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Final

from msgspec import Struct
from rich.cells import cell_len
from rich.text import Text

from avatar_actors import ActivityStatus
from avatar_actors.cli.display.frame_layout import checklist
from avatar_actors.cli.display.work import spinner
from avatar_actors.cli.terminal import formatting
from avatar_actors.cli.terminal.rendering import Signs
from avatar_actors.cli.terminal.text import last_lines
from avatar_actors.gui.strips import AGENT_COLOURS
from avatar_actors.picture import Age, AvatarPicture, Job, agent_numbers, rooted, rules

# Signs of one cell: emoji are two, and missing in many fonts.
SIGNS: Final = Signs(waiting="◌", thought="…")
STOP: Final = " [✗]"
_LOOKS: Final = {
    ActivityStatus.RUNNING: "spinner",
    ActivityStatus.PENDING: "muted",
    ActivityStatus.COMPLETED: "ok",
    ActivityStatus.FAILED: "failed",
    ActivityStatus.CANCELLED: "muted",
    ActivityStatus.UNKNOWN: "warning",
}
_COUNT_LOOKS: Final = {"running": "spinner", "done": "ok", "waits": "muted", "failed": "failed"}
_AGE_LOOKS: Final = {Age.FRESH: "muted", Age.SLOW: "warning", Age.STUCK: "alarm"}


class JobRow(Struct, frozen=True):
    """One row, and the job that it is about."""

    job_id: str
    text: Text
    is_running: bool = False


class TreeFolds(Struct):
    """What a person folded and unfolded, and whether all is shown although much runs."""

    folded: set[str]
    unfolded: set[str]
    is_expanded: bool = False

    def toggle(self, job_id: str, *, is_folded: bool) -> None:
        """Fold it if its children are seen, unfold it if not."""
        (self.unfolded if is_folded else self.folded).add(job_id)
        (self.folded if is_folded else self.unfolded).discard(job_id)


def job_rows(picture: AvatarPicture, view: TreeFolds, now: float, width: int) -> list[JobRow]:
    """The rows for this moment."""
    jobs = list(picture.work.jobs.values())
    plan = [JobRow("", row) for row in checklist(picture.state.plan, SIGNS)]
    if picture.is_collapsed() and not view.is_expanded:
        return plan + _collapsed(jobs, now)
    numbers = agent_numbers(jobs)
    hidden = hidden_jobs(jobs, view, now)
    rows = plan
    for depth, job in rooted(jobs):
        if job.job_id not in hidden:
            has_more = any(each.parent_id == job.job_id for each in jobs)
            is_folded = has_more and _is_folded(job, view, now)
            look = _agent_look(numbers.get(job.job_id, 0))
            fold = ("▸ " if is_folded else "▾ ") if has_more else ""
            rows.append(_row(picture, job, Drawn(depth, look, fold, now, width)))
            rows += _snippet(job, depth, width)
    return rows


def _agent_look(number: int) -> str:
    return f"agent{(number - 1) % len(AGENT_COLOURS) + 1}" if number else ""


def hidden_jobs(jobs: Iterable[Job], view: TreeFolds, now: float) -> Set[str]:
    """The jobs below a folded one."""
    hidden: set[str] = set()
    table = {job.job_id: job for job in jobs}
    for _, job in rooted(table.values()):
        parent = table.get(job.parent_id)
        if parent and (parent.job_id in hidden or _is_folded(parent, view, now)):
            hidden.add(job.job_id)
    return hidden


def _is_folded(job: Job, view: TreeFolds, now: float) -> bool:
    """By hand, or by itself a moment after the end."""
    if job.job_id in view.folded:
        return True
    is_old = job.is_over and now - job.heard >= rules.FOLD_AFTER
    return is_old and job.job_id not in view.unfolded


class Drawn(Struct, frozen=True):
    """How a row is drawn."""

    depth: int
    look: str
    fold: str
    now: float
    width: int


def _row(picture: AvatarPicture, job: Job, drawn: Drawn) -> JobRow:
    is_running = job.status is ActivityStatus.RUNNING
    icon = {
        ActivityStatus.RUNNING: spinner(SIGNS, drawn.now),
        ActivityStatus.PENDING: SIGNS.unknown if job.asks else SIGNS.waiting,
        ActivityStatus.COMPLETED: SIGNS.ok,
        ActivityStatus.FAILED: SIGNS.failed,
        ActivityStatus.CANCELLED: SIGNS.cancelled,
        ActivityStatus.UNKNOWN: SIGNS.unknown,
    }[job.status]
    end = _ending(picture, job, drawn.now)
    head = Text.assemble(
        ("│ " * drawn.depth, "border"), (drawn.fold, "muted"), (icon, _LOOKS[job.status]), " "
    )
    stop = STOP if is_running else ""
    room = drawn.width - cell_len(head.plain) - cell_len(end.plain) - cell_len(stop)
    label = Text(job.label, drawn.look or ("" if not job.is_over else "muted"))
    label.truncate(max(4, room), overflow="ellipsis", pad=bool(stop))
    row = Text.assemble(head, label, end, (stop, "muted"))
    if job.is_over and drawn.now - job.heard < rules.FLASH:
        row.stylize(_LOOKS[job.status])
        row.stylize("reverse")
    return JobRow(job.job_id, row, is_running)


def _ending(picture: AvatarPicture, job: Job, now: float) -> Text:
    if job.asks:
        return Text(" asks you", "warning")
    if job.took is not None:
        word = f" ({rules.COUNTS[job.status]})" if job.status is ActivityStatus.CANCELLED else ""
        return Text(f" {formatting.seconds(job.took)}{word}", "muted")
    if job.status is not ActivityStatus.RUNNING:
        return Text()
    age = picture.age(job, now)
    sign = f" {SIGNS.warning}" if age is not Age.FRESH else ""
    done = f" {job.progress:.0%}" if 0 < job.progress <= 1 else ""
    timer = f" {formatting.elapsed(now - job.since)}" if now - job.since >= 1 else ""
    return Text(f"{done}{timer}{sign}", _AGE_LOOKS[age])


def _snippet(job: Job, depth: int, width: int) -> list[JobRow]:
    """The last line that a running job, or a failed one, put out."""
    if job.is_over and job.status is not ActivityStatus.FAILED:
        return []
    rows: list[JobRow] = []
    for line in last_lines(job.output, 1):
        text = Text.assemble(("│ " * depth + "  └ ", "border"), (line, "muted"))
        text.truncate(width, overflow="ellipsis")
        rows.append(JobRow(job.job_id, text))
    return rows


def _collapsed(jobs: list[Job], now: float) -> list[JobRow]:
    numbers = agent_numbers(jobs)
    head = Text(f"{len(jobs)} operations · e expands", "muted")
    rows = [JobRow("", head)]
    for job in jobs:
        if job.job_id not in numbers or job.parent_id in numbers:
            continue
        below = [each for each in jobs if numbers.get(each.job_id) == numbers[job.job_id]]
        done = sum(each.is_over for each in below)
        look = _agent_look(numbers[job.job_id])
        icon = SIGNS.ok if job.is_over else spinner(SIGNS, now)
        rows.append(
            JobRow(job.job_id, Text.assemble(icon, " ", (job.label, look), f" {done}/{len(below)}"))
        )
    return rows


def count_line(picture: AvatarPicture) -> Text:
    """`running 4 · done 2 · waits 1 · failed 0`."""
    row = Text()
    for word, count in picture.counts().items():
        row.append(" · " if row.plain else "", "muted")
        row.append(f"{word} {count}", _COUNT_LOOKS.get(word, "muted") if count else "muted")
    return row


_COUNT_SIGNS: Final = {
    "running": SIGNS.doing, "done": SIGNS.ok, "waits": SIGNS.waiting, "failed": SIGNS.failed,
    "cancelled": SIGNS.cancelled,
}  # fmt: skip


def short_counts(picture: AvatarPicture) -> Text:
    """The same where there is little room: `▸4 ✓2 ◌1 ✗0`."""
    row = Text()
    for word, count in picture.counts().items():
        row.append(" " if row.plain else "")
        row.append(f"{_COUNT_SIGNS[word]}{count}", _COUNT_LOOKS.get(word, "muted"))
    return row


def progress_bar(picture: AvatarPicture, width: int) -> Text:
    """How much of what began is over."""
    jobs = picture.work.jobs.values()
    if not jobs:
        return Text("─" * width, "border")
    done = sum(job.is_over for job in jobs)
    full = width * done // len(jobs)
    return Text.assemble(("━" * full, "ok"), ("─" * (width - full), "border"))
