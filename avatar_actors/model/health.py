"""How an avatar does, as its host may ask at any time."""

from __future__ import annotations

from msgspec import Struct

from avatar_actors.model.values import BridgeState, Continuity, Usage


class HealthStatus(Struct, frozen=True, kw_only=True):
    """How an avatar does; `continuity` is what its agent remembered when it was last started."""

    state: BridgeState
    provider: str
    session_id: str = ""
    continuity: Continuity = Continuity.NEW
    continuity_why: str = ""
    pid: int | None = None
    returncode: int | None = None
    uptime_seconds: float = 0.0
    restarts: int = 0
    turns: int = 0
    waiting: int = 0
    history_length: int = 0
    total: Usage = Usage()

    @property
    def is_healthy(self) -> bool:
        """Whether a prompt would be taken now or after those that wait."""
        return self.state in {BridgeState.READY, BridgeState.BUSY}

    healthy = is_healthy

    @property
    def total_cost_usd(self) -> float:
        """What is known to have been spent."""
        return self.total.cost_usd or 0.0
