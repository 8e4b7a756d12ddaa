"""The side bar: the figure, the thoughts, and the tree of activities with its counters."""

from __future__ import annotations

from typing import Final

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.message import Message

from avatar_actors.cli.display.markdown_stream import divided
from avatar_actors.gui.activity_rows import (
    STOP,
    JobRow,
    TreeFolds,
    count_line,
    hidden_jobs,
    job_rows,
    progress_bar,
)
from avatar_actors.gui.figure import Figure
from avatar_actors.gui.strips import LinePane, Look, between
from avatar_actors.picture import AvatarPicture

# With fewer rows than this the thoughts make room for the tree.
_TIGHT: Final = 26


class ThoughtPane(LinePane):
    """The end of what the agent thinks, as it comes; its head counts the tokens."""

    def beat(self, picture: AvatarPicture, look: Look) -> None:
        """Show the end that fits."""
        width, height = self.size.width, self.size.height
        if not width or not height:
            return
        tokens = f"{picture.thought_tokens} t" if picture.thought_tokens else ""
        rows = [between(Text("thoughts", "title"), Text(tokens, "muted"), width)]
        lines: list[str] = []
        for line in picture.thought.replace("**", "").split("\n"):
            full, rest = divided(line, width)
            lines += [*full, rest]
        while lines and not lines[-1].strip():
            lines.pop()
        rows += [Text(line, "thought") for line in lines[-(height - 1) :]]
        self.show(rows, look)


class ActivityTree(LinePane, can_focus=True):
    """The tree of what runs. Enter or a click shows one whole, F8 or its cross stops it."""

    BINDINGS = [  # noqa: RUF012 - Textual's way
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("enter", "open", show=False),
        Binding("space", "fold", show=False),
        Binding("e", "expand", show=False),
    ]

    class JobOpened(Message):
        """A person wants to see all of a job."""

        def __init__(self, job_id: str) -> None:
            super().__init__()
            self.job_id = job_id

    class JobStopped(Message):
        """A person wants to end a job."""

        def __init__(self, job_id: str) -> None:
            super().__init__()
            self.job_id = job_id

    def __init__(self) -> None:
        super().__init__(id="activities")
        self.view = TreeFolds(set(), set())
        self.chosen = ""
        self._jobs: list[JobRow] = []
        self._picture: AvatarPicture | None = None
        self._now = 0.0
        self._top = 0

    def beat(self, picture: AvatarPicture, look: Look, now: float) -> None:
        """Show the tree as it is now; the newest rows, where not all fit."""
        self._picture, self._now = picture, now
        width, height = self.size.width, self.size.height
        self._jobs = job_rows(picture, self.view, now, width)
        self._top = self._first_shown(height)
        rows = [self._marked(row) for row in self._jobs[self._top : self._top + height]]
        self.show(rows, look)

    def _first_shown(self, height: int) -> int:
        if not self.has_focus or not self.chosen:
            return max(0, len(self._jobs) - height)
        at = next((y for y, row in enumerate(self._jobs) if row.job_id == self.chosen), 0)
        return min(max(self._top, at - height + 1), at)

    def _marked(self, row: JobRow) -> Text:
        if not (self.has_focus and row.job_id and row.job_id == self.chosen):
            return row.text
        marked = row.text.copy()
        marked.stylize("reverse")
        return marked

    @property
    def rows(self) -> list[str]:
        """All rows as plain text, also those out of sight."""
        return [row.text.plain for row in self._jobs]

    def row_styles(self) -> dict[str, str]:
        """The look of each job's label, by the label."""
        return {
            row.text.plain[span.start : span.end].strip(): str(span.style)
            for row in self._jobs
            for span in row.text.spans
            if str(span.style).startswith("agent")
        }

    def target(self) -> str:
        """The chosen job, else the last one that runs; empty: none."""
        ids = [row.job_id for row in self._jobs]
        running = [row.job_id for row in self._jobs if row.is_running]
        if self.chosen in ids:
            return self.chosen
        return running[-1] if running else ""

    def action_move(self, step: int) -> None:
        """Choose the row above or below."""
        ids = list(dict.fromkeys(row.job_id for row in self._jobs if row.job_id))
        if not ids:
            return
        at = ids.index(self.chosen) + step if self.chosen in ids else len(ids) - 1
        self.chosen = ids[min(max(0, at), len(ids) - 1)]

    def action_open(self) -> None:
        """Show all of the chosen job."""
        if job_id := self.target():
            self.post_message(self.JobOpened(job_id))

    def action_fold(self) -> None:
        """Hide or show what is below the chosen job."""
        if self._picture is None or not (job_id := self.target()):
            return
        jobs = self._picture.work.jobs
        hidden = hidden_jobs(jobs.values(), self.view, self._now)
        below = [job.job_id for job in jobs.values() if job.parent_id == job_id]
        self.view.toggle(job_id, is_folded=any(each in hidden for each in below))

    def action_expand(self) -> None:
        """Show the tree although much runs, or go back to one line per agent."""
        self.view.is_expanded = not self.view.is_expanded

    def on_click(self, event: events.Click) -> None:
        """The cross ends a job, the rest of its row shows it whole."""
        at = self._top + event.y
        if not 0 <= at < len(self._jobs) or not self._jobs[at].job_id:
            return
        row = self._jobs[at]
        self.chosen = row.job_id
        is_cross = row.is_running and event.x >= cell_len(row.text.plain) - len(STOP)
        self.post_message(self.JobStopped(row.job_id) if is_cross else self.JobOpened(row.job_id))


class Side(Vertical):
    """The three panels, one above the other."""

    def __init__(self) -> None:
        super().__init__(id="side")
        self.figure = Figure()
        self.activities = ActivityTree()
        self._thoughts = ThoughtPane(id="thoughts")
        self._head, self._counts = LinePane(id="activities-head"), LinePane(id="counts")

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield self.figure
        yield self._thoughts
        yield self._head
        yield self.activities
        yield self._counts

    def on_resize(self) -> None:
        """Leave room for the tree."""
        self.set_class(self.size.height < _TIGHT, "tight")

    def beat(self, picture: AvatarPicture, look: Look, now: float, tick: int) -> None:
        """Draw what changed."""
        width = self.size.width - 3
        if width <= 0:
            return
        self.figure.beat(picture.mood(), tick, look)
        self._thoughts.beat(picture, look)
        self._head.show([_head(picture, width)], look)
        self.activities.beat(picture, look, now)
        counts = [progress_bar(picture, width), count_line(picture)]
        self._counts.show(counts, look)


def _head(picture: AvatarPicture, width: int) -> Text:
    prompt = picture.prompt
    title = Text("activities", "title")
    return between(title, Text(prompt, "muted"), width)
