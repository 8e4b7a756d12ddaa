"""The turns of Claude and Gemini: a queue that tells its state, and prompts that are folded in."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from avatar_actors.programs.embedded.script.script import TurnPlayer
from avatar_actors.programs.embedded.turn import AgentTurn, PendingTurns

if TYPE_CHECKING:
    from collections.abc import Callable

    from avatar_actors.programs.embedded.process import ProcessControl


def _nothing() -> None:
    pass


class ObservedTurns(PendingTurns):
    """Tells when it is idle, and gives waiting turns back."""

    def __init__(
        self, play: Callable[[AgentTurn], None], on_idle: Callable[[], None] = _nothing
    ) -> None:
        super().__init__(play)
        self._on_idle = on_idle

    def waiting(self) -> list[AgentTurn]:
        """The turns that have not begun."""
        with self._changed:
            return list(self._waiting)

    def take(self, wanted: Callable[[AgentTurn], bool]) -> list[AgentTurn]:
        """Removes and returns those of the waiting turns that are wanted."""
        with self._changed:
            taken = [turn for turn in self._waiting if wanted(turn)]
            self._waiting = deque(turn for turn in self._waiting if turn not in taken)
        return taken

    def wait_until_idle(self) -> None:
        """Returns once nothing is played and nothing waits."""
        with self._changed:
            while self._is_running:
                # Not forever, so that a signal is never seen late.
                self._changed.wait(1)

    def settle(self) -> None:
        """Checks again whether it is idle, after something else has ended."""
        with self._changed:
            if not self._is_running:
                self._on_idle()

    def _next(self) -> AgentTurn | None:
        with self._changed:
            turn = super()._next()
            if turn is None:
                self._on_idle()
                self._changed.notify_all()
            return turn


class FoldingPlayer(TurnPlayer):
    """Plays a turn with the prompts that were folded into it meanwhile."""

    def __init__(self, control: ProcessControl) -> None:
        super().__init__(control)
        self._folded: dict[AgentTurn, list[str]] = {}

    def fold(self, turn: AgentTurn, prompt: str) -> None:
        """Has the running turn answer this prompt too."""
        self._folded.setdefault(turn, []).append(prompt)

    def perform(self, turn: AgentTurn) -> None:
        super().perform(turn)
        while folded := self._folded.get(turn):
            turn.prompt = turn.words = folded.pop(0)
            super().perform(turn)
        self._folded.pop(turn, None)


class PatientPlayer(TurnPlayer):
    """Plays the steps for after the result before it returns."""

    def play(self, turn: AgentTurn) -> None:
        turn.run(self.perform)
        self.play_late(turn)
