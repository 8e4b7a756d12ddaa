"""Which rows a tree has on a screen: all of it where there is room, else what is calm is folded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from msgspec import Struct

from avatar_actors import TreePart
from avatar_actors.cli.tree.wording import name_of, size_of

Quiet: TypeAlias = Callable[[str], bool]
_AVATAR: Final = 3


class Row(Struct, frozen=True, kw_only=True):
    """One line. `branch` draws the way to it, `below` counts what is folded into it.

    `others` are the names of its siblings, if it stands for several.
    """

    branch: str
    path: str
    part: TreePart
    below: int = 0
    others: tuple[str, ...] = ()


class _Fold(Struct, frozen=True):
    """What becomes one row if it is calm: a part with all below it, several siblings."""

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


# From everything to as little as can be.
_FOLDS: Final = (
    _Fold(_never, _never),
    _Fold(_never, _is_post),
    _Fold(_never, _is_no_avatar),
    _Fold(_is_avatar, _is_no_avatar),
    _Fold(_is_avatar, _always),
)


def rows_of(tree: TreePart, most: int, is_quiet: Quiet) -> list[Row]:
    """At most so many, if folding helps; what is not quiet has just changed and is folded last."""
    rows: list[Row] = []
    for folds, is_foldable in ((_FOLDS, is_quiet), (_FOLDS[1:], _always)):
        quiet = set(_quiet(tree.name, tree, is_foldable))
        for fold in folds:
            rows = list(_rows(Row(branch="", path=tree.name, part=tree), "", fold, quiet))
            if len(rows) <= most:
                return rows
    return rows


def _quiet(path: str, part: TreePart, is_quiet: Quiet) -> Iterator[str]:
    """The paths of those that are calm and quiet, with all below them."""
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
    """The children; those that go together stand where the first of them stood."""
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
    """An avatar, or an actor of which there is nothing to tell."""
    return _is_avatar(path) or not (part.strategy or part.waiting or part.crashes)
