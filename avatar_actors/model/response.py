"""The whole answer to a prompt, as one value."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from avatar_actors.model.events import TurnEndedEvent
from avatar_actors.model.values import CostSource, Outcome, ToolCall, Usage


class BridgeResponse(Struct, frozen=True, kw_only=True):
    """The answer to one prompt; true if the agent finished it.

    `data` is the validated object where a schema was asked for. `tool_calls` are all of the turn.
    `is_cut`: there was more text than the avatar's `max_answer`; it was told by events alone.
    """

    content: str
    outcome: Outcome
    error: str = ""
    turn_id: int = 0
    session_id: str = ""
    duration_ms: int = 0
    usage: Usage = Usage()
    data: Any = None
    tool_calls: tuple[ToolCall, ...] = ()
    unknown_tools: tuple[str, ...] = ()
    can_retry: bool = False
    is_cut: bool = False

    def __bool__(self) -> bool:
        return self.success

    @property
    def success(self) -> bool:
        """Whether the agent finished its answer."""
        return self.outcome is Outcome.COMPLETED

    @property
    def cost_usd(self) -> float | None:
        """What the turn cost, if anybody can say it."""
        return self.usage.cost_usd

    @property
    def cost_source(self) -> CostSource:
        """Who says so."""
        return self.usage.cost_source

    @property
    def token_usage(self) -> dict[str, int]:
        """The tokens alone, by their kind."""
        return {
            "input": self.usage.input_tokens,
            "output": self.usage.output_tokens,
            "cached": self.usage.cached_tokens,
            "reasoning": self.usage.reasoning_tokens,
        }


def response_of(ended: TurnEndedEvent) -> BridgeResponse:
    """The answer that this end of a turn tells."""
    return BridgeResponse(
        content=ended.text,
        outcome=ended.outcome,
        error="" if ended.outcome is Outcome.COMPLETED else ended.reason,
        turn_id=ended.turn_id,
        session_id=ended.session_id,
        duration_ms=round(ended.duration * 1000),
        usage=ended.usage,
        data=ended.data,
        tool_calls=ended.tool_calls,
        unknown_tools=ended.unknown_tools,
        can_retry=ended.can_retry,
        is_cut=ended.is_cut,
    )
