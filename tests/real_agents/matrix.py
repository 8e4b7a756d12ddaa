"""The matrix of agents and abilities: a page for people, and what differs from an earlier one."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from tests.real_agents.ability import Ability, Cell, Found

MARKS = {
    Found.WORKS: "✔",
    Found.DIFFERS: "◐",
    Found.NOT_OFFERED: "–",
    Found.FAILED: "✘ failed",
    Found.NOT_TESTED: "not tested",
}
TIMES = {
    "start": "start-up",
    "first event": "first event",
    "cancel": "interrupt to outcome",
    "outcome": "kill -9 to outcome",
}

HEAD = """\
# The real agents

Each agent below is the real program, unmodified; only the model's HTTP API is replaced, by one on
loopback. `make test-agents` runs the suite and writes this page. What an agent cannot do is
asserted too, not skipped.

✔ works · ◐ works in its own way, see the note · – the agent does not offer it
"""


class Matrix(Struct, frozen=True, kw_only=True):
    """What one run found. `versions` has the agents in the order of the columns."""

    versions: dict[str, str]
    cells: tuple[Cell, ...]
    network: str

    def cell(self, agent: str, ability: Ability) -> Cell:
        """None is blank: what no test filled says so."""
        for cell in self.cells:
            if (cell.agent, cell.ability) == (agent, ability):
                return cell
        return Cell(agent=agent, ability=ability, found=Found.NOT_TESTED)

    def all_cells(self) -> Iterator[Cell]:
        for ability in Ability:
            for agent in self.versions:
                yield self.cell(agent, ability)

    @property
    def is_whole(self) -> bool:
        """Whether every cell says what the agent does."""
        missing = {Found.FAILED, Found.NOT_TESTED}
        return not any(cell.found in missing for cell in self.all_cells())


def page(matrix: Matrix) -> str:
    """The matrix as Markdown."""
    notes = _numbered(_entry(cell) for cell in matrix.all_cells() if cell.note)
    agents = list(matrix.versions)
    lines = [
        HEAD,
        _row("", agents),
        _row("---", ["---"] * len(agents)),
        _row("version", matrix.versions.values()),
    ]
    for ability in Ability:
        cells = [matrix.cell(agent, ability) for agent in agents]
        lines.append(_row(ability.value, [_shown(cell, notes) for cell in cells]))
    lines += [_row(f"{words}, s", _times(matrix, key)) for key, words in TIMES.items()]
    lines += ["", f"Network of this run: {matrix.network}. Times are single measurements.", ""]
    lines += [f"{number}. {entry}" for entry, number in notes.items()]
    return "\n".join([*lines, ""])


def differences(old: Matrix, new: Matrix) -> list[str]:
    """What a maintainer wants to know of newer versions, a line each."""
    lines = [
        f"{agent}: {version} → {new.versions[agent]}"
        for agent, version in old.versions.items()
        if new.versions.get(agent, version) != version
    ]
    for cell in new.all_cells():
        before = old.cell(cell.agent, cell.ability)
        if (before.found, before.note) != (cell.found, cell.note):
            was, now = _words(before), _words(cell)
            lines.append(f"{cell.agent}, {cell.ability.value}: {was} → {now}")
    return lines


def _entry(cell: Cell) -> str:
    """A note as it is listed: with its row, for it stands far from it."""
    return f"*{cell.ability.value}*: {cell.note}"


def _numbered(entries: Iterable[str]) -> dict[str, int]:
    return {entry: at for at, entry in enumerate(dict.fromkeys(entries), 1)}


def _shown(cell: Cell, notes: Mapping[str, int]) -> str:
    mark = MARKS[cell.found]
    return f"{mark} [{notes[_entry(cell)]}]" if cell.note else mark


def _times(matrix: Matrix, key: str) -> list[str]:
    found = {cell.agent: cell.seconds[key] for cell in matrix.all_cells() if key in cell.seconds}
    return [f"{found[agent]:.2f}" if agent in found else "–" for agent in matrix.versions]


def _words(cell: Cell) -> str:
    return f"{cell.found.value} ({cell.note})" if cell.note else cell.found.value


def _row(head: str, cells: Iterable[str]) -> str:
    return f"| {' | '.join([head, *cells])} |"
