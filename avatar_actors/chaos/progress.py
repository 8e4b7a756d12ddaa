"""How far a run is, for who watches it."""

from __future__ import annotations

from msgspec import Struct, field

from avatar_actors.chaos.counters import Prompts


class Progress(Struct, frozen=True, kw_only=True):
    """How far a run is. `kind`: that of the present slice, where each has its own."""

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
