"""RC-4: no letter of one turn in another; concurrent chats are queued, never mixed."""

from pathlib import Path
from string import ascii_letters

import trio

from avatar_actors import Outcome
from tests.conformance.dialects import Dialect, every_dialect
from tests.conformance.subject import Subject, open_subject


async def say_often(subject: Subject, letter: str, heard: dict[str, str]) -> None:
    answer = await subject.play({"flood": 300, "text": letter}, {"say": letter})
    assert answer.outcome is Outcome.COMPLETED
    heard[letter] = answer.content


@every_dialect()
async def test_rc_04_turns_back_to_back_have_their_own_letters(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        heard: dict[str, str] = {}
        for letter in "abcdef":
            await say_often(subject, letter, heard)
        assert heard == {letter: letter * 301 for letter in "abcdef"}


@every_dialect()
async def test_rc_04_concurrent_chats_are_queued_and_never_mixed(
    dialect: Dialect, tmp_path: Path
) -> None:
    letters = ascii_letters[:12]
    async with open_subject(dialect, tmp_path) as subject:
        heard: dict[str, str] = {}
        async with trio.open_nursery() as nursery:
            for letter in letters:
                nursery.start_soon(say_often, subject, letter, heard)
        assert heard == {letter: letter * 301 for letter in letters}
        assert len(await subject.memory()) == len(letters)
