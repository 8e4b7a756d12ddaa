"""What models cost: a dated table, and the cost of turns whose agents tell tokens only. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from avatar_actors.model.checks import check_fields
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.values import CostSource, Usage

PRICES_AS_OF: Final = "2026-11-05"
_HIGHEST: Final = 1e9


class Price(Struct, frozen=True, kw_only=True):
    """USD per million tokens: of input, of input that was read from a cache, of output."""

    input: float
    output: float
    cached: float

    def __post_init__(self) -> None:
        check_fields(self)
        if not all(0 <= price <= _HIGHEST for price in (self.input, self.output, self.cached)):
            raise SettingsError(f"a price is at least 0 and at most {_HIGHEST:g} USD; got {self}")


def _price(given: float, output: float, cached: float) -> Price:
    return Price(input=given, output=output, cached=cached)


# List prices of the makers' own APIs, standard tier, prompts of usual length: batch, priority and
# long-context tariffs differ. A model that is not here has no price: it is never guessed from
# another version. Writing to a cache is counted as input.
PRICES: Final[Mapping[str, Price]] = {
    "claude-opus-5-5": _price(4.00, 20.00, 0.20),
    "claude-opus-5": _price(5.00, 25.00, 0.50),
    "claude-opus-4-8": _price(5.00, 25.00, 0.50),
    "claude-opus-4-5": _price(5.00, 25.00, 0.50),
    "claude-opus-4-1": _price(15.00, 75.00, 1.50),
    "claude-sonnet-5-5": _price(2.00, 10.00, 0.20),
    "claude-sonnet-5": _price(2.00, 10.00, 0.20),
    "claude-sonnet-4-6": _price(3.00, 15.00, 0.30),
    "claude-sonnet-4-5": _price(3.00, 15.00, 0.30),
    "claude-haiku-4-5": _price(1.00, 5.00, 0.10),
    # Until the end of 2026; twice as much from then on.
    "gemini-3.8-flash": _price(0.75, 3.75, 0.075),
    "gemini-3.5-flash": _price(1.50, 9.00, 0.15),
    "gemini-2.5-pro": _price(1.25, 10.00, 0.125),
    "gemini-2.5-flash": _price(0.30, 2.50, 0.03),
    "gemini-2.5-flash-lite": _price(0.10, 0.40, 0.01),
    "gpt-6.1-sol": _price(2.00, 10.00, 0.10),
    "gpt-6-sol": _price(2.00, 10.00, 0.20),
    "gpt-5.3-codex": _price(1.75, 14.00, 0.175),
    "gpt-5.2-codex": _price(1.75, 14.00, 0.175),
    "gpt-5.2": _price(1.75, 14.00, 0.175),
    "gpt-5.1-codex": _price(1.25, 10.00, 0.125),
    "gpt-5.1": _price(1.25, 10.00, 0.125),
    "gpt-5-codex": _price(1.25, 10.00, 0.125),
    "gpt-5-mini": _price(0.25, 2.00, 0.025),
    "gpt-5-nano": _price(0.05, 0.40, 0.005),
    "gpt-5": _price(1.25, 10.00, 0.125),
}

# How agents dress a model's name: "models/…", "anthropic/…", "…[medium]", "…-20250929", "…-latest".
_DRESS: Final = re.compile(r"^.*/|\[[^\]]*\]$|-\d{8}$|-latest$")
_MILLION: Final = 1_000_000


class PriceList:
    """The table, with the host's own prices before it."""

    def __init__(self, own: Mapping[str, Price]) -> None:
        self._prices = {**PRICES, **own} if own else PRICES
        self._found: dict[str, tuple[Price | None, CostSource]] = {}

    def labelled(self, usage: Usage, model: str) -> Usage:
        """The same usage with its cost, where that can be said, and with who says it."""
        if usage.cost_usd is not None:
            return replace(usage, cost_source=CostSource.REPORTED)
        price, source = self.find(model) if usage.tokens else (None, CostSource.UNKNOWN)
        if price is None:
            return replace(usage, cost_source=CostSource.UNKNOWN)
        cost = usage.input_tokens * price.input + usage.cached_tokens * price.cached
        cost = (cost + usage.output_tokens * price.output) / _MILLION
        # A wire that does not get all the figures says so by this label.
        is_rough = usage.cost_source is CostSource.ESTIMATED
        return replace(
            usage, cost_usd=cost, cost_source=CostSource.ESTIMATED if is_rough else source
        )

    def find(self, model: str) -> tuple[Price | None, CostSource]:
        """The model's price; of a variant ("gpt-5.2-pro") that of its family, as an estimate."""
        if model not in self._found:
            self._found = {model: self._search(model)}
        return self._found[model]

    def _search(self, model: str) -> tuple[Price | None, CostSource]:
        bare = _bare(model)
        for name in (model, bare):
            if name in self._prices:
                return self._prices[name], CostSource.COMPUTED
        # What follows must not be a version: claude-opus-4-9 is not a kind of claude-opus-4.
        families = [name for name in self._prices if re.match(rf"{re.escape(name)}-[a-z]", bare)]
        if families:
            return self._prices[max(families, key=len)], CostSource.ESTIMATED
        return None, CostSource.UNKNOWN


def _bare(model: str) -> str:
    while (bare := _DRESS.sub("", model)) != model:
        model = bare
    return model
