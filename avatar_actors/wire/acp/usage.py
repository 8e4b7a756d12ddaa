"""Measures what the current turn has used, from the four forms in which ACP agents report it."""

from __future__ import annotations

from msgspec.structs import replace

from avatar_actors.model.events import CostEvent
from avatar_actors.model.values import CostSource, JsonObject, Usage
from avatar_actors.wire.acp.schema import PromptResult
from avatar_actors.wire.json_values import as_money, at, count_at
from avatar_actors.wire.shared_events import cost_event


class UsageMeter:
    """Adds up a turn, and subtracts what the session had cost before it.

    A resumed session may report a cost that includes its past. How much is unknown, so its first
    figure is only the mark to count from.
    """

    def __init__(self) -> None:
        self._session_cost: float | None = 0.0
        self._cost: float | None = None
        self._tokens = Usage()
        self._sureness = CostSource.UNKNOWN

    def resumed(self) -> None:
        """The session has a history that we have not seen."""
        self._session_cost = None

    def begin_turn(self) -> None:
        """Start a turn with nothing used."""
        self._cost = None
        self._tokens = Usage()
        self._sureness = CostSource.UNKNOWN

    def usage(self) -> Usage:
        """What the turn has used so far."""
        return replace(self._tokens, cost_usd=self._cost, cost_source=self._sureness)

    def event(self) -> CostEvent:
        """The same as an event."""
        source = self._sureness if self._cost is None else CostSource.REPORTED
        return replace(cost_event(self.usage()), source=source)

    def mark(self, cost: JsonObject) -> None:
        """The cost of a resumed session before our first turn."""
        if self._session_cost is None:
            self._session_cost = _usd(cost)

    def session_costs(self, cost: JsonObject) -> bool:
        """Take the session's total cost of usage_update; whether the turn's cost is now known."""
        amount = _usd(cost)
        if amount is None:
            return False
        before, self._session_cost = self._session_cost, amount
        if before is None:
            return False
        self._cost = (self._cost or 0.0) + max(amount - before, 0.0)
        return True

    def call_used(self, usage: object) -> None:
        """Add a model call, which qwen 0.15.10 reports in the `_meta` of an empty chunk."""
        self._tokens += _camel_tokens(usage)

    def turn_used(self, result: PromptResult) -> bool:
        """Take the turn's tokens from the reply to the prompt; whether it has them."""
        quota = at(result.meta, "quota", "token_count")
        tellers = (
            (_camel_tokens(result.usage), CostSource.UNKNOWN),
            # Thoughts are missing and cached tokens are not separate: a cost computed from
            # this is only an estimate.
            (_snake_tokens(quota), CostSource.ESTIMATED),
        )
        for tokens, sureness in tellers:
            if tokens != Usage():
                # opencode 1.18.33 reports only the last model call here, and nothing else.
                self._tokens, self._sureness = tokens, sureness
                return True
        return False


def _usd(cost: JsonObject) -> float | None:
    return as_money(cost.get("amount")) if cost.get("currency", "USD") == "USD" else None


def _camel_tokens(usage: object) -> Usage:
    """codex-acp 2.6.0 and claude-agent-acp 0.49.0: the input excludes cached tokens."""
    written = count_at(usage, "cachedWriteTokens")
    return Usage(
        input_tokens=count_at(usage, "inputTokens") + written,
        output_tokens=count_at(usage, "outputTokens"),
        cached_tokens=count_at(usage, "cachedReadTokens"),
        reasoning_tokens=count_at(usage, "thoughtTokens"),
    )


def _snake_tokens(quota: object) -> Usage:
    """gemini 0.61.0: only these two, nothing about cached tokens or thoughts."""
    return Usage(
        input_tokens=count_at(quota, "input_tokens"),
        output_tokens=count_at(quota, "output_tokens"),
    )
