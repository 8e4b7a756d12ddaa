"""The turn that the agent began by itself, if one runs. A part of the turn queue.

Nobody waits for its outcome, and it holds up no prompt. But it has events, an outcome and a line in
the history, it counts for the budgets, and it can be interrupted.
"""

from __future__ import annotations

import time

from msgspec import Struct

from avatar_actors.avatar.actors.turn_limits import TurnLimits
from avatar_actors.avatar.messages import BeginTurn, EndTurn, TrackerMessage
from avatar_actors.avatar.state.session_state import History
from avatar_actors.model.values import Outcome
from avatar_actors.session.messages import (
    BridgeMessage,
    CancelTurn,
    GatekeeperMessage,
    QuestionsOver,
    TurnEnding,
    UnaskedTurnStarted,
)
from supervisors import Address


class _Unasked(Struct):
    turn_id: int
    cause: str
    bridge: Address[BridgeMessage]
    is_ending: bool = False


class UnaskedTurns:
    """At most one at a time; their numbers count down from -1."""

    def __init__(
        self,
        history: History,
        limits: TurnLimits,
        tracker: Address[TrackerMessage],
        gatekeeper: Address[GatekeeperMessage],
    ) -> None:
        self._history, self._limits = history, limits
        self._tracker, self._gatekeeper = tracker, gatekeeper
        self._count = 0
        self._present: _Unasked | None = None

    @property
    def is_running(self) -> bool:
        """Whether the agent speaks unasked."""
        return self._present is not None

    @property
    def is_ending(self) -> bool:
        """Whether it has been told to end the turn, and has not done so yet."""
        return self._present is not None and self._present.is_ending

    async def begin(self, started: UnaskedTurnStarted) -> int:
        """The agent began a turn; returns its number."""
        self._count += 1
        turn_id = -self._count
        self._present = _Unasked(turn_id, started.cause, started.bridge)
        self._limits.begin_unasked(turn_id)
        await self._tracker.tell(BeginTurn(turn_id, started.cause))
        return turn_id

    async def interrupt(self, turn_id: int, requested: TurnEnding) -> bool:
        """End this one, or whichever runs (0), by the agent's protocol; False if there is none."""
        present = self._present
        if present is None or turn_id not in {0, present.turn_id}:
            return False
        present.is_ending = True
        cancel = CancelTurn(present.turn_id, requested.outcome, requested.reason)
        await present.bridge.tell(cancel)
        return True

    async def lost(self, why: str, *, has_died: bool) -> bool:
        """The session has ended, and with it the turn; False if there was none."""
        if self._present is None:
            return False
        outcome = Outcome.CRASHED if has_died else Outcome.CANCELLED
        return await self.end(self._present.turn_id, TurnEnding(outcome=outcome, reason=why))

    async def end(self, turn_id: int, ending: TurnEnding, session_id: str = "") -> bool:
        """The turn is over: publish its outcome and keep its text; False if it was over before."""
        present = self._present
        if present is None or present.turn_id != turn_id:
            return False
        self._present = None
        await self._gatekeeper.ask(QuestionsOver(turn_id))
        await self._limits.settle(turn_id, ending.outcome)
        ended = await self._tracker.ask(EndTurn(turn_id, ending, session_id))
        self._history.add(present.cause, ended, time.time())
        return True
