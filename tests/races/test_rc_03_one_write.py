"""RC-3: updates and the result in one write. The text is complete when `chat()` returns."""

from pathlib import Path

import pytest

from avatar_actors import Outcome
from tests.conformance.dialects import Dialect, every_dialect
from tests.conformance.subject import open_subject


@every_dialect()
@pytest.mark.parametrize("count", [0, 1, 3, 10**3, 10**5])
async def test_rc_03_text_is_complete_when_chat_returns_and_none_follows(
    dialect: Dialect, tmp_path: Path, count: int
) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        answer = await subject.play({"one_write": True}, {"flood": count, "text": "k"})
        assert (answer.outcome, answer.content) == (Outcome.COMPLETED, "k" * count)
        assert subject.avatar.is_down is False
        assert await subject.says("and now")
