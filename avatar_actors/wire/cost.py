"""Sums and reports of usage, for wires whose agents count in their own ways."""

from __future__ import annotations

from avatar_actors.events import CostEvent
from avatar_actors.types import CostSource, Usage


def add(one: Usage, other: Usage) -> Usage:
    """Both together; money that nobody told adds nothing."""
    costs = [usage.cost_usd for usage in (one, other) if usage.cost_usd is not None]
    return Usage(
        cost_usd=sum(costs) if costs else None,
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cached_tokens=one.cached_tokens + other.cached_tokens,
        reasoning_tokens=one.reasoning_tokens + other.reasoning_tokens,
    )


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
