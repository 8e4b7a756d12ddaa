"""The command line that every program here has: which benches, how much of them, for whom."""

import os
import signal
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from typing import NoReturn

from bench.contest import Bench, Scale
from bench.measure import Progress, Result, measure
from bench.report import closing, heading, json_lines, row, short_name

INTERRUPTED = 130


def main(program: str, about: str, benches: Sequence[Bench]) -> NoReturn:
    """Measure what the arguments ask for, and exit: 0, also with a bound not met; 130 on Ctrl-C."""
    options = _parser(program, about, benches).parse_args()
    chosen = [each for each in benches if not options.only or short_name(each) in options.only]
    scale = Scale.QUICK if options.quick else Scale.FULL
    signal.signal(signal.SIGINT, _leave_at_once)
    if options.json:
        _print_json(chosen, scale)
    else:
        _print_table(chosen, scale)
    sys.exit(0)


def _leave_at_once(_signal: int, _frame: object) -> NoReturn:
    # Nothing needs a clean-up, and a KeyboardInterrupt raised here would first travel through
    # whatever is being measured: nurseries, a supervisor's log, threads that work off their mail.
    os.write(2, b"\ninterrupted\n")
    os._exit(INTERRUPTED)


def _print_json(benches: Sequence[Bench], scale: Scale) -> None:
    for bench in benches:
        for line in json_lines(_measured(bench, scale)):
            print(line, flush=True)


def _print_table(benches: Sequence[Bench], scale: Scale) -> None:
    print(heading(scale), flush=True)
    results: list[Result] = []
    for bench in benches:
        results.append(_measured(bench, scale))
        print(row(results[-1]), flush=True)
    print(closing(results, scale))


def _measured(bench: Bench, scale: Scale) -> Result:
    if not (sys.stdout.isatty() and sys.stderr.isatty()):
        return measure(bench, scale, lambda _round, _contestant: None)
    try:
        return measure(bench, scale, _progress(bench, scale))
    finally:
        _show_for_now("")


def _progress(bench: Bench, scale: Scale) -> Progress:
    def show(number: int, contestant: str) -> None:
        _show_for_now(
            f"{short_name(bench)}: round {number + 1} of {scale.rounds}, {contestant} ..."
        )

    return show


def _show_for_now(text: str) -> None:
    """Replace the terminal's present line; what comes next replaces this."""
    sys.stderr.write(f"\r\x1b[K{text}")
    sys.stderr.flush()


def _parser(program: str, about: str, benches: Sequence[Bench]) -> ArgumentParser:
    names = [short_name(bench) for bench in benches]
    listing = [f"  {short_name(bench):<18}{bench.about}" for bench in benches]
    parser = ArgumentParser(
        prog=f"python -m {program}",
        description=about,
        epilog="\n".join(["benches:", *listing]),
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per figure")
    parser.add_argument("--quick", action="store_true", help="a few seconds in all, for CI")
    parser.add_argument(
        "--only",
        action="append",
        choices=names,
        metavar="NAME",
        help="measure this bench; may be given several times",
    )
    return parser
