"""How an event, or a notice of the supervisors, changes the metrics. Knows no exporter."""

from __future__ import annotations

import math
from functools import singledispatchmethod
from typing import Protocol

from avatar_actors.avatar.messages import SlowReaders
from avatar_actors.model.events import (
    AvatarEvent,
    CostEvent,
    OrphansReapedEvent,
    QueueEvent,
    StallEvent,
    SupervisionEvent,
    TurnEndedEvent,
    TurnStartedEvent,
)
from avatar_actors.model.values import CostSource, Usage
from avatar_actors.observe.metrics import catalogue
from avatar_actors.observe.metrics.catalogue import Metric
from supervisors import Crashed, Notice, Restarting, Stopped, Stuck

COUNTED = (
    *(TurnStartedEvent, TurnEndedEvent, CostEvent, StallEvent),
    *(SupervisionEvent, QueueEvent, OrphansReapedEvent),
)
# An avatar's own path is `runtime/avatars/NAME`; what is deeper is a part of it.
_AVATAR = 3
# Exporters count in floats, which are exact up to here.
_MOST_TOKENS = 2**53


class Meters(Protocol):
    """The metrics of an exporter; labels come by their names."""

    def add(self, metric: Metric, amount: float, **labels: str) -> None:
        """Increase a counter."""
        ...

    def observe(self, metric: Metric, value: float, **labels: str) -> None:
        """Record a value in a histogram."""
        ...

    def set(self, metric: Metric, value: float) -> None:
        """Set a gauge."""
        ...


class MetricsAccount:
    """Open turns and waiting prompts, from which the metrics are updated."""

    def __init__(self, meters: Meters) -> None:
        self._meters = meters
        self._turns: dict[tuple[str, int], CostEvent] = {}
        self._waiting: dict[str, int] = {}

    def event(self, event: AvatarEvent) -> None:
        """Update the metrics; most events change nothing."""
        self._take(event)

    @singledispatchmethod
    def _take(self, event: AvatarEvent) -> None:
        pass

    @_take.register
    def _started(self, event: TurnStartedEvent) -> None:
        self._turns[event.avatar, event.turn_id] = CostEvent()
        self._meters.set(catalogue.TURNS, len(self._turns))

    @_take.register
    def _cost(self, event: CostEvent) -> None:
        # A report is its turn's sum so far; outside of turns each one stands alone.
        key = event.avatar, event.turn_id
        self._spend(event, self._turns.get(key, CostEvent()).usage)
        if key in self._turns:
            self._turns[key] = event

    @_take.register
    def _ended(self, event: TurnEndedEvent) -> None:
        last = self._turns.pop((event.avatar, event.turn_id), CostEvent())
        self._spend(_report(event, last.source), last.usage)
        status, provider = event.outcome.value, event.provider
        self._meters.add(catalogue.REQUESTS, 1, provider=provider, status=status)
        if event.duration > 0:  # 0: the prompt never got its turn
            self._meters.observe(catalogue.DURATION, event.duration, provider=provider)
        self._meters.set(catalogue.TURNS, len(self._turns))

    @_take.register
    def _stalled(self, event: StallEvent) -> None:
        verdict = event.verdict.value
        self._meters.add(catalogue.STALLS, 1, provider=event.provider, verdict=verdict)

    @_take.register
    def _supervised(self, event: SupervisionEvent) -> None:
        if event.notice == "restarting":
            part = event.path.rpartition("/")[2]
            self._meters.add(catalogue.RESTARTS, 1, provider=event.provider, part=part)

    @_take.register
    def _queued(self, event: QueueEvent) -> None:
        self._waiting[event.avatar] = event.waiting
        self._meters.set(catalogue.WAITING, sum(self._waiting.values()))

    @_take.register
    def _reaped(self, event: OrphansReapedEvent) -> None:
        self._meters.add(catalogue.ORPHANS, event.count, provider=event.provider)

    def notice(self, notice: Notice) -> None:
        """Update what no avatar's event tells."""
        path = notice.path.split("/")
        match notice:
            case Restarting() if len(path) < _AVATAR:
                self._meters.add(catalogue.RESTARTS, 1, provider="", part=path[-1])
            case Stopped() | Crashed() | Stuck() if len(path) == _AVATAR:
                self._forget(path[-1])
            case _:
                pass

    def slow(self, slow: SlowReaders) -> None:
        """A subscriber was too slow."""
        for metric, count in ((catalogue.MERGED, slow.merged), (catalogue.DROPPED, slow.dropped)):
            if count:
                self._meters.add(metric, count, provider=slow.provider)

    def _spend(self, now: CostEvent, before: Usage) -> None:
        provider, source = now.provider, now.source.value
        cost = (now.cost_usd or 0.0) - (before.cost_usd or 0.0)
        if 0 < cost < math.inf:
            self._meters.add(catalogue.COST, cost, provider=provider, source=source)
        kinds = {
            "input": now.input_tokens - before.input_tokens,
            "output": now.output_tokens - before.output_tokens,
            "cached": now.cached_tokens - before.cached_tokens,
            "reasoning": now.reasoning_tokens - before.reasoning_tokens,
        }
        for kind, tokens in kinds.items():
            if 0 < tokens <= _MOST_TOKENS:
                self._meters.add(catalogue.TOKENS, tokens, provider=provider, kind=kind)

    def _forget(self, avatar: str) -> None:
        self._turns = {key: cost for key, cost in self._turns.items() if key[0] != avatar}
        self._waiting.pop(avatar, None)
        self._meters.set(catalogue.TURNS, len(self._turns))
        self._meters.set(catalogue.WAITING, sum(self._waiting.values()))


def _report(ended: TurnEndedEvent, source: CostSource) -> CostEvent:
    usage = ended.usage
    return CostEvent(
        provider=ended.provider,
        cost_usd=usage.cost_usd,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cached_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        source=source,
    )
