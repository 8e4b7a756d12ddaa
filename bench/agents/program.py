"""The command line of a program about avatars: which parts, how much, for whom; and its verdict."""

import logging
import os
import platform
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

import trio

from bench.agents.figure import Figure, heading, json_line, miss, row
from bench.command import INTERRUPTED
from bench.contest import Scale

# Hears what is being done now.
Say: TypeAlias = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Part:
    """One of a program's measurements, which may give several figures."""

    name: str
    about: str
    figures: Callable[[Scale, Say], Iterable[Figure]]


def main(
    program: str, about: str, parts: Sequence[Part], own_options: ArgumentParser | None = None
) -> NoReturn:
    """Measure, and exit: 0; 1 with a bound not met; 130 on Ctrl-C, with all agents ended."""
    options = _parser(program, about, parts, own_options).parse_args()
    chosen = [part for part in parts if not options.only or part.name in options.only]
    scale = Scale.QUICK if options.quick else Scale.FULL
    # Crashes are made on purpose here, and their reports would bury the table.
    logging.getLogger().addHandler(logging.NullHandler())
    show = _print_json if options.json else _print_table
    try:
        missed = show(chosen, scale)
    except BaseException as error:
        if not _is_ctrl_c(error):
            raise
        # trio has unwound what was running, so no agent is left.
        print("\ninterrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    sys.exit(1 if missed else 0)


def _is_ctrl_c(error: BaseException) -> bool:
    """Whether it is that, also in a nursery's group, with what else broke by it."""
    group = BaseExceptionGroup("", [error])
    return group.subgroup(KeyboardInterrupt) is not None


def _print_json(parts: Sequence[Part], scale: Scale) -> list[str]:
    missed: list[str] = []
    for figure in _measured(parts, scale):
        print(json_line(figure), flush=True)
        missed += filter(None, [miss(figure, scale)])
    for sentence in missed:
        print(f"NOT met: {sentence}", file=sys.stderr)
    return missed


def _print_table(parts: Sequence[Part], scale: Scale) -> list[str]:
    print(
        f"Python {platform.python_version()}, trio {trio.__version__}, {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f}\n\n{heading()}",
        flush=True,
    )
    missed: list[str] = []
    for figure in _measured(parts, scale):
        print(row(figure, scale), flush=True)
        missed += filter(None, [miss(figure, scale)])
    print(_closing(missed, scale))
    return missed


def _closing(missed: Sequence[str], scale: Scale) -> str:
    is_glance = scale is Scale.QUICK
    glance = " (--quick: bounds of time and memory ten times as wide)" if is_glance else ""
    if not missed:
        return f"\nAll bounds are met{glance}."
    return "\n".join([f"\nNOT met{glance}:", *(f"  {sentence}" for sentence in missed)])


def _measured(parts: Sequence[Part], scale: Scale) -> Iterator[Figure]:
    is_watched = sys.stdout.isatty() and sys.stderr.isatty()
    for part in parts:
        say = _say(part.name) if is_watched else _say_nothing
        for figure in part.figures(scale, say):
            if is_watched:
                _show_for_now("")
            yield figure


def _say_nothing(_: str) -> None:
    pass


def _say(part: str) -> Say:
    return lambda text: _show_for_now(f"{part}: {text} ...")


def _show_for_now(text: str) -> None:
    """Replace the terminal's present line; what comes next replaces this."""
    sys.stderr.write(f"\r\x1b[K{text}")
    sys.stderr.flush()


def _parser(
    program: str, about: str, parts: Sequence[Part], own_options: ArgumentParser | None
) -> ArgumentParser:
    listing = [f"  {part.name:<18}{part.about}" for part in parts]
    parser = ArgumentParser(
        prog=f"python -m {program}",
        description=about,
        epilog="\n".join(["parts:", *listing]),
        formatter_class=RawDescriptionHelpFormatter,
        parents=[own_options] if own_options else [],
        allow_abbrev=False,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per figure")
    parser.add_argument("--quick", action="store_true", help="a few seconds, for CI")
    parser.add_argument(
        "--only",
        action="append",
        choices=[part.name for part in parts],
        metavar="NAME",
        help="measure this part; may be given several times",
    )
    return parser
