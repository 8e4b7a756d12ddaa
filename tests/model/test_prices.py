"""What a turn costs: who says it, and what follows from tokens alone."""

import re

import pytest

from avatar_actors import PRICES, PRICES_AS_OF, CostSource, Price, SettingsError, Usage
from avatar_actors.model.prices import PriceList

ONE = Price(input=1.0, output=10.0, cached=0.1)
MILLION = 1_000_000


def test_what_the_agent_said_is_never_computed_anew() -> None:
    said = Usage(cost_usd=0.5, input_tokens=MILLION)
    told = PriceList({"m": ONE}).labelled(said, "m")
    assert (told.cost_usd, told.cost_source) == (0.5, CostSource.REPORTED)


def test_input_output_and_cached_tokens_have_their_own_prices() -> None:
    used = Usage(
        input_tokens=2 * MILLION, output_tokens=MILLION, cached_tokens=3 * MILLION,
        reasoning_tokens=MILLION,
    )  # fmt: skip
    told = PriceList({"m": ONE}).labelled(used, "m")
    # Thoughts are a part of the output: they are not paid twice.
    assert told.cost_usd == pytest.approx(2.0 + 10.0 + 0.3)
    assert told.cost_source is CostSource.COMPUTED
    assert told.reasoning_tokens == MILLION


@pytest.mark.parametrize(
    ("model", "like", "source"),
    [
        ("gpt-5.2", "gpt-5.2", CostSource.COMPUTED),
        ("gpt-6.1-sol[medium]", "gpt-6.1-sol", CostSource.COMPUTED),
        ("models/gemini-2.5-pro", "gemini-2.5-pro", CostSource.COMPUTED),
        ("anthropic/claude-sonnet-4-5-20250929", "claude-sonnet-4-5", CostSource.COMPUTED),
        ("claude-haiku-4-5-latest", "claude-haiku-4-5", CostSource.COMPUTED),
        ("gemini-2.5-flash-lite", "gemini-2.5-flash-lite", CostSource.COMPUTED),
        ("gemini-2.5-flash-preview", "gemini-2.5-flash", CostSource.ESTIMATED),
        ("gpt-5.1-codex-max", "gpt-5.1-codex", CostSource.ESTIMATED),
    ],
)
def test_a_model_is_found_however_it_is_dressed(model: str, like: str, source: CostSource) -> None:
    assert PriceList({}).find(model) == (PRICES[like], source)


@pytest.mark.parametrize("model", ["", "auto", "gpt-5.99", "claude-opus-5-9", "gpt", "my-model"])
def test_another_version_is_another_model_and_has_no_price(model: str) -> None:
    assert PriceList({}).find(model) == (None, CostSource.UNKNOWN)
    told = PriceList({}).labelled(Usage(input_tokens=5), model)
    assert (told.cost_usd, told.cost_source) == (None, CostSource.UNKNOWN)


def test_the_hosts_own_price_goes_before_the_table() -> None:
    assert PriceList({"gpt-5.2": ONE}).find("gpt-5.2[high]") == (ONE, CostSource.COMPUTED)


def test_without_tokens_there_is_no_cost_to_compute() -> None:
    assert PriceList({"m": ONE}).labelled(Usage(), "m").cost_usd is None


def test_figures_that_a_wire_calls_rough_make_an_estimate() -> None:
    rough = Usage(input_tokens=MILLION, cost_source=CostSource.ESTIMATED)
    told = PriceList({"m": ONE}).labelled(rough, "m")
    assert (told.cost_usd, told.cost_source) == (1.0, CostSource.ESTIMATED)


def test_the_table_has_a_date_and_sane_prices() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", PRICES_AS_OF)
    for name, price in PRICES.items():
        assert 0 < price.cached < price.input < price.output < 100, name


def test_a_negative_price_is_refused() -> None:
    with pytest.raises(SettingsError, match="at least 0"):
        Price(input=-1.0, output=1.0, cached=1.0)
