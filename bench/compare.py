"""This product beside what people use today: the same work, agent and machine, in one run.

`python -m bench.compare`. Two wires: on ACP against the ACP SDK and avatar-engine, on Claude's
stream-json against claude-agent-sdk and avatar-engine. Libraries that the project does not have are
installed into a cache, once. docs/benchmarks.md says how each is used and what is measured.
"""

import os
import platform
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.agents.program import Say
from bench.command import INTERRUPTED
from bench.comparison.contestants import QUICK_WIRES, WIRES, Contestant
from bench.comparison.installed import NotInstalled, python_for
from bench.comparison.rounds import Entrant, Results, contest
from bench.comparison.table import NoMarkers, between_markers, json_lines, markdown, text_table
from bench.comparison.worker import play
from bench.contest import Scale

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"


def main() -> int:
    options = _options()
    wires = QUICK_WIRES if options.quick else {wire: WIRES[wire] for wire in options.wire or WIRES}
    scale = Scale.QUICK if options.quick else Scale.FULL
    try:
        tables = [_measured(wire, who, scale, options) for wire, who in wires.items()]
    except KeyboardInterrupt:
        # Every worker stands in a block that ends it and whoever it started.
        print("\ninterrupted", file=sys.stderr)
        return INTERRUPTED
    if options.markdown:
        page = PAGE.read_text("utf-8")
        made = markdown(tables, facts(wires))
        PAGE.write_text(between_markers(page, made), "utf-8")
        print(f"written: {PAGE.name}", file=sys.stderr)
    return 0


def _measured(wire: str, who: Sequence[Contestant], scale: Scale, options: Namespace) -> Results:
    say = _say if sys.stderr.isatty() else _say_nothing
    results = contest(wire, [_entrant(each, say) for each in who], scale, play, say)
    if sys.stderr.isatty():
        _show_for_now("")
    if options.json:
        print("\n".join(json_lines(results)), flush=True)
    else:
        print("\n".join([*facts({wire: who}), "", text_table(results), ""]), flush=True)
    return results


def _entrant(contestant: Contestant, say: Say) -> Entrant:
    try:
        return Entrant(contestant, python_for(contestant, say))
    except NotInstalled as error:
        print(f"{contestant.name} {error}; its column says so", file=sys.stderr)
        return Entrant(contestant, "", str(error))


def facts(wires: Mapping[str, Sequence[Contestant]]) -> list[str]:
    """How and where this was measured."""
    everybody = dict.fromkeys(each.versions for who in wires.values() for each in who)
    return [
        f"Made by `python -m {' '.join(['bench.compare', *sys.argv[1:]])}` with Python "
        f"{platform.python_version()} on {platform.system()}, {platform.machine()}, "
        f"{os.cpu_count()} cores, load {os.getloadavg()[1]:.1f} over the last 5 minutes.",
        f"Versions: {'; '.join(everybody)}.",
    ]


def _options() -> Namespace:
    parser = _parser()
    options = parser.parse_args()
    if options.quick and options.wire:
        parser.error("--quick is on one wire as it is: leave out --wire")
    if options.markdown and (options.quick or options.wire):
        parser.error("--markdown writes the whole comparison: leave out --quick and --wire")
    if options.markdown:
        _look_for_the_place(parser)
    return options


def _look_for_the_place(parser: ArgumentParser) -> None:
    """Before all the work, not after it."""
    try:
        between_markers(PAGE.read_text("utf-8"), "")
    except (OSError, NoMarkers) as error:
        parser.error(f"{PAGE.name} cannot take the tables: {error}")


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="python -m bench.compare",
        description="This product beside what people use today, in one run (8 minutes).",
        allow_abbrev=False,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per figure")
    parser.add_argument(
        "--quick", action="store_true", help="only beside the ACP SDK, few rounds: no network"
    )
    parser.add_argument("--wire", action="append", choices=list(WIRES), help="this one alone")
    parser.add_argument(
        "--markdown", action="store_true", help="also write the tables into docs/benchmarks.md"
    )
    return parser


def _say(text: str) -> None:
    _show_for_now(f"{text} ...")


def _say_nothing(_: str) -> None:
    pass


def _show_for_now(text: str) -> None:
    """Replace the terminal's present line; what comes next replaces this."""
    sys.stderr.write(f"\r\x1b[K{text}")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
