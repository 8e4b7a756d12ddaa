"""The counters of a run, fixed in size, and its progress."""

from __future__ import annotations

from msgspec import Struct, field

from avatar_actors import Outcome
from avatar_actors.chaos.questions import NumberedPrompt
from avatar_actors.chaos.report.statistics import Histogram

_EXAMPLES = 20


class Prompts(Struct):
    """Every prompt is in one of these: answered, cancelled as asked, failed, refused or lost."""

    sent: int = 0
    answered: int = 0
    cancelled: int = 0
    failed: int = 0
    refused: int = 0
    lost: int = 0

    def __add__(self, other: Prompts) -> Prompts:
        """The sum."""
        sums = {name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__}
        return Prompts(**sums)

    def __sub__(self, other: Prompts) -> Prompts:
        """The prompts since `other`."""
        rest = {name: getattr(self, name) - getattr(other, name) for name in self.__struct_fields__}
        return Prompts(**rest)

    def add(self, outcome: Outcome) -> None:
        """Counts the outcome of a prompt."""
        if outcome is Outcome.COMPLETED:
            self.answered += 1
        elif outcome is Outcome.CANCELLED:
            self.cancelled += 1
        else:
            self.failed += 1


class RunCounters(Struct):
    """The counters that all avatars share; `in_slice` is `siblings` in the present slice."""

    baseline: Histogram = field(default_factory=Histogram)
    siblings: Histogram = field(default_factory=Histogram)
    in_slice: Histogram = field(default_factory=Histogram)
    disturbed: int = 0
    disturbances: list[str] = field(default_factory=list[str])
    given_up: int = 0
    restarts: int = 0
    is_baseline: bool = True

    def waited(self, question: NumberedPrompt, seconds: float) -> None:
        """Counts how long an avatar without a fault took for its whole answer."""
        if question.cancel_after is not None:
            return
        for waits in (self.baseline,) if self.is_baseline else (self.siblings, self.in_slice):
            waits.add(seconds)

    def disturb(self, words: str) -> None:
        """Counts an avatar without a fault whose prompt had a wrong outcome."""
        self.disturbed += 1
        if len(self.disturbances) < _EXAMPLES:
            self.disturbances.append(words)


class RunProgress(Struct, frozen=True, kw_only=True):
    """How far a run is. `kind` is that of the present slice, if it has one of its own."""

    phase: str
    kind: str = ""
    seconds: float = 0.0
    total: float = 0.0
    faults: int = 0
    planned: int = 0
    missed: int = 0
    restarts: int = 0
    breaches: int = 0
    prompts: Prompts = field(default_factory=Prompts)
    last: str = ""
