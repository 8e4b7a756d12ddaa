"""Draws the living tree: one line for each place, from a snapshot and what the notices told."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from examples.spans import Line, Span, Style, padded
from supervisors import Phase, TreeNode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from examples.notice_log import NoticeLog

NAME_COLUMNS = 14
STATE_COLUMNS = 16
ROOM_FOR_LABELS = 59
CRASH_SHOWS_FOR = 0.7
MOST_LETTERS = 8
BAR = 10

LOOKS = {
    Phase.STARTING: ("◐", Style.BUSY),
    Phase.RUNNING: ("●", Style.GOOD),
    Phase.STOPPING: ("◑", Style.BUSY),
    Phase.RESTARTING: ("↻", Style.WAITING),
    Phase.STOPPED: ("○", Style.DIM),
    Phase.GONE: ("○", Style.DIM),
}


class Moment(NamedTuple):
    """For when and for how much room a picture is made."""

    now: float
    columns: int


class TreeView:
    """Remembers every place it has seen, so that nothing jumps when a branch is gone."""

    def __init__(self, notices: NoticeLog) -> None:
        self._notices = notices
        self._names: dict[str, list[str]] = {}

    def lines(self, root: TreeNode, moment: Moment) -> list[Line]:
        """The picture of this moment."""
        nodes = {node.path: node for node in root.walk()}
        for node in nodes.values():
            known = self._names.setdefault(node.path, [])
            known += [child.name for child in node.children if child.name not in known]
        return list(self._branch(root.path, nodes, "", "", moment))

    def _branch(
        self, path: str, nodes: dict[str, TreeNode], first: str, rest: str, moment: Moment
    ) -> Iterator[Line]:
        yield self._line(path, nodes.get(path), first, moment)
        names = self._names.get(path, [])
        for name in names:
            last = name == names[-1]
            yield from self._branch(
                f"{path}/{name}",
                nodes,
                rest + ("└─ " if last else "├─ "),
                rest + ("   " if last else "│  "),
                moment,
            )

    def _line(self, path: str, node: TreeNode | None, prefix: str, moment: Moment) -> Line:
        name = path.rpartition("/")[2]
        branch = Span(prefix, Style.DIM)
        label = padded(name, NAME_COLUMNS - len(prefix))
        if node is None or node.phase in (Phase.STOPPED, Phase.GONE):
            return branch, Span(label, Style.DIM), Span("○ stopped", Style.DIM)
        is_supervisor = path in self._names and node.strategy is not None
        return (
            branch,
            Span(label, Style.BOLD if is_supervisor else Style.PLAIN),
            *self._state(node, moment),
            *life(node, moment),
            *(self._budget(path, moment) if is_supervisor else letters(node.waiting)),
        )

    def _state(self, node: TreeNode, moment: Moment) -> Line:
        sign, style = LOOKS[node.phase]
        word = node.phase.value
        since = moment.now - self._notices.crashed_at.get(node.path, -1000)
        if since < CRASH_SHOWS_FOR:
            sign, style, word = "✖", Style.BAD, "crashed"
        elif node.phase is Phase.RESTARTING and node.path in self._notices.delays:
            return self._countdown(node.path, moment)
        elif node.strategy is not None and node.phase is Phase.RUNNING:
            return Span(f"{sign} ", style), Span(padded(node.strategy.value, STATE_COLUMNS - 2))
        return (Span(padded(f"{sign} {word}", STATE_COLUMNS), style),)

    def _countdown(self, path: str, moment: Moment) -> Line:
        since, delay = self._notices.delays[path]
        left = max(0.0, since + delay - moment.now)
        text = padded(f"↻ back in {left:.1f} s", STATE_COLUMNS)
        if moment.columns < ROOM_FOR_LABELS:
            return (Span(text, Style.WAITING),)
        full = round(BAR * (1 - left / delay)) if delay else BAR
        bar = "▰" * full + "▱" * (BAR - full) + "  "
        return Span(text, Style.WAITING), Span(bar, Style.WAITING)

    def _budget(self, path: str, moment: Moment) -> Line:
        budget = self._notices.budget(path, moment.now)
        if budget is None:
            return ()
        left, allowed = budget
        style = Style.GOOD if left > 1 else Style.BUSY if left else Style.BAD
        bar = Span("●" * left + "○" * (allowed - left), style)
        if moment.columns < ROOM_FOR_LABELS:
            return (bar,)
        return bar, Span(" restarts left" if left else " no restart left", Style.DIM)


def life(node: TreeNode, moment: Moment) -> Line:
    """Which life of the child this is."""
    text = f"life {node.life}  " if moment.columns >= ROOM_FOR_LABELS else f"×{node.life} "
    return (Span(text, Style.DIM if node.life == 1 else Style.FACT),)


def letters(waiting: int) -> Line:
    """The mail that waits, as many as can be shown."""
    more = f" +{waiting - MOST_LETTERS}" if waiting > MOST_LETTERS else ""
    return (Span("▪" * min(waiting, MOST_LETTERS) + more, Style.FACT),)
