"""The walkthroughs again, in another terminal than they were recorded in: people see the same."""

from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.record import recorded
from tests.cli.terminal import Terminal, avatar_in_terminal
from tests.cli.walkthroughs import (
    SIZES,
    WALKTHROUGHS,
    Moment,
    Walkthrough,
    timeless,
    walked_through,
)
from tests.thorough import for_conformance


class Emulated:
    """Runs a walkthrough in the tests' own terminal, and waits for what is expected."""

    def __init__(self, terminal: Terminal, home: Path, expected: dict[str, str]) -> None:
        self._terminal, self._home, self._expected = terminal, home, expected

    def look(self, moment: Moment) -> str:
        expected = self._expected[moment.name]
        with suppress(AssertionError):  # what it shows instead is the better message
            self._terminal.wait_until(
                lambda: timeless(self._terminal.text) == expected, f"sight of {moment.name!r}"
            )
        return timeless(self._terminal.text)

    def press(self, keys: str) -> None:
        self._terminal.press(keys)

    def open(self, gate: str) -> None:
        (self._home / gate).touch()

    def end(self) -> int:
        return self._terminal.wait()


NARROW_AND_WIDE = [
    pytest.param(size, id=str(size[0]), marks=[] if size[0] == 80 else [for_conformance])
    for size in SIZES
]


@pytest.mark.parametrize("size", NARROW_AND_WIDE)
@pytest.mark.parametrize("walkthrough", WALKTHROUGHS, ids=lambda walkthrough: walkthrough.name)
def test_what_people_see_is_as_it_was_recorded(
    walkthrough: Walkthrough, size: tuple[int, int], tmp_path: Path
) -> None:
    with avatar_in_terminal(tmp_path, *walkthrough.arguments, size=size) as terminal:
        expected = recorded(walkthrough, size[0])
        assert walked_through(walkthrough, Emulated(terminal, tmp_path, expected)) == expected
        assert terminal.shows_cursor
        assert terminal.is_as_before
