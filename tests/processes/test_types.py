"""How the end of an agent is told to a person."""

import pytest

from avatar_actors.processes import exit_words


@pytest.mark.parametrize(
    ("returncode", "words"),
    [
        (0, "the agent exited with code 0"),
        (3, "the agent exited with code 3"),
        (-9, "the agent was killed by SIGKILL"),
        (-40, "the agent was killed by signal 40"),
    ],
)
def test_the_exit_is_told_by_its_code_or_its_signal(returncode: int, words: str) -> None:
    assert exit_words(returncode) == words
