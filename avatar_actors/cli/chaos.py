"""`avatar chaos`: runs faults on purpose, shows the progress, and writes a report."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from shutil import get_terminal_size
from typing import Final

import click
import msgspec
import trio
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from avatar_actors import AvatarError, AvatarStartError, Runtime
from avatar_actors.chaos import (
    ChaosAgents,
    ChaosOptions,
    ChaosReport,
    FaultKind,
    FaultOrder,
    PlannedFault,
    RunProgress,
    html_page,
    report_from_json,
    report_to_json,
    run_chaos,
    text_summary,
)
from avatar_actors.cli.agent_choice import choose_agent
from avatar_actors.cli.exit_codes import ExitCode, Failure, failure_of
from avatar_actors.cli.options import CommandOptions

QUICK: Final = ChaosOptions(avatars=8, seconds=20.0, every=0.4)
EMBEDDED: Final = "embedded"
_NAMES: Final = ("avatars", "seconds", "every", "seed", "provider", "order")


@click.command(epilog="Kinds of faults: " + ", ".join(kind.value for kind in FaultKind))
@click.option("-n", "--avatars", type=click.IntRange(min=1), help="How many avatars at once (20).")
@click.option("--seconds", type=click.FloatRange(min=1), help="How long faults are injected (60).")
@click.option(
    "--every", type=click.FloatRange(min=0.01), help="Average seconds between two faults (0.5)."
)
@click.option("--seed", type=int, help="The same seed gives the same faults at the same times (1).")
@click.option(
    "--faults",
    "kinds",
    multiple=True,
    type=click.Choice([kind.value for kind in FaultKind]),
    metavar="KIND",
    help="Only this kind of fault; may be repeated.",
)
@click.option(
    "--by-kind",
    "order",
    flag_value=FaultOrder.BY_KIND,
    help="One kind after the other, with separate figures for each.",
)
@click.option(
    "-p", "--provider", metavar="NAME", help="The agents under test (embedded); see the docs."
)
@click.option("-m", "--model", default="", metavar="NAME", help="The model, as the agent names it.")
@click.option(
    "-c", "--config", type=click.Path(path_type=Path), metavar="FILE", help="The configuration."
)
@click.option("--quick", is_flag=True, help="8 avatars for 20 seconds, for CI.")
@click.option(
    "--replay",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Repeat the faults of an earlier report, and compare the verdicts.",
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the report as JSON.",
)
@click.option(
    "--html",
    "html_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the report as a page.",
)
def chaos(
    quick: bool,
    replay: Path | None,
    json_file: Path | None,
    html_file: Path | None,
    **typed: object,
) -> int:
    """Inject faults, and check that every promise is kept.

    Avatars get prompts all the time while agents, tools and the warden are killed, stopped and
    starved. The same seed gives the same faults. Exit code 0: every promise was kept; 1: not.
    """
    before = report_from_json(replay) if replay is not None else None
    options = _options(typed, before, quick)
    for file in (json_file, html_file):
        _check(file)
    planned = before.schedule if before is not None else None
    report = _run(options, _agents(options, typed), planned)
    # A pipe or a file has room for everything.
    width = get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize
    for line in text_summary(report, width):
        click.echo(line)
    _write(json_file, report_to_json(report))
    _write(html_file, html_page(report).encode())
    if before is not None:
        click.echo(_against(before, report))
    if not report.is_complete:
        return ExitCode.INTERRUPTED
    return ExitCode.OK if report.is_ok else ExitCode.FAILED


def _options(typed: dict[str, object], before: ChaosReport | None, quick: bool) -> ChaosOptions:
    """The typed options, over those of an earlier run or the defaults."""
    base = before.options if before is not None else QUICK if quick else ChaosOptions()
    chosen = {name: typed[name] for name in _NAMES if typed[name] is not None}
    if before is not None and (chosen or typed["kinds"]):
        raise click.UsageError(
            "--replay takes avatars, seconds, seed, faults and order from the report"
        )
    if typed["kinds"]:
        chosen["kinds"] = msgspec.convert(typed["kinds"], tuple[FaultKind, ...])
    return msgspec.structs.replace(base, **chosen)


def _agents(options: ChaosOptions, typed: dict[str, object]) -> ChaosAgents:
    """The embedded agent as it is; another one as configured, but in a directory of its own."""
    if options.provider == EMBEDDED:
        return ChaosAgents()
    config = typed["config"]
    wanted = CommandOptions(
        provider=options.provider,
        model=str(typed["model"]),
        config=config if isinstance(config, Path) else None,
    )
    choice = choose_agent(wanted)
    avatar = choice.options.copy()
    avatar.pop("working_dir", None)
    return ChaosAgents(provider=choice.provider, options=avatar)


def _check(file: Path | None) -> None:
    """Fail before a long run, not after it."""
    if file is not None and not file.parent.is_dir():
        raise Failure(f"cannot write {file}: {file.parent} is not a directory", ExitCode.USAGE)


def _write(file: Path | None, content: bytes) -> None:
    if file is None:
        return
    try:
        file.write_bytes(content)
    except OSError as error:
        raise Failure(f"cannot write {file}: {error.strerror}") from error
    click.echo(f"written: {file}")


def _against(before: ChaosReport, now: ChaosReport) -> str:
    """Whether a replay gave the same verdicts."""
    differences = [
        f"{old.name} {old.found} then, {new.found} now"
        for old, new in zip(before.promises, now.promises, strict=True)
        if old.is_kept is not new.is_kept
    ]
    same = "the same verdict on every promise as in the replayed report"
    return (
        f"verdicts differ from the replayed report: {'; '.join(differences)}"
        if differences
        else same
    )


def _run(
    options: ChaosOptions, chosen: ChaosAgents, planned: tuple[PlannedFault, ...] | None
) -> ChaosReport:
    refusals: list[AvatarError] = []
    Runtime.tune_collector()
    # Crashes are intended here: their tracebacks would bury the output and cost time.
    logging.disable()
    try:
        with _progress(options) as tell:
            return trio.run(run_chaos, options, chosen, tell, planned)
    except* AvatarError as group:
        refusals.append(_first(group))
    except* KeyboardInterrupt:
        pass
    finally:
        logging.disable(logging.NOTSET)
    if refusals and isinstance(refusals[0], AvatarStartError):
        # 1 would say that a promise was broken; nothing was tried.
        raise Failure(failure_of(refusals[0]).message, ExitCode.NO_PROVIDER)
    if refusals:
        raise refusals[0]
    raise KeyboardInterrupt  # the second Ctrl-C: no report


def _first(group: BaseExceptionGroup[AvatarError]) -> AvatarError:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error


PLAIN_EVERY: Final = 5.0


@contextmanager
def _progress(options: ChaosOptions) -> Generator[Callable[[RunProgress], None]]:
    """Show the progress of a run: a live table in a terminal, plain lines elsewhere."""
    if not sys.stdout.isatty():
        yield _Lines().tell
        return
    # On stderr, so that stdout has only the report.
    with Live(console=Console(stderr=True), auto_refresh=False, transient=True) as live:
        yield lambda progress: live.update(picture(options, progress), refresh=True)


def picture(options: ChaosOptions, progress: RunProgress) -> Group:
    """The live table of a run."""
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
    """Writes a line when the phase changes, and every few seconds."""

    def __init__(self) -> None:
        self._phase = ""
        self._next = 0.0

    def tell(self, progress: RunProgress) -> None:
        """Report the progress."""
        phase = _phase(progress)
        if phase == self._phase and progress.seconds < self._next:
            return
        self._phase, self._next = phase, progress.seconds + PLAIN_EVERY
        prompts = progress.prompts
        sys.stderr.write(
            f"{phase}: {progress.seconds:.0f} of {progress.total:g} s, "
            f"{progress.faults} of {progress.planned} faults, {progress.missed} missed, "
            f"{progress.restarts} restarts, {prompts.sent} prompts, "
            f"{progress.breaches} broken promises\n"
        )
        sys.stderr.flush()
