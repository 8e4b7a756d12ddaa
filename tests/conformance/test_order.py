"""Results and updates that come twice, late or for nobody: never in another turn."""

import json
from pathlib import Path

import pytest

from avatar_actors import DiagnosticEvent, Outcome, TextEvent
from tests.conformance.dialects import Dialect, Trait, every_dialect
from tests.conformance.subject import Step, Subject, open_subject

STRAY_REPLIES: dict[str, object] = {
    "acp-result": {"jsonrpc": "2.0", "id": 987654321, "result": {"stopReason": "end_turn"}},
    "acp-text-id": {"jsonrpc": "2.0", "id": "nobody's", "result": {}},
    "acp-null-id": {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "what?"}},
    "claude-control": {
        "type": "control_response",
        "response": {"subtype": "success", "request_id": "nobody's", "response": {}},
    },
    "shim-exit": {"type": "avatar_exit", "turn": 987654321, "returncode": 0},
}


@every_dialect()
@pytest.mark.parametrize("reply", STRAY_REPLIES.values(), ids=STRAY_REPLIES.keys())
async def test_reply_to_an_unknown_request_ends_nothing(
    dialect: Dialect, tmp_path: Path, reply: object
) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        answer = await subject.play({"say": "a"}, {"raw": json.dumps(reply) + "\n"}, {"say": "b"})
        assert (answer.outcome, answer.content) == (Outcome.COMPLETED, "ab")
        assert await subject.says("and now")
        assert (await subject.avatar.health()).restarts == 0


@every_dialect()
async def test_second_result_does_not_end_the_next_turn(dialect: Dialect, tmp_path: Path) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        for number in range(3):
            text = f"turn {number}"
            answer = await subject.play({"wait": 0.05}, {"say": text}, {"result_twice": True})
            assert (answer.outcome, answer.content) == (Outcome.COMPLETED, text)
        assert await subject.says("and now")


@every_dialect(Trait.LIFE_AFTER_RESULT)
@pytest.mark.parametrize("pause", [0, 0.1])
async def test_text_after_the_result_is_in_no_other_turn(
    dialect: Dialect, tmp_path: Path, pause: float
) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        late: Step = {"late": [{"wait": pause}, {"say": "LATE"}, {"stderr": "late is over"}]}
        answer = await subject.play({"say": "in time"}, late)
        assert answer.outcome is Outcome.COMPLETED
        await until_late_is_over(subject)
        assert await subject.says("and now")
    texts = subject.recorder.all(TextEvent)
    assert "LATE" not in "".join(event.text for event in texts if event.turn_id != answer.turn_id)


@every_dialect(Trait.LIFE_AFTER_RESULT, Trait.RESULT_IS_END)
@pytest.mark.parametrize("pause", [0, 0.1])
async def test_text_after_the_result_and_before_the_next_prompt_is_in_no_turn(
    dialect: Dialect, tmp_path: Path, pause: float
) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        late: Step = {"late": [{"wait": pause}, {"say": "LATE"}, {"stderr": "late is over"}]}
        answer = await subject.play({"say": "in time"}, late)
        assert (answer.outcome, answer.content) == (Outcome.COMPLETED, "in time")
        await until_late_is_over(subject)
        assert await subject.says("and now")
    assert "LATE" not in "".join(event.text for event in subject.recorder.all(TextEvent))


@every_dialect(Trait.LIFE_AFTER_RESULT)
async def test_news_of_a_tool_after_the_result_is_in_no_turn(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        tool: Step = {"tool": "Read", "id": "late", "result": "LATE"}
        answer = await subject.play(
            {"late": [tool, {"stderr": "late is over"}]}, {"say": "in time"}
        )
        assert answer.content == "in time"
        await until_late_is_over(subject)
        assert await subject.says("and now")
    assert not [
        event for event in subject.recorder.seen if "LATE" in str(event) and event.turn_id > 1
    ]


@every_dialect(Trait.NAMED_UPDATES)
async def test_text_of_an_earlier_turn_is_not_in_the_next_one(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        late: Step = {"late": [{"wait": 0.2}, {"say": "LATE"}]}
        await subject.play({"say": "first"}, late)
        answer = await subject.play({"say": "sec"}, {"wait": 0.5}, {"say": "ond"})
        assert (answer.outcome, answer.content) == (Outcome.COMPLETED, "second")


@every_dialect(Trait.NAMED_SESSIONS)
async def test_update_of_another_session_is_in_no_turn(dialect: Dialect, tmp_path: Path) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "NO"}}
        params = {"sessionId": "another", "update": chunk}
        stray: Step = {"notify": "session/update", "params": params}
        answer = await subject.play({"say": "a"}, stray, {"say": "b"})
        assert (answer.outcome, answer.content) == (Outcome.COMPLETED, "ab")


async def until_late_is_over(subject: Subject) -> None:
    """The agent says so on stderr, after what it says on stdout."""
    await subject.recorder.until(DiagnosticEvent, lambda event: event.message == "late is over")
