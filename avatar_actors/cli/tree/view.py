"""Draws snapshots of a tree as lines of text; calm parts are folded where there is no room."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from msgspec import Struct
from rich.cells import cell_len
from rich.text import Text

from avatar_actors import TreeChange, TreeHappening, TreePart, TreeSnapshot
from avatar_actors.cli.terminal.rendering import Renderer, Style
from avatar_actors.cli.terminal.text import one_line

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


MINUTE, HOUR, DAY = 60, 3600, 86400
_TROUBLES: Final = (
    TreeHappening.CRASHED,
    TreeHappening.RESTARTING,
    TreeHappening.GAVE_UP,
    TreeHappening.STUCK,
)
_SOON: Final = 0.05
_DOING: Final = {
    "thinking": "busy: thinking",
    "responding": "busy: responding",
    "tool_executing": "busy: running a tool",
    "waiting_approval": "asking",
    "error": "no agent",
}
_AVATARS: Final = "runtime/avatars/"


def name_of(part: TreePart) -> str:
    """Its name, cleaned: hosts choose the names of avatars."""
    return one_line(part.name) or "?"


def age(seconds: float) -> str:
    """Short, and seldom changing: `7s`, `2m`, `1h 02m`, `3d 04h`."""
    whole = max(0, int(seconds))
    if whole < MINUTE:
        return f"{whole}s"
    if whole < HOUR:
        return f"{whole // MINUTE}m"
    if whole < DAY:
        return f"{whole // HOUR}h {whole % HOUR // MINUTE:02}m"
    return f"{whole // DAY}d {whole % DAY // HOUR:02}h"


def state_of(part: TreePart, now: float) -> str:
    """Its state, and when it will restart."""
    if part.due is not None and part.due > now:
        return f"{part.state} in {part.due - now:.1f}s"
    return part.state


def crashes_of(part: TreePart) -> str:
    """How often it crashed, after a gap; empty if it did not."""
    match part.crashes:
        case 0:
            return ""
        case 1:
            return "  crashed once"
        case crashes:
            return f"  crashed {crashes} times"


def notes_of(part: TreePart) -> Iterator[str]:
    """What an avatar does, its process, restarts and waiting messages, if any."""
    if part.doing:
        yield _DOING.get(part.doing, part.doing.replace("_", " "))
    if part.prompts:
        yield f"{part.prompts} prompt{'s' if part.prompts > 1 else ''} waiting"
    if part.pid is not None:
        yield f"pid {part.pid}"
    if part.life > 1:
        yield f"life {part.life}"
    if part.waiting:
        yield f"{part.waiting} waiting"


def avatars_of(snapshot: TreeSnapshot) -> list[TreePart]:
    """The avatars in the snapshot."""
    parts = (part for part in snapshot.tree.children if part.name == "avatars")
    return [avatar for part in parts for avatar in part.children]


def is_calm(part: TreePart) -> bool:
    """Whether it and everything below it runs."""
    return part.state == "running" and all(map(is_calm, part.children))


def size_of(part: TreePart) -> int:
    """The number of parts, itself included."""
    return 1 + sum(map(size_of, part.children))


def is_notable(change: TreeChange) -> bool:
    """Whether it is trouble, an avatar that comes or goes, or a session that is ready."""
    path = change.path.removeprefix(_AVATARS)
    is_avatar = path != change.path and "/" not in path
    is_session = path.endswith("/session") and change.what is TreeHappening.READY
    return change.what in _TROUBLES or is_avatar or is_session


def change_line(change: TreeChange) -> str:
    """One line: when, who, what."""
    clock = time.strftime("%H:%M:%S", time.localtime(change.time))
    path = change.path.removeprefix(_AVATARS).removeprefix("runtime/")
    what = change.what.value.replace("_", " ")
    if change.what is TreeHappening.RESTARTING:
        what += f" in {change.delay:.1f}s" if change.delay >= _SOON else " now"
    if change.error:
        what += f" ({change.error})"
    return one_line(f"{clock} {path}: {what}")


def headline(snapshot: TreeSnapshot, now: float) -> str:
    """The program, its pid, its age and its avatars."""
    count = len(avatars_of(snapshot))
    avatars = f"{count} avatar{'' if count == 1 else 's'}"
    program, running = one_line(snapshot.program), age(now - snapshot.since)
    return f"{program} · process {snapshot.pid} · {running} · {avatars}"
