"""Claude's wire and provider with a real process: the fake Claude in its dialect."""

import json
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from avatar_actors.model.events import ActivityEvent, TextEvent, ThinkingEvent, ToolEvent
from avatar_actors.model.settings import AvatarSettings
from avatar_actors.model.values import Continuity, Outcome, Permit, ToolStatus
from avatar_actors.providers.claude import claude_provider
from avatar_actors.providers.provider import Place
from avatar_actors.wire.commands import AnswerPermission, Cancel, Close, Open, Prompt, Steer
from avatar_actors.wire.facts import (
    Opened,
    OpenFailed,
    OpenFailure,
    PermissionAsked,
    RequestWithdrawn,
    SessionRenamed,
    TurnOver,
)
from tests.wire.wire_connection import WireConnection, connect, fake_claude

SESSION = "11111111-1111-4111-8111-111111111111"
PROVIDER = claude_provider()


def script(*steps: dict[str, Any]) -> str:
    return "SCRIPT:" + json.dumps(steps)


def conversation(tmp_path: Path, resume: str = "") -> AbstractAsyncContextManager[WireConnection]:
    settings = AvatarSettings(working_dir=tmp_path)
    place = Place(private_dir=tmp_path, session_id=SESSION, resume=resume)
    plan = PROVIDER.plan(settings, place)
    return connect(PROVIDER.wire(settings), plan, tmp_path, fake_claude)


async def opened(line: WireConnection, resume: str = "") -> Opened:
    await line.say(Open(cwd="", resume=resume))
    return await line.hear(Opened)


async def test_a_turn_has_thoughts_text_tools_and_one_end(tmp_path: Path) -> None:
    async with conversation(tmp_path) as line:
        await opened(line)
        tool = {"tool": "Bash", "input": {"command": "ls"}, "result": "a.txt"}
        steps = script({"think": "**Plan** look"}, {"say": "hello", "chunks": 3}, tool)
        await line.say(Prompt(1, steps))
        over = await line.hear(TurnOver)
        facts = line.take()
    assert (over.turn_id, over.outcome) == (1, Outcome.COMPLETED)
    assert "".join(fact.text for fact in facts if isinstance(fact, TextEvent)) == "hello"
    assert {fact.subject for fact in facts if isinstance(fact, ThinkingEvent)} == {"Plan"}
    tools = [fact for fact in facts if isinstance(fact, ToolEvent)]
    assert [one.status for one in tools][-1] is ToolStatus.COMPLETED
    assert tools[-1].result == "a.txt"


async def test_the_session_is_the_chosen_one_and_is_remembered(tmp_path: Path) -> None:
    async with conversation(tmp_path) as line:
        await opened(line)
        await line.say(Prompt(1, script({"say": "one"})))
        assert await line.hear(SessionRenamed) == SessionRenamed(SESSION)
        await line.hear(TurnOver)
    async with conversation(tmp_path, SESSION) as line:
        assert (await opened(line, SESSION)).continuity is Continuity.RESUMED
        await line.say(Prompt(1, script({"echo": "history"})))
        await line.hear(TurnOver)
        assert "one" in repr([fact for fact in line.take() if isinstance(fact, TextEvent)])


async def test_an_unknown_session_cannot_be_resumed(tmp_path: Path) -> None:
    async with conversation(tmp_path, SESSION) as line:
        await line.say(Open(cwd="", resume=SESSION))
        failed = await line.hear(OpenFailed)
    assert failed.failure is OpenFailure.NO_SUCH_SESSION


async def test_a_permission_is_asked_and_answered(tmp_path: Path) -> None:
    async with conversation(tmp_path) as line:
        await opened(line)
        await line.say(Prompt(1, script({"ask": "Write", "input": {"file_path": "x"}})))
        asked = await line.hear(PermissionAsked)
        answer = AnswerPermission(request_id=asked.request_id, permit=Permit.REJECT_ONCE)
        await line.say(answer)
        await line.hear(TurnOver)
        assert "[denied]" in repr(line.take())


async def test_a_cancel_ends_the_turn_and_withdraws_the_question(tmp_path: Path) -> None:
    async with conversation(tmp_path) as line:
        await opened(line)
        await line.say(Prompt(1, script({"ask": "Write", "input": {}}, {"wait": 60})))
        asked = await line.hear(PermissionAsked)
        await line.say(Cancel(1))
        assert await line.hear(RequestWithdrawn) == RequestWithdrawn(asked.request_id)
        assert (await line.hear(TurnOver)).outcome is Outcome.CANCELLED
        await line.say(Prompt(2, script({"say": "still here"})))
        over = await line.hear(TurnOver)
        assert (over.turn_id, over.outcome) == (2, Outcome.COMPLETED)


async def test_a_background_task_is_an_activity(tmp_path: Path) -> None:
    async with conversation(tmp_path) as line:
        await opened(line)
        task = {"task": "count", "seconds": 0.05, "background": True}
        await line.say(Prompt(1, script(task, {"say": "started"})))
        await line.hear(TurnOver)
        activities = [fact for fact in line.take() if isinstance(fact, ActivityEvent)]
    assert activities[0].status.value == "running"
    assert activities[-1].status.value == "completed"


async def test_late_words_and_a_second_result_stay_out_of_the_next_turn(tmp_path: Path) -> None:
    async with conversation(tmp_path) as line:
        await opened(line)
        steps = ({"say": "first"}, {"result_twice": True}, {"late": [{"say": "late"}]})
        await line.say(Prompt(1, script(*steps)))
        assert (await line.hear(TurnOver)).turn_id == 1
        line.take()
        await line.say(Prompt(2, script({"say": "second"})))
        over = await line.hear(TurnOver)
        texts = "".join(fact.text for fact in line.take() if isinstance(fact, TextEvent))
    assert (over.turn_id, texts) == (2, "second")


async def test_an_error_fails_the_turn_and_the_next_one_works(tmp_path: Path) -> None:
    async with conversation(tmp_path) as line:
        await opened(line)
        await line.say(Prompt(1, script({"error": {"code": 500, "message": "boom"}})))
        over = await line.hear(TurnOver)
        assert (over.outcome, "boom" in over.error) == (Outcome.FAILED, True)
        await line.say(Prompt(2, script({"say": "fine"})))
        assert (await line.hear(TurnOver)).outcome is Outcome.COMPLETED


async def test_what_is_said_into_a_turn_ends_with_it(tmp_path: Path) -> None:
    async with conversation(tmp_path) as line:
        await opened(line)
        await line.say(Prompt(1, script({"say": "go"}, {"wait": 0.2}, {"say": "on"})))
        await line.hear(TextEvent)
        await line.say(Steer(1, "also this"))
        assert (await line.hear(TurnOver)).outcome is Outcome.COMPLETED


async def test_the_goodbye_ends_the_process(tmp_path: Path) -> None:
    async with conversation(tmp_path) as line:
        await opened(line)
        await line.say(Close())
        assert await line.process.wait() == 0
