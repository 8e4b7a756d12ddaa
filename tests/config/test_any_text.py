"""Whatever stands in a file: it is a configuration, or gets one line."""

import string
from pathlib import Path

import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from avatar_actors.config.config import AvatarConfig
from avatar_actors.config.nodes import Items, MappingNode, Node, Scalar, Source
from avatar_actors.config.yaml_text import parse_yaml
from avatar_actors.model.errors import ConfigError
from tests.config.seen import SEED

SEED_TEXT = SEED.read_text("utf-8")
MARKS = st.sampled_from([*":-[]{}#&*!|>'\"%@`,?~\t\n $\\\x00\ufeff", "${", "<<: *a", "---\n"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["claude", "env", "model", "timeout", "x"]), inner)
    ),
    max_leaves=8,
)


def error_of(text: str) -> ConfigError | None:
    try:
        AvatarConfig.parse(text, "a.yaml", environ={"HOME": "/nobody"})
    except ConfigError as error:
        return error
    return None


def one_line_or_settings(text: str) -> None:
    error = error_of(text)
    if error is not None:
        assert "\n" not in str(error)
        assert str(error).startswith(f"a.yaml:{error.line}: ")
        assert 1 <= error.line <= len(text.splitlines())


@given(st.text(st.characters(codec="utf-8")) | st.text(string.printable))
@example("\x850")
@example("a: |\r\r\n\tb")
@example("logging: {format: '%(levelname)s %:(message)s'}")
def test_any_text_is_a_configuration_or_one_line(text: str) -> None:
    one_line_or_settings(text)


@settings(deadline=None)
@given(st.integers(0, len(SEED_TEXT)), st.integers(0, 9), MARKS | st.text(max_size=5))
def test_a_damaged_file_is_a_configuration_or_one_line(at: int, cut: int, put: str) -> None:
    one_line_or_settings(SEED_TEXT[:at] + put + SEED_TEXT[at + cut :])


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["claude", "engine", "providers", "metrics"]), VALUES))
def test_any_values_are_a_configuration_or_one_line(tree: object) -> None:
    one_line_or_settings(yaml.safe_dump(tree))


def plain(node: Node | None) -> object:
    match node:
        case None:
            return None
        case Scalar():
            return node.text
        case Items():
            return [plain(each) for each in node.nodes]
        case MappingNode():
            return {name: plain(each) for name, each in node.nodes.items()}


def test_our_reading_of_a_file_is_that_of_yaml() -> None:
    theirs: object = yaml.load(SEED_TEXT, Loader=yaml.BaseLoader)
    assert plain(parse_yaml(SEED_TEXT, Source("x", Path()))) == theirs
