"""What a reader of the notices knows: who crashed, who comes back when, which budget is left."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from examples.spans import EMPTY, Line, Span, Style
from supervisors import (
    Crashed,
    DeadLetter,
    GaveUp,
    Notice,
    Ready,
    Restarting,
    Started,
    Stopped,
    Stuck,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from examples.bakery import Budget


class NoticeLog:
    """Facts by path, and the last lines of the story. The time of everything is trio's."""

    def __init__(self, budgets: Mapping[str, Budget], began: float) -> None:
        self.log: deque[Line] = deque(maxlen=50)
        self.crashed_at: dict[str, float] = {}
        self.delays: dict[str, tuple[float, float]] = {}
        self._budgets = budgets
        self._spent: dict[str, list[float]] = {path: [] for path in budgets}
        self._began = began

    def add(self, notice: Notice) -> Line:
        """Take a notice in; its line for people, empty where there is nothing to say."""
        self._remember(notice)
        said = told(notice)
        if not said:
            return EMPTY
        line = (Span(f"{notice.time - self._began:5.1f} s  ", Style.DIM), *said)
        self.log.append(line)
        return line

    def budget(self, path: str, now: float) -> tuple[int, int] | None:
        """How many restarts a supervisor has left, of how many."""
        if path not in self._budgets:
            return None
        allowed, period = self._budgets[path].intensity, self._budgets[path].period
        spent = sum(time >= now - period for time in self._spent[path])
        return allowed - spent, allowed

    def _remember(self, notice: Notice) -> None:
        path = notice.path
        match notice:
            case Crashed(time=time):
                self.crashed_at[path] = time
            case Restarting(time=time, delay=delay):
                self.delays[path] = (time, delay)
                self._spent[path.rpartition("/")[0]].append(time)
            case Started():
                self.delays.pop(path, None)
                if path in self._spent:
                    self._spent[path].clear()
            case _:
                pass


def told(notice: Notice) -> Line:
    """One notice as a sentence; nothing for those that say little to people."""
    name = notice.path.rpartition("/")[2]
    match notice:
        case Ready(life=1):
            said = ("●", Style.GOOD, "is up")
        case Ready(life=life):
            said = ("●", Style.GOOD, f"is up again, life {life}")
        case Crashed(error=error):
            said = ("✖", Style.BAD, f"crashed: {type(error).__name__}: {error}")
        case Restarting(delay=0):
            said = ("↻", Style.WAITING, "comes back at once")
        case Restarting(delay=delay):
            said = ("↻", Style.WAITING, f"comes back in {delay:.1f} s")
        case Stopped(exit=exit):
            said = ("○", Style.DIM, exit.kind.value)
        case GaveUp(child=child):
            said = ("✖", Style.BAD, f"gave up: {child.rpartition('/')[2]} used up its restarts")
        case Stuck():
            said = ("✖", Style.BAD, "ignores its stop")
        case DeadLetter(why=why):
            said = ("▫", Style.DIM, f"lost a message: {why.value}")
        case _:
            return EMPTY
    sign, style, what = said
    return Span(f"{sign} ", style), Span(name, Style.BOLD), Span(f" {what}", style)
