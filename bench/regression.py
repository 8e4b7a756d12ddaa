"""Which ratios are guarded, and when one has become worse: beyond a margin that runs have shown."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

RATIOS = Path(__file__).with_name("ratios.json")
# A margin is at least this: a smaller change would be found by chance as often as by fault.
LEAST_MARGIN = 1.3
# How far beyond the widest that repeated runs lay apart a figure may stray.
TIMES_SPREAD = 2.0


@dataclass(frozen=True, slots=True)
class Ratio:
    """What a figure's ratio was when it was written down, and by how many times it may grow."""

    ratio: float
    margin: float

    @property
    def limit(self) -> float:
        return self.ratio * self.margin


@dataclass(frozen=True, slots=True)
class Verdict:
    """A figure of today beside what was written down; `tries` are its ratios, in their order."""

    name: str
    known: Ratio | None
    tries: Sequence[float]

    @property
    def best(self) -> float:
        return min(self.tries)

    @property
    def is_worse(self) -> bool:
        return self.known is None or self.best > self.known.limit


def ratio_of(runs: Sequence[float]) -> Ratio:
    """From the ratios of repeated runs: their middle, and a margin from how far they lie apart."""
    middle = median(runs)
    margin = max(LEAST_MARGIN, 1 + TIMES_SPREAD * (max(runs) - min(runs)) / middle)
    return Ratio(float(f"{middle:.4g}"), float(f"{margin:.3g}"))


def read_ratios(path: Path = RATIOS) -> dict[str, Ratio]:
    """Those that were written down."""
    record: Mapping[str, Mapping[str, float]] = json.loads(path.read_text("utf-8"))
    return {name: Ratio(each["ratio"], each["margin"]) for name, each in record.items()}


def write_ratios(runs: Mapping[str, Sequence[float]], path: Path = RATIOS) -> None:
    """One line for each, so that a change is seen as what it is."""
    lines = [f"  {json.dumps(name)}: {_record(ratio_of(each))}" for name, each in runs.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def _record(ratio: Ratio) -> str:
    return json.dumps({"ratio": ratio.ratio, "margin": ratio.margin})


def missing(known: Mapping[str, Ratio], measured: Sequence[str]) -> list[str]:
    """Written down, and no longer measured: nobody would guard it."""
    return sorted(known.keys() - set(measured))


def sentence(verdict: Verdict) -> str:
    """What a person reads of a figure that is worse."""
    if verdict.known is None:
        return f"{verdict.name} is not in {RATIOS.name}: run `make bench-ratios`"
    tries = ", ".join(f"{each:.3g}" for each in verdict.tries)
    return (
        f"{verdict.name} is {tries} in {len(verdict.tries)} tries; it was "
        f"{verdict.known.ratio:.3g}, at most {verdict.known.limit:.3g} allowed"
    )
