"""Measures what a turn has used, from the cumulative figures of the CLI."""

from __future__ import annotations

from typing import Final

from avatar_actors.model.events import AvatarEvent, ContextEvent
from avatar_actors.model.values import Usage
from avatar_actors.wire.claude.lines import ClaudeResultLine
from avatar_actors.wire.json_values import as_money, at, count_at, is_object
from avatar_actors.wire.shared_events import cost_event, impossible

NOTHING: Final = (Usage(), Usage(cost_usd=0.0))


class Meter:
    """Tokens and cost of the current turn.

    `input_tokens` were not read from the cache; `cached_tokens` were.

    Money: `total_cost_usd` counts up for the life of the process, and 2.1.325 restores it on
    --resume while 2.1.197 begins at 0. Nobody says the restored amount before the first result, so
    the difference would charge the whole past to the first turn. `model_usage_since_last_result`
    (2.1.325) has no such memory and holds what sub-agents used too (`usage` does not), so it is
    summed. Without it the CLI is an old one, which begins at 0, and the difference is right.
    """

    def __init__(self) -> None:
        self._total_cost = 0.0
        self._settled = Usage()
        self._running = Usage()
        self._context = 0

    @property
    def turn(self) -> Usage:
        """What the current turn has used so far."""
        return self._settled + self._running

    def begin(self) -> None:
        """Start a turn with nothing used."""
        self._settled = self._running = Usage()

    def message(self, usage: object) -> list[AvatarEvent]:
        """A message of the model is complete; its cost comes only with the result."""
        used = _tokens(usage)
        self._context = used.tokens
        self._running += used
        return [*impossible(usage), *([] if used in NOTHING else [cost_event(self.turn)])]

    def result(self, result: ClaudeResultLine) -> list[AvatarEvent]:
        """Replace what was counted since the previous result with its figures."""
        used = self._used_by(result)
        if used in NOTHING:
            # 2.1.325 does not count an interrupted message, though it had started.
            used += self._running
        self._settled += used
        self._running = Usage()
        told = [] if self.turn == Usage() else [cost_event(self.turn)]
        return [*_odd(result), *told, *self._fill(result)]

    def outside(self, result: ClaudeResultLine) -> list[AvatarEvent]:
        """What a run outside of any turn has used."""
        used = self._used_by(result)
        return [*_odd(result), *([] if used in NOTHING else [cost_event(used)])]

    def _fill(self, result: ClaudeResultLine) -> list[AvatarEvent]:
        sizes = [count_at(model, "contextWindow") for model in _values(result.model_usage)]
        if not (self._context and sizes):
            return []
        # Sub-agents may run on smaller models; the main one has the widest window.
        return [ContextEvent(used_tokens=self._context, size_tokens=max(sizes))]

    def _used_by(self, result: ClaudeResultLine) -> Usage:
        total = as_money(result.total_cost_usd)
        spent = None if total is None else max(0.0, total - self._total_cost)
        self._total_cost = self._total_cost if total is None else total
        if not is_object(result.model_usage_since_last_result):
            return _tokens(result.usage) + Usage(cost_usd=spent)
        used = Usage(cost_usd=0.0)
        for model in _values(result.model_usage_since_last_result):
            used += _model_usage(model)
        return used


def _odd(result: ClaudeResultLine) -> list[AvatarEvent]:
    told = {
        "total_cost_usd": result.total_cost_usd,
        "usage": result.usage,
        "model_usage_since_last_result": result.model_usage_since_last_result,
    }
    return [*impossible(told)]


def _values(models: object) -> list[object]:
    return list(models.values()) if is_object(models) else []


def _tokens(usage: object) -> Usage:
    written = count_at(usage, "cache_creation_input_tokens")
    return Usage(
        input_tokens=count_at(usage, "input_tokens") + written,
        output_tokens=count_at(usage, "output_tokens"),
        cached_tokens=count_at(usage, "cache_read_input_tokens"),
        reasoning_tokens=count_at(usage, "output_tokens_details", "thinking_tokens"),
    )


def _model_usage(usage: object) -> Usage:
    written = count_at(usage, "cacheCreationInputTokens")
    return Usage(
        cost_usd=as_money(at(usage, "costUSD")),
        input_tokens=count_at(usage, "inputTokens") + written,
        output_tokens=count_at(usage, "outputTokens"),
        cached_tokens=count_at(usage, "cacheReadInputTokens"),
        reasoning_tokens=count_at(usage, "thinkingTokens"),
    )
