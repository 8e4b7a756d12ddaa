"""Reports of usage, for wires whose agents count in their own ways."""

from __future__ import annotations

from typing import Final

from avatar_actors.model.events import CostEvent, DiagnosticEvent
from avatar_actors.model.values import CostSource, Usage
from avatar_actors.wire.json_values import is_figure, is_object
from avatar_actors.wire.remarks import remark

_LEVELS: Final = 3
_MOST_NAMES: Final = 8


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


def impossible(report: object) -> list[DiagnosticEvent]:
    """A word about the figures of a report that cannot be, and are therefore not counted."""
    names = ", ".join(_impossible(report, _LEVELS))
    words = f"the agent tells figures that cannot be, not counted: {names}"
    return [remark(words)] if names else []


def _impossible(report: object, levels: int) -> list[str]:
    names: list[str] = []
    for key, value in report.items() if is_object(report) and levels else ():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        names += [key[:80]] if is_number and not is_figure(value) else []
        names += _impossible(value, levels - 1)
    return names[:_MOST_NAMES]
