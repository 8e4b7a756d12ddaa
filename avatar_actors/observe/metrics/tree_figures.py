"""Figures that are read off the supervision tree, from whichever thread somebody wants them."""

from __future__ import annotations

import queue
from collections import Counter
from collections.abc import Callable, Mapping

import trio
from msgspec import Struct

from supervisors import Phase, TreeNode

# What an exporter's thread waits for the loop; then it gets what was read last.
_PATIENCE = 1.0
_AVATAR = 3


class Figures(Struct, frozen=True):
    """The tree at one moment: sessions that are up, messages that wait by kind of actor."""

    sessions: int = 0
    depths: Mapping[str, int] = {}


class TreeFigures:
    """Made in the loop that the tree lives in."""

    def __init__(self, tree: Callable[[], TreeNode]) -> None:
        self._tree = tree
        self._loop = trio.lowlevel.current_trio_token()
        self._last = self._read()

    def now(self) -> Figures:
        """The tree as it is; a loop that does not answer in time leaves it as it was."""
        if self._is_here():
            return self._read()
        answer: queue.SimpleQueue[Figures] = queue.SimpleQueue()
        try:
            self._loop.run_sync_soon(lambda: answer.put(self._read()))
            return answer.get(timeout=_PATIENCE)
        except (trio.RunFinishedError, queue.Empty):
            return self._last

    def _is_here(self) -> bool:
        try:
            return trio.lowlevel.current_trio_token() is self._loop
        except RuntimeError:
            return False

    def _read(self) -> Figures:
        self._last = figures_of(self._tree())
        return self._last


def figures_of(tree: TreeNode) -> Figures:
    """The sums over the whole tree."""
    sessions, depths = 0, Counter[str]()
    for node in tree.walk():
        is_avatar = len(node.path.split("/")) == _AVATAR
        depths["avatar" if is_avatar else node.name] += node.waiting
        sessions += node.name == "session" and not is_avatar and node.phase is Phase.RUNNING
    return Figures(sessions, dict(depths))
