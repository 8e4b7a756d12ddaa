"""The fuzz of the public callables: some of its cases, and whether it can find anything."""

from typing import Any

import pytest

from avatar_actors import SettingsError, stop_on_signals
from tests.fuzz import api
from tests.fuzz.api import Case, Found, Target


def test_wrong_values_are_refused_by_name_and_harm_no_avatar() -> None:
    endings, _ = api.play(api.cases("make test")[:1000])
    assert endings.total() == 1000
    assert endings["SettingsError"] > 500


def test_avatar_starts_with_what_its_engine_takes() -> None:
    values = {"model": "text", "max_history": 0, "name": " ", "env": {"A": ""}}
    chosen = [
        Case(Target("AvatarEngine", None, name, False, {}), value) for name, value in values.items()
    ]
    assert api.start_with(chosen) == {"completed": 4}


def test_every_public_callable_is_among_the_targets() -> None:
    found = api.targets()
    assert len(found) * len(api.VALUES) >= 20_000
    names = {target.name for target in found}
    assert {"AvatarEngine.chat_stream", "Avatar.turn", "Runtime.start", "open_avatar"} <= names


class Careless:
    """A callable whose errors are those of its own code."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def call(self, *_: object) -> None:
        raise self._error


@pytest.mark.parametrize(
    "error", [AttributeError("no attribute 'strip'"), SettingsError("something is wrong")]
)
def test_error_of_another_kind_or_without_the_name_is_found(error: Exception) -> None:
    careless: Any = Careless(error)
    with pytest.raises(Found):
        api.attempt(careless, Target("chat", None, "message", False, {}), 5)


def test_signals_are_refused_the_same() -> None:
    wrong: Any = "soon"
    with pytest.raises(SettingsError, match="deadline must be a number"):
        stop_on_signals(deadline=wrong)
    with pytest.raises(SettingsError, match="engines must be a Stoppable"):
        stop_on_signals(wrong)
