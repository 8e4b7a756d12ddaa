"""How a run of chaos is watched: a living table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final, TypeAlias

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from avatar_actors.chaos import ChaosOptions, RunProgress

PLAIN_EVERY: Final = 5.0
Tell: TypeAlias = Callable[[RunProgress], None]


@contextmanager
def shown(options: ChaosOptions) -> Generator[Tell]:
    """For the length of a run, hear how far it is."""
    if not sys.stdout.isatty():
        yield _Lines().tell
        return
    # On stderr, so that the report alone is on stdout.
    with Live(console=Console(stderr=True), auto_refresh=False, transient=True) as live:
        yield lambda progress: live.update(picture(options, progress), refresh=True)


def picture(options: ChaosOptions, progress: RunProgress) -> Group:
    """What a person sees of a run at one moment."""
    prompts = progress.prompts
    table = Table.grid(padding=(0, 2))
    table.add_row("faults", f"{progress.faults:,} of {progress.planned:,}", _missed(progress))
    table.add_row("restarts", f"{progress.restarts:,}", "")
    answers = f"{prompts.answered:,} answered, {prompts.cancelled:,} cancelled"
    table.add_row("prompts", f"{prompts.sent:,} sent", f"{answers}, {prompts.failed:,} failed")
    table.add_row("broken promises", _breaches(progress), "")
    bar = Table.grid()  # a bar alone does not end its line
    bar.add_row(ProgressBar(total=progress.total or 1.0, completed=progress.seconds, width=60))
    title = f"chaos: {options.avatars} avatars on {options.provider}, seed {options.seed}"
    last = Text(progress.last.replace("\x1b", "?"), style="dim", overflow="ellipsis", no_wrap=True)
    phase = f"{_phase(progress)} {progress.seconds:.0f} of {progress.total:.0f} s"
    return Group(Text(title, style="bold"), Text(phase), bar, table, last)


def _phase(progress: RunProgress) -> str:
    return f"{progress.phase} ({progress.kind})" if progress.kind else progress.phase


def _missed(progress: RunProgress) -> Text:
    missed = progress.missed
    return Text(f"{missed} did not land", style="bold red") if missed else Text("all landed")


def _breaches(progress: RunProgress) -> Text:
    return Text(f"{progress.breaches:,}", style="bold red" if progress.breaches else "green")


class _Lines:
    """A line when the phase changes, and every few seconds."""

    def __init__(self) -> None:
        self._phase = ""
        self._next = 0.0

    def tell(self, progress: RunProgress) -> None:
        """How far it is."""
        phase = _phase(progress)
        if phase == self._phase and progress.seconds < self._next:
            return
        self._phase, self._next = phase, progress.seconds + PLAIN_EVERY
        prompts = progress.prompts
        sys.stderr.write(
            f"{phase}: {progress.seconds:.0f} of {progress.total:g} s, "
            f"{progress.faults} of {progress.planned} faults, {progress.missed} missed, "
            f"{progress.restarts} restarts, {prompts.sent} prompts, {progress.breaches} wrong\n"
        )
        sys.stderr.flush()
