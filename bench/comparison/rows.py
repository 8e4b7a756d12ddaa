"""From what the rounds gave to the cells of the table: each measured, or the reason why not."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import median

from bench.comparison.contestants import OURS
from bench.comparison.rounds import Results
from bench.comparison.work.playbook import NEVER
from bench.measure import Spread

CHOICE = 2


class Better(Enum):
    """Which of two figures is the better one."""

    LESS = "less"
    MORE = "more"


@dataclass(frozen=True, slots=True)
class Cell:
    """What a contestant's column says; `value` where it is a number, `ratio` is ours to theirs."""

    text: str
    value: float | None = None
    ratio: Spread | None = None
    is_best: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: what it is called, and where its figure is found."""

    key: str
    title: str
    unit: str
    task: str
    better: Better | None
    told: Callable[[Results, "Row", str], str] | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A row with its cells, by contestant."""

    row: Row
    cells: Mapping[str, Cell]
    rounds: int


def lines(results: Results) -> list[Line]:
    """The whole table of one wire."""
    return [_line(results, row) for row in ROWS]


def _line(results: Results, row: Row) -> Line:
    values = {name: _value(results, row, name) for name in results.names}
    best = _best(row, [value for value in values.values() if value is not None])
    cells = {
        name: Cell(
            _text(results, row, name),
            values[name],
            _ratio(results, row, name),
            best is not None and values[name] == best,
        )
        for name in results.names
    }
    return Line(row, cells, len(results.of.get((row.task, OURS), {})))


def _best(row: Row, known: Sequence[float]) -> float | None:
    """Only if there is a choice."""
    if row.better is None or len(set(known)) < CHOICE:
        return None
    return min(known) if row.better is Better.LESS else max(known)


def _value(results: Results, row: Row, name: str) -> float | None:
    figures = results.figures(row.task, name, row.key)
    is_whole = len(figures) == len(results.of.get((row.task, name), {}))
    if not figures or not is_whole or _was_never_told(results, row, name):
        return None
    return median(figures.values())


def _was_never_told(results: Results, row: Row, name: str) -> bool:
    told = {each.get("told") for each in results.found(row.task, name).values()}
    return row.key == "outcome" and bool(told & {"never", ""})


def _ratio(results: Results, row: Row, name: str) -> Spread | None:
    """Ours to theirs, taken within each round that both have."""
    if (
        name == OURS
        or not row.unit
        or None in (_value(results, row, OURS), _value(results, row, name))
    ):
        return None
    ours = results.figures(row.task, OURS, row.key)
    theirs = results.figures(row.task, name, row.key)
    pairs = [ours[number] / theirs[number] for number in ours.keys() & theirs.keys()
             if theirs[number]]  # fmt: skip
    return Spread.of(pairs) if pairs else None


def _text(results: Results, row: Row, name: str) -> str:
    if not results.found(row.task, name):
        reasons = results.failed(row.task, name) or ["not measured"]
        return f"n/a: {reasons[0]}"
    if row.told is not None:
        return row.told(results, row, name)
    return _number(results, row, name)


def _number(results: Results, row: Row, name: str) -> str:
    figures = list(results.figures(row.task, name, row.key).values())
    rounds = len(results.of[row.task, name])
    if not figures:
        return "n/a: nothing came"
    whole = f"{shown(median(figures))} {row.unit}".rstrip()
    return whole if len(figures) == rounds else f"{whole} in {len(figures)} of {rounds} rounds"


def _arrived(results: Results, row: Row, name: str) -> str:
    percent = list(results.figures(row.task, name, row.key).values())
    low, high = f"{min(percent):.4g}", f"{max(percent):.4g}"
    return f"{low} %" if low == high else f"{low}–{high} %"


def _outcome(results: Results, row: Row, name: str) -> str:
    found = list(results.found(row.task, name).values())
    told = Counter(str(each["told"]) for each in found).most_common(1)[0][0]
    if told == "never":
        return f"never (> {NEVER:g} s)"
    spent = median(each["outcome"] for each in found if each["told"] == told)
    return f"{shown(spent)} ms, {told or 'as if it were complete'}"


def _recovery(results: Results, row: Row, name: str) -> str:
    found = list(results.found(row.task, name).values())
    back = [each["recovery"] for each in found if each["recovery"] is not None]
    if not back:
        return f"no: {found[0]['why']}"
    text = f"{shown(median(back))} ms"
    if len(back) == len(found):
        return text
    why = next(each["why"] for each in found if each["recovery"] is None)
    return f"{text} in {len(back)} of {len(found)} rounds, else no: {why}"


def _calls(results: Results, row: Row, name: str) -> str:
    found = list(results.found(row.task, name).values())
    sums = {
        kind: sum(each[kind] for each in found)
        for kind in ("right", "mixed", "incomplete", "errors")
    }
    total = sum(sums.values())
    wrong = [f"{count} {kind}" for kind, count in sums.items() if count and kind != "right"]
    text = ", ".join([f"{sums['right']} of {total} right", *wrong])
    if "apart" not in found[0]:
        return text
    return f"{text}; with a session each {sum(each['apart'] for each in found)} right"


def _left(results: Results, row: Row, name: str) -> str:
    found = list(results.found(row.task, name).values())
    left, were = sum(each["left"] for each in found), sum(each["were"] for each in found)
    if left or not all("gone" in each for each in found):
        return f"{left} of {were}"
    return f"0 of {were}, gone in {shown(max(each['gone'] for each in found))} ms"


def shown(number: float) -> str:
    """With as many digits as say something."""
    if 0 < abs(number) < 0.095:
        return f"{number:.2g}"
    decimals = 2 if abs(number) < 10 else 1 if abs(number) < 100 else 0
    return f"{number:,.{decimals}f}"


LESS, MORE = Better.LESS, Better.MORE
ROWS: Sequence[Row] = (
    Row("throughput", "text, pieces a second", "/s", "stream", MORE),
    Row("cpu", "CPU of the host per piece", "µs", "stream", LESS),
    Row("arrived", "text that had come when the turn was over", "", "stream", None, _arrived),
    Row("first_event", "prompt to first event", "ms", "stream", LESS),
    Row("start", "first agent, started and its first call over", "ms", "stream", LESS),
    Row("start_more", "each further one, the same", "ms", "memory", LESS),
    Row("memory_host", "memory of the host per agent", "KiB", "memory", LESS),
    Row("memory_all", "the same with the library's own processes", "KiB", "memory", LESS),
    Row("outcome", "agent killed: the caller hears of it after", "ms", "kill", LESS, _outcome),
    Row("recovery", "agent killed: next prompt answered after", "ms", "kill", LESS, _recovery),
    Row("right", "calls at once in one conversation", "", "calls", MORE, _calls),
    Row("left", "processes left after kill -9 of the host", "", "host_killed", LESS, _left),
    Row("left", "processes left after a close in mid-turn", "", "closed", LESS, _left),
    Row("close", "that close took", "ms", "closed", LESS),
)
