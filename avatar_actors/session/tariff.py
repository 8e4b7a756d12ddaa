"""Puts the cost to what an agent tells of its usage, knowing the model it works with. Pure."""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from avatar_actors.model.events import CostEvent, SessionInfoEvent
from avatar_actors.model.prices import PriceList
from avatar_actors.wire.facts import Opened, TurnOver

F = TypeVar("F")


class Tariff:
    """Goes over the facts of one session, in their order."""

    def __init__(self, prices: PriceList) -> None:
        self._prices = prices
        self._model = ""

    def applied(self, fact: F) -> F:
        """The same fact; if it tells of usage, with its cost and where that comes from."""
        if isinstance(fact, CostEvent):
            usage = self._prices.labelled(fact.usage, self._model)
            return replace(fact, cost_usd=usage.cost_usd, source=usage.cost_source)
        if isinstance(fact, TurnOver):
            return replace(fact, usage=self._prices.labelled(fact.usage, self._model))
        if isinstance(fact, Opened | SessionInfoEvent):
            self._model = fact.model or self._model
        return fact
