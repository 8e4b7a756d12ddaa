"""Configuration, tool policy and arguments of the API under any value: an answer or its own error.

Each property takes one value and raises when something went wrong; hypothesis finds the values.
"""

import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.state.limits import Ledger
from avatar_actors.avatar.state.submission import prompt_text, submission_of
from avatar_actors.avatar.structured_output import check_schema
from avatar_actors.config.config import AvatarConfig, config_schema
from avatar_actors.model.errors import ConfigError, SettingsError
from avatar_actors.model.prices import Price, PriceList
from avatar_actors.model.settings import (
    AvatarSettings,
    Budget,
    RateLimit,
    Restarts,
    Retry,
    Timeouts,
    settings_from,
)
from avatar_actors.model.tool_policy import ToolPolicy
from avatar_actors.model.values import Attachment, JsonObject, Usage
from avatar_actors.wire.json_values import is_array, is_object

NESTED: Final = 256


def _keys(schema: object) -> set[str]:
    if is_array(schema):
        return {key for each in schema for key in _keys(each)}
    if not is_object(schema):
        return set()
    own = schema.get("properties", {})
    return set(own if is_object(own) else ()).union(*(_keys(each) for each in schema.values()))


NUMBERS: Final = st.one_of(
    st.sampled_from([0, -1, 1, 2**53, 10**400, -(10**400), 0.0, -0.0, 1e308, 1e-320]),
    st.integers(),
    st.floats(),
)
TEXTS: Final = st.one_of(
    st.text(max_size=8),
    st.sampled_from(["\ud83d", "--yolo", "${HOME}", "~/x", "\x00", "*(*", "Bash(git *)", "on"]),
)
SCALARS: Final = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES: Final[st.SearchStrategy[Any]] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
KEYS: Final = st.sampled_from(sorted(_keys(config_schema()))) | TEXTS
BLOCKS: Final = st.recursive(
    VALUES, lambda inner: st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
YAML: Final = st.one_of(
    st.dictionaries(KEYS, BLOCKS, max_size=4).map(yaml.safe_dump),
    st.text(max_size=60),
    st.text("a:[]{}&*!|>-#'\" \n\t", max_size=40),
)
VARIABLES: Final = st.dictionaries(
    st.builds("AVATAR__{}__{}".format, KEYS, KEYS).map(str.upper) | st.just("AVATAR_PROVIDER"),
    TEXTS,
    max_size=3,
)


def nested(value: object, depth: int) -> JsonObject:
    """The value, so deep inside."""
    for _ in range(depth):
        value = [value]
    return {"command": value}


def any_configuration(given: tuple[str, dict[str, str]]) -> None:
    """A text is a configuration that can be shown, or one line says where it is none."""
    text, environ = given
    try:
        config = AvatarConfig.parse(text, environ=environ)
        for name in config.sections:
            config.chosen(name)
        msgspec.json.encode(config.shown(environ))
    except ConfigError as error:
        if "\n" in str(error):
            raise AssertionError("an error of more than one line") from error


def any_policy(given: tuple[list[str], list[str], str, JsonObject]) -> None:
    """There is a verdict on every call, the same each time; to deny everything is to deny it."""
    allow, deny, name, tool_input = given
    try:
        policy = ToolPolicy(tuple(allow), tuple(deny))
    except SettingsError:
        return
    verdict = policy.verdict(name, tool_input)
    assert verdict in {True, False, None}
    assert policy.verdict(name, tool_input) is verdict
    assert ToolPolicy(deny=("*",)).verdict(name, tool_input) is False
    assert not (policy.allow and verdict is None)


def any_arguments(make: Callable[[], object]) -> None:
    """What the API is given works, or is refused by its own error."""
    with suppress(SettingsError):
        repr(make())


def any_spending(given: tuple[Budget, list[Usage]]) -> None:
    """A ledger takes any figures; a price list too."""
    budget, usages = given
    ledger = Ledger[int](budget, "avatar")
    for turn, usage in enumerate(usages):
        ledger.refusal()
        ledger.open(turn)
        ledger.report(turn, PriceList({}).labelled(usage, "gpt-5"))
        ledger.overrun()
        ledger.warnings()
        ledger.settle(turn)
    ledger.total()


def _calls(*pairs: tuple[Callable[..., object], dict[str, st.SearchStrategy[Any]]]) -> Any:
    calls = [st.tuples(st.just(make), st.fixed_dictionaries({}, optional=o)) for make, o in pairs]
    return st.one_of(*calls).map(_call)


def _call(given: tuple[Callable[..., object], dict[str, Any]]) -> Callable[[], object]:
    return partial(given[0], **given[1])


def _numbers(kind: type[msgspec.Struct]) -> dict[str, st.SearchStrategy[Any]]:
    return dict.fromkeys(kind.__struct_fields__, NUMBERS)


def _schema(**parts: Any) -> None:
    check_schema(parts)


def _prompt(**options: Any) -> object:
    return prompt_text(submission_of(1, "go", options, AvatarSettings()))  # type: ignore[arg-type]


def _limit(per_minute: float = 1.0, burst: int = 1) -> object:
    return RateLimit(per_minute, burst)


def _price(**given: float) -> object:
    return Price(**{"input": 1.0, "output": 1.0, "cached": 1.0, **given})


OPTIONS: Final = {
    "max_history": st.integers(),
    "max_history_bytes": st.integers(),
    "max_line": st.integers(),
    "max_answer": st.integers(),
    "priority": st.sampled_from(("low", "normal", "")),
    "working_dir": st.just(str(Path.cwd())) | st.just("/nowhere"),
    "fork": TEXTS,
    "resume": TEXTS,
    "no_such_option": TEXTS,
}
PROMPT: Final = {
    "timeout": NUMBERS,
    "context": st.dictionaries(TEXTS, VALUES, max_size=3),
    "attachments": st.just((Attachment("text/plain", b"\xff", "\ud83d"),)),
}
# What a wire lets in.
FIGURES: Final = st.integers(0, 2**53)
USAGES: Final = st.builds(
    Usage,
    cost_usd=st.none() | st.floats(0, 2**53),
    input_tokens=FIGURES,
    output_tokens=FIGURES,
    cached_tokens=FIGURES,
)
BUDGETS: Final = st.builds(Budget, cost_usd=st.floats(0, 1e300), tokens=st.integers(0, 10**9))
PATTERNS: Final = st.lists(TEXTS, max_size=4)
INPUTS: Final = st.dictionaries(TEXTS | st.just("command"), VALUES, max_size=3) | st.builds(
    nested, SCALARS, st.integers(0, NESTED)
)

PROPERTIES: Final[dict[str, tuple[Callable[[Any], None], st.SearchStrategy[Any]]]] = {
    "configuration": (any_configuration, st.tuples(YAML, VARIABLES)),
    "tool policy": (any_policy, st.tuples(PATTERNS, PATTERNS, TEXTS, INPUTS)),
    "arguments": (
        any_arguments,
        _calls(
            (Budget, _numbers(Budget)),
            (Restarts, _numbers(Restarts)),
            (Retry, _numbers(Retry)),
            (Timeouts, _numbers(Timeouts)),
            (_limit, {"per_minute": NUMBERS, "burst": st.integers()}),
            (_price, {"input": NUMBERS, "output": NUMBERS, "cached": NUMBERS}),
            (EventStream, {"capacity": st.integers()}),
            (lambda **given: settings_from(given), OPTIONS),  # type: ignore[arg-type]
            (_prompt, PROMPT),
            (_schema, {"type": VALUES, "items": VALUES}),
        ),
    ),
    "spending": (any_spending, st.tuples(BUDGETS, st.lists(USAGES, max_size=4))),
}


class Falsified(Exception):
    """A property does not hold; `value` is the smallest that was found."""

    def __init__(self, name: str, value: object) -> None:
        super().__init__(f"{name}: {value!r}")
        self.name, self.value = name, value


def examples(name: str, number: int, dice: int) -> None:
    """Hold the property against so many values; raises Falsified from what was raised."""
    hold, values = PROPERTIES[name]
    failing: list[object] = []

    @seed(dice)
    @settings(
        max_examples=number,
        deadline=None,
        database=None,
        derandomize=False,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(values)
    def holds(value: Any) -> None:
        try:
            hold(value)
        except Exception:
            failing.append(value)
            raise

    try:
        holds()
    except Exception as error:
        # The last run is that of the smallest example.
        raise Falsified(name, failing[-1] if failing else None) from error


def look(kind: str, dice: str, count: int) -> str:
    """What does not hold of so many values, with a test to paste; or nothing."""
    try:
        examples(kind, count, int.from_bytes(dice.encode(), "big") % 2**63)
    except Falsified as found:
        error = "".join(traceback.format_exception(found.__cause__))
        hold = PROPERTIES[kind][0].__name__
        test = (
            f"from tests.fuzz.documents import {hold}\n\n\n"
            f"def test_found_by_the_fuzzer() -> None:\n    {hold}({found.value!r})\n"
        )
        return f"{error}\nA test to paste:\n\n{test}"
    return ""
