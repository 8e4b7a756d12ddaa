"""Has anything become slower? Ratios of today beside those that were written down.

`python -m bench.check`, or `make bench-check`. A figure is the median of ratios of alternating
rounds, ours to a contestant that does the same in the same run, so another machine or a loaded one
moves both. One beyond its margin is measured again, twice at most; it has failed if it never keeps
it. Exit 1 then. `--write` measures everything several times and writes the ratios and margins down.
"""

import logging
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import TypeAlias

from bench import savina, supervision
from bench.command import INTERRUPTED
from bench.contest import OURS, TRIO, Bench, Program
from bench.measure import turns, without_collector
from bench.recovery import kill_again_and_again
from bench.regression import (
    RATIOS,
    Ratio,
    Verdict,
    missing,
    read_ratios,
    sentence,
    write_ratios,
)
from bench.throughput_floor import floor
from bench.throughput_ours import every, streamed_turn
from bench.throughput_sdk import sdk

ROUNDS = 5
RUNS = 5
TRIES = 3
CHUNKS = 6_000
FEWER_CHUNKS = 3
KILLS = 20

# Gives the figure's ratio.
Measure: TypeAlias = Callable[[], float]


def ratio(ours: Program, theirs: Program, n: int, fewer: int = 1) -> Measure:
    """The median of the rounds' ratios; theirs may do fewer, as figures are per operation."""

    def measured() -> float:
        figures: dict[str, list[float]] = {OURS: [], "theirs": []}
        for _, name in turns(list(figures), ROUNDS):
            program, size = (ours, n) if name == OURS else (theirs, max(1, n // fewer))
            figures[name].append(without_collector(program, size))
        pairs = zip(figures[OURS], figures["theirs"], strict=True)
        return median(ours / theirs for ours, theirs in pairs)

    return measured


def _against_trio(bench: Bench) -> Measure:
    ours, theirs = _cpu(bench.programs[OURS]), _cpu(bench.programs[TRIO])
    return ratio(ours, theirs, bench.full // 4, bench.fewer.get(TRIO, 1))


def _cpu(program: Program) -> Program:
    """The CPU time of all that it does, per operation: who else runs here hardly counts."""

    def measured(n: int) -> float:
        began = time.process_time()
        program(n)
        return (time.process_time() - began) / n

    return measured


def _turn(dialect: str) -> Program:
    return lambda n: streamed_turn(dialect, n).microseconds


GUARDED = {
    "savina": ("ping_pong", "counting", "big", "fan_in", "fan_out", "ask"),
    "supervision": ("create", "restart", "ordered", "dynamic"),
}


def _recovery() -> float:
    """From the kill until it takes prompts again, to a plain start of the same agent."""
    times = kill_again_and_again(KILLS, lambda _: None)
    return median(back / start for back, start in zip(times.ready, times.start, strict=True))


def figures() -> dict[str, Measure]:
    """Everything that is guarded, by name."""
    benches = {bench.name: bench for bench in (*savina.BENCHES, *supervision.BENCHES)}
    names = [f"{program}.{each}" for program, some in GUARDED.items() for each in some]
    made = {f"{name} : trio": _against_trio(benches[name]) for name in names}
    for dialect in ("acp", "claude"):
        lowest = floor(dialect)
        made[f"throughput.{dialect}_turn : floor"] = ratio(_turn(dialect), lowest, CHUNKS)
        made[f"throughput.{dialect}_every : floor"] = ratio(every(dialect), lowest, CHUNKS)
    made["throughput.acp_every : SDK"] = ratio(every("acp"), sdk, CHUNKS, FEWER_CHUNKS)
    made["recovery.ready : start"] = _recovery
    return made


def check(measures: Mapping[str, Measure], known: Mapping[str, Ratio]) -> list[Verdict]:
    """Measure each, and again what is worse; everything is told as it is known."""
    verdicts: list[Verdict] = []
    for name, measure in measures.items():
        verdict = Verdict(name, known.get(name), [measure()])
        while verdict.is_worse and verdict.known is not None and len(verdict.tries) < TRIES:
            verdict = Verdict(name, verdict.known, [*verdict.tries, measure()])
        verdicts.append(verdict)
        print(_row(verdict), flush=True)
    return verdicts


def _row(verdict: Verdict) -> str:
    known = verdict.known
    cells = [
        verdict.name,
        f"{verdict.best:.3g}",
        f"{known.ratio:.3g}" if known else "",
        f"≤ {known.limit:.3g}" if known else "",
        str(len(verdict.tries)),
    ]
    widths = (-34, 8, 8, 10, 7)
    fitted = (
        cell.rjust(width) if width > 0 else cell.ljust(-width)
        for cell, width in zip(cells, widths, strict=True)
    )
    return f"{''.join(fitted)}  {'WORSE' if verdict.is_worse else ''}".rstrip()


def closing(verdicts: Sequence[Verdict], known: Mapping[str, Ratio]) -> tuple[str, int]:
    """The last words, and the exit code."""
    worse = [sentence(verdict) for verdict in verdicts if verdict.is_worse]
    gone = missing(known, [verdict.name for verdict in verdicts])
    worse += [f"{name} is in {RATIOS.name} and no longer measured" for name in gone]
    if not worse:
        return "\nNothing has become worse.", 0
    return "\n".join(["\nWorse than the margin allows:", *(f"  {each}" for each in worse)]), 1


def _check(measures: Mapping[str, Measure]) -> int:
    known = read_ratios()
    print(f"{'ours : theirs':34}{'now':>8}{'then':>8}{'allowed':>10}{'tries':>7}", flush=True)
    words, code = closing(check(measures, known), known)
    print(words)
    return code


def _write(measures: Mapping[str, Measure]) -> int:
    """Run by run, so that what disturbs the machine for a while disturbs all figures."""
    runs: dict[str, list[float]] = {name: [] for name in measures}
    for number in range(RUNS):
        for name, measure in measures.items():
            runs[name].append(measure())
        print(f"run {number + 1} of {RUNS}", flush=True)
    write_ratios(runs)
    print(f"written: {RATIOS.name}")
    return 0


def main() -> int:
    parser = ArgumentParser(
        prog="python -m bench.check",
        description="Ratios of today beside those that were written down; 1 if one is worse.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--write", action="store_true", help=f"measure {RUNS} times, and write them down"
    )
    options = parser.parse_args()
    # Crashes are made on purpose here, and their reports would bury the table.
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        return _write(figures()) if options.write else _check(figures())
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
