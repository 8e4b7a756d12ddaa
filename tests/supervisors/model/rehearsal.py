"""A script: a tree, the steps that are done to it, and what the model says must come of each."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass

from tests.supervisors.model.plans import Step, Team, Thaw
from tests.supervisors.model.rules import Model, Unpredictable
from tests.supervisors.model.trace import Trace


@dataclass(frozen=True)
class Prediction:
    """What must come of a step: when all is at rest again, and how things stand then.

    Without a step it is about the end, when the host leaves its block.
    """

    step: Step | None
    now: float
    trace: Trace
    answers: dict[int, str]
    picture: list[str]


@dataclass(frozen=True)
class Script:
    """What to play on a real tree."""

    plan: Team
    predictions: Sequence[Prediction]
    raised: str | None


class Rehearsal:
    """Plays steps with the model alone, and so writes the script."""

    def __init__(self, plan: Team) -> None:
        self.model = Model(plan)
        self._plan = plan
        self._predictions: list[Prediction] = []

    def take(self, step: Step) -> None:
        """One more step, unless nobody could say what must come of it."""
        before = deepcopy(self.model) if self.model.may_be_unpredictable else self.model
        try:
            self._note(step, self.model.play(step))
        except Unpredictable:
            self.model = before

    def end(self) -> Script:
        """No more steps: the host leaves."""
        if self.model.frozen is not None:
            self.take(Thaw())
        self._note(None, self.model.close())
        return Script(self._plan, self._predictions, self.model.raised)

    def _note(self, step: Step | None, trace: Trace) -> None:
        model = self.model
        self._predictions.append(
            Prediction(step, model.now, trace, dict(model.answers), model.picture())
        )
