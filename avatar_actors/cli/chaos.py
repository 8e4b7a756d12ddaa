"""`avatar chaos`: faults on purpose, watched by a person, with a report for others."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from shutil import get_terminal_size
from typing import Final

import click
import msgspec
import trio

from avatar_actors import AvatarError, AvatarStartError
from avatar_actors.chaos import (
    ChaosAgents,
    ChaosOptions,
    ChaosReport,
    FaultKind,
    FaultOrder,
    PlannedFault,
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
@click.option("-n", "--avatars", type=click.IntRange(min=1), help="How many at once (20).")
@click.option("--seconds", type=click.FloatRange(min=1), help="How long faults are made (60).")
@click.option(
    "--every", type=click.FloatRange(min=0.01), help="Seconds between two, on average (0.5)."
)
@click.option("--seed", type=int, help="The same seed, the same faults at the same times (1).")
@click.option(
    "--faults",
    "kinds",
    multiple=True,
    type=click.Choice([kind.value for kind in FaultKind]),
    metavar="KIND",
    help="Only this kind; may be given several times.",
)
@click.option(
    "--by-kind",
    "order",
    flag_value=FaultOrder.BY_KIND,
    help="One kind after the other, and what each leaves by itself.",
)
@click.option(
    "-p", "--provider", metavar="NAME", help="Whose agents are tried (embedded): see the docs."
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
    help="The faults of an earlier report once more, and its verdict against this one's.",
)
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path), metavar="FILE", help="The report."
)
@click.option(
    "--html", "html_file", type=click.Path(path_type=Path), metavar="FILE", help="It as a page."
)
def chaos(
    quick: bool,
    replay: Path | None,
    json_file: Path | None,
    html_file: Path | None,
    **typed: object,
) -> int:
    """Make faults on purpose, and see whether every promise is kept.

    Avatars are asked all the time while agents, tools and the warden are killed, stopped and
    starved. The same seed makes the same faults. Exit code 0: every promise was kept; 1: not.
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
    """What was typed over what an earlier run had, or over the defaults."""
    base = before.options if before is not None else QUICK if quick else ChaosOptions()
    chosen = {name: typed[name] for name in _NAMES if typed[name] is not None}
    if before is not None and (chosen or typed["kinds"]):
        raise click.UsageError("--replay has its own avatars, seconds, seed, faults and order")
    if typed["kinds"]:
        chosen["kinds"] = msgspec.convert(typed["kinds"], tuple[FaultKind, ...])
    return msgspec.structs.replace(base, **chosen)


def _agents(options: ChaosOptions, typed: dict[str, object]) -> ChaosAgents:
    """The embedded agent as it is; another one as it is configured, in a directory of its own."""
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
    """Before a long run, not after it."""
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
    """Whether a replay came to the same."""
    differences = [
        f"{old.name} {old.found} then, {new.found} now"
        for old, new in zip(before.promises, now.promises, strict=True)
        if old.is_kept is not new.is_kept
    ]
    same = "the same verdict on every promise as the report that was replayed"
    return f"not the same as before: {'; '.join(differences)}" if differences else same


def _run(
    options: ChaosOptions, chosen: ChaosAgents, planned: tuple[PlannedFault, ...] | None
) -> ChaosReport:
    from avatar_actors.cli.chaos_display import shown  # noqa: PLC0415 - rich, once it is needed

    refusals: list[AvatarError] = []
    # Crashes are made on purpose here: their tracebacks would bury what is shown, and cost time.
    logging.disable()
    try:
        with shown(options) as tell:
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
