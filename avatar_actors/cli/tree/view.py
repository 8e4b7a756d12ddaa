"""Draws snapshots of a tree as lines of text; calm parts are folded where there is no room."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from msgspec import Struct
from rich.cells import cell_len
from rich.text import Text

from avatar_actors import TreePart, TreeSnapshot
from avatar_actors.cli.display import Style
from avatar_actors.cli.terminal.rendering import Renderer
from avatar_actors.cli.tree.wording import (
    age,
    crashes_of,
    headline,
    name_of,
    notes_of,
    size_of,
    state_of,
)

Quiet: TypeAlias = Callable[[str], bool]
_AVATAR: Final = 3


class Row(Struct, frozen=True, kw_only=True):
    """One line of the tree."""

    branch: str
    """The lines that connect it to its parent."""
    path: str
    part: TreePart
    below: int = 0
    """The number of parts folded into it."""
    others: tuple[str, ...] = ()
    """The names of its siblings, if it stands for several."""


class _Fold(Struct, frozen=True):
    """Which calm parts become one row: with everything below, or several siblings together."""

    whole: Quiet
    together: Quiet


def _never(_path: str) -> bool:
    return False


def _is_post(path: str) -> bool:
    return path.count("/") == 1


def _is_avatar(path: str) -> bool:
    return path.count("/") == _AVATAR - 1


def _is_no_avatar(path: str) -> bool:
    return not _is_avatar(path)


def _always(_path: str) -> bool:
    return True


# From the whole tree to the shortest.
_FOLDS: Final = (
    _Fold(_never, _never),
    _Fold(_never, _is_post),
    _Fold(_never, _is_no_avatar),
    _Fold(_is_avatar, _is_no_avatar),
    _Fold(_is_avatar, _always),
)


def rows_of(tree: TreePart, most: int, is_quiet: Quiet) -> list[Row]:
    """At most this many rows, if folding helps; recent changes are folded last."""
    rows: list[Row] = []
    for folds, is_foldable in ((_FOLDS, is_quiet), (_FOLDS[1:], _always)):
        quiet = set(_quiet(tree.name, tree, is_foldable))
        for fold in folds:
            rows = list(_rows(Row(branch="", path=tree.name, part=tree), "", fold, quiet))
            if len(rows) <= most:
                return rows
    return rows


def _quiet(path: str, part: TreePart, is_quiet: Quiet) -> Iterator[str]:
    """The paths of parts that are calm and quiet, with everything below them."""
    found = [set(_quiet(f"{path}/{each.name}", each, is_quiet)) for each in part.children]
    for paths in found:
        yield from paths
    names = (f"{path}/{each.name}" for each in part.children)
    is_all = all(name in paths for name, paths in zip(names, found, strict=True))
    if part.state == "running" and is_all and is_quiet(path):
        yield path


def _rows(row: Row, trunk: str, fold: _Fold, quiet: set[str]) -> Iterator[Row]:
    part = row.part
    if row.others or (part.children and fold.whole(row.path) and row.path in quiet):
        yield Row(
            branch=row.branch,
            path=row.path,
            part=part,
            below=size_of(part) - 1,
            others=row.others,
        )
        return
    yield row
    entries = list(_entries(row, fold, quiet))
    for number, (each, others) in enumerate(entries, start=1):
        first, rest = ("└─ ", "   ") if number == len(entries) else ("├─ ", "│  ")
        path = f"{row.path}/{each.name}"
        child = Row(branch=trunk + first, path=path, part=each, others=others)
        yield from _rows(child, trunk + rest, fold, quiet)


def _entries(row: Row, fold: _Fold, quiet: set[str]) -> Iterator[tuple[TreePart, tuple[str, ...]]]:
    """The children; folded siblings stand at the place of the first."""
    paths = {each.name: f"{row.path}/{each.name}" for each in row.part.children}
    together = [
        each
        for each in row.part.children
        if fold.together(path := paths[each.name]) and path in quiet and _is_one(path, each)
    ]
    together = together if len(together) > 1 else []
    names = {each.name for each in together}
    for each in row.part.children:
        if each.name not in names:
            yield each, ()
        elif each is together[0]:
            yield each, tuple(name_of(other) for other in together[1:])


def _is_one(path: str, part: TreePart) -> bool:
    """An avatar, or an actor without anything to report."""
    return _is_avatar(path) or not (part.strategy or part.waiting or part.crashes)


# Seconds for which a change is highlighted.
FRESH: Final = 2.0
ALL: Final = 1_000_000
_STATES: Final = {"starting": "cyan", "restarting": "yellow", "stopping": "dim", "stopped": "dim"}
_STATE, _GAP = 7, 2
# With more names in a row, their number is written.
_SEVERAL: Final = 8


class TreeView:
    """Remembers recent changes; `now` is in seconds since the epoch."""

    def __init__(self, style: Style) -> None:
        self.snapshot: TreeSnapshot | None = None
        self._renderer = Renderer(style)
        self._seen: dict[str, tuple[str, int, int]] = {}
        self._changed: dict[str, float] = {}

    def show(self, snapshot: TreeSnapshot, now: float) -> None:
        """Replace the snapshot."""
        seen = dict(_states(snapshot.tree, snapshot.tree.name))
        if self.snapshot is not None:
            fresh = (path for path in seen if seen[path] != self._seen.get(path))
            self._changed.update(dict.fromkeys(fresh, now))
        self._changed = {path: at for path, at in self._changed.items() if path in seen}
        self.snapshot, self._seen = snapshot, seen

    def state_line(self, state: str, width: int) -> str:
        """The line below the tree."""
        return self._renderer.cut(Text.assemble((state, "dim")), width)

    def lines(self, width: int, now: float, most: int = ALL) -> list[str]:
        """The headline and the tree, in at most this many lines; calm parts are folded first."""
        if self.snapshot is None:
            return []
        room = max(2, most) - 1
        rows = rows_of(self.snapshot.tree, room, lambda path: not self._is_fresh(path, now))
        shown = rows if len(rows) <= room else rows[: room - 1]
        texts = [Text.assemble((headline(self.snapshot, now), "dim"))]
        texts += self._rows(shown, width, now)
        if len(rows) > room:
            texts.append(Text.assemble((f"… {len(rows) - len(shown)} more lines", "dim")))
        return [self._renderer.cut(text, width) for text in texts]

    def _is_fresh(self, path: str, now: float) -> bool:
        return now - self._changed.get(path, -FRESH) < FRESH

    def _rows(self, rows: Sequence[Row], width: int, now: float) -> Iterator[Text]:
        """Names in one column, their state in another."""
        names = max((cell_len(_drawn(row)) for row in rows if not row.others), default=0)
        column = min(names, max(8, width - _STATE - _GAP)) + _GAP
        for row in rows:
            count = len(row.others) + 1
            many = f"{count} running: " if count > _SEVERAL else ""
            text = Text.assemble((row.branch, "dim"), (many, "dim"), name_of(row.part))
            if row.others:
                text.append("".join(f", {name}" for name in row.others))
            else:
                if self._is_fresh(row.path, now):
                    text.stylize("bold", len(row.branch))
                text.truncate(column - _GAP, overflow="ellipsis")
                self._describe(text, row, (column, width), now)
            yield text

    def _describe(self, text: Text, row: Row, room: tuple[int, int], now: float) -> None:
        """State and crashes may start before their column; details only if they fit."""
        part, (column, width) = row.part, room
        usual = "green" if self._is_fresh(row.path, now) else ""
        state = Text(state_of(part, now), _STATES.get(part.state, usual))
        matters = Text.assemble(state, (crashes_of(part), "red"))
        start = min(column, width - cell_len(matters.plain))
        text.pad_right(max(_GAP, start - cell_len(text.plain)))
        text.append_text(matters)
        for words, style in _details(row, now):
            if cell_len(text.plain) + cell_len(words) <= width:
                text.append(words, style)


def _details(row: Row, now: float) -> Iterator[tuple[str, str]]:
    if row.part.state == "running":
        yield f"  {age(now - row.part.since)}", "dim"
    for note in notes_of(row.part):
        yield f"  {note}", ""
    if row.below:
        yield f"  {row.below} parts below", "dim"


def _drawn(row: Row) -> str:
    return row.branch + name_of(row.part)


def _states(part: TreePart, path: str) -> Iterator[tuple[str, tuple[str, int, int]]]:
    yield path, (part.state, part.life, part.crashes)
    for child in part.children:
        yield from _states(child, f"{path}/{child.name}")
