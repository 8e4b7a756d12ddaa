"""The known names of tools are at least those that the wires and the embedded agent name."""

from collections.abc import Collection

import pytest

from avatar_actors.programs.embedded import tools as embedded
from avatar_actors.providers import tool_names
from avatar_actors.wire.claude import tools as claude
from avatar_actors.wire.gemini import turn as gemini


@pytest.mark.parametrize(
    ("known", "named"),
    [
        (tool_names.CLAUDE, claude.KINDS),
        (tool_names.GEMINI, gemini.KINDS),
        (tool_names.EMBEDDED, embedded.KINDS),
    ],
    ids=["claude", "gemini", "embedded"],
)
def test_every_tool_that_has_a_kind_is_known(known: frozenset[str], named: Collection[str]) -> None:
    assert sorted(set(named) - known) == []
