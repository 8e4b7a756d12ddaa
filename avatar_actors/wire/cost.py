"""Reports of usage, for wires whose agents count in their own ways."""

from __future__ import annotations

from avatar_actors.events import CostEvent
from avatar_actors.types import CostSource, Usage


def cost_event(usage: Usage) -> CostEvent:
    """The report of this usage."""
    return CostEvent(
        cost_usd=usage.cost_usd,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cached_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        source=CostSource.UNKNOWN if usage.cost_usd is None else CostSource.REPORTED,
    )
