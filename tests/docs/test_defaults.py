"""The defaults in the reference are those of the declarations."""

import re
from typing import get_type_hints

import msgspec
import pytest

from avatar_actors import AvatarOptions, AvatarSettings, RateLimit
from tests.docs.defaults import BEGIN, END, PAGE, tables

UNITS = {"": 1, " Mi": 1024**2, " KiB": 1024, " MiB": 1024**2}
OPTIONS = set(get_type_hints(AvatarOptions))
TEXT = PAGE.read_text("utf-8")
# Options whose default the table tells in words, since it is empty or depends on where you are.
IN_WORDS = {
    "working_dir", "model", "mode", "system_prompt", "mcp_servers", "env", "executable", "args",
    "options", "url", "headers", "output_schema", "questions", "resume", "fork", "rate_limit",
    "prices",
}  # fmt: skip


def told() -> dict[str, str]:
    """The defaults of the options, as the table of the reference has them."""
    table = TEXT.partition("| option | default | meaning |")[2].partition("\n\n")[0]
    found: dict[str, str] = {}
    for names, default in re.findall(r"^\| ([^|]+) \| ([^|]+) \|", table, re.MULTILINE):
        found |= dict.fromkeys(re.findall(r"`(\w+)`", names), default.strip("`"))
    return found


def test_the_tables_of_settings_are_made_from_their_declarations() -> None:
    assert TEXT.partition(BEGIN)[2].partition(END)[0] == f"\n{tables()}\n", (
        "run: python -m tests.docs.defaults"
    )


def test_the_default_of_every_option_is_told() -> None:
    assert set(told()) == OPTIONS


@pytest.mark.parametrize("name", sorted(OPTIONS - IN_WORDS))
def test_the_default_of_an_option_is_as_declared(name: str) -> None:
    default, said = getattr(AvatarSettings(), name), told()[name]
    if number := re.fullmatch(r"(\d+)( \w+)?", said):
        assert int(number[1]) * UNITS[number[2] or ""] == default
    elif isinstance(default, msgspec.Struct):
        assert said == f"{type(default).__name__}()"
    else:
        assert said.strip('"') in {str(default), str(getattr(default, "value", default))}


def test_what_is_empty_by_default_is_told_in_words() -> None:
    empty = IN_WORDS - {"working_dir", "questions"}
    assert not any(getattr(AvatarSettings(), name) for name in empty)


def test_a_rate_limit_in_the_table_has_its_default_burst() -> None:
    assert f"`RateLimit(per_minute, burst={RateLimit(1.0).burst})`" in TEXT
