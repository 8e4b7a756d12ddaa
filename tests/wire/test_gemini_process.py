"""Gemini's headless wire, shim and provider with a real process: the fake Gemini."""

import json
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from avatar_actors.model.events import TextEvent, ToolEvent
from avatar_actors.model.settings import AvatarSettings
from avatar_actors.model.values import Outcome, ToolStatus
from avatar_actors.providers.gemini_headless import gemini_headless_provider
from avatar_actors.providers.provider import Place
from avatar_actors.wire.commands import Cancel, Open, Prompt
from avatar_actors.wire.facts import Opened, TurnOver
from tests.fake_agents import launcher
from tests.wire.agent_talk import Talk, talk

SESSION = "11111111-1111-4111-8111-111111111111"
PROVIDER = gemini_headless_provider()


def script(*steps: dict[str, Any]) -> str:
    return "SCRIPT:" + json.dumps(steps)


def conversation(tmp_path: Path, resume: str = "") -> AbstractAsyncContextManager[Talk]:
    settings = AvatarSettings(working_dir=tmp_path, executable=launcher.executable("gemini"))
    place = Place(private_dir=tmp_path, session_id=SESSION, resume=resume)
    return talk(PROVIDER.wire(settings), PROVIDER.plan(settings, place), tmp_path)


async def opened(line: Talk, resume: str = "") -> Opened:
    await line.say(Open(cwd="", resume=resume))
    return await line.hear(Opened)


async def test_turns_follow_each_other_in_one_session(tmp_path: Path) -> None:
    async with conversation(tmp_path) as line:
        assert (await opened(line)).session_id == SESSION
        await line.say(Prompt(1, script({"say": "one"}, {"tool": "ls", "result": "a.txt"})))
        assert (await line.hear(TurnOver)).outcome is Outcome.COMPLETED
        tools = [fact for fact in line.take() if isinstance(fact, ToolEvent)]
        assert (tools[-1].status, tools[-1].result) == (ToolStatus.COMPLETED, "a.txt")
        await line.say(Prompt(2, script({"echo": "history"})))
        await line.hear(TurnOver)
        assert "one" in repr([fact for fact in line.take() if isinstance(fact, TextEvent)])


async def test_a_stored_session_is_resumed_by_another_process(tmp_path: Path) -> None:
    async with conversation(tmp_path) as line:
        await opened(line)
        await line.say(Prompt(1, script({"say": "one"})))
        await line.hear(TurnOver)
    async with conversation(tmp_path, SESSION) as line:
        await opened(line, SESSION)
        await line.say(Prompt(1, script({"echo": "history"})))
        assert (await line.hear(TurnOver)).outcome is Outcome.COMPLETED
        assert "one" in repr([fact for fact in line.take() if isinstance(fact, TextEvent)])


async def test_a_cancel_ends_the_process_and_the_next_turn_works(tmp_path: Path) -> None:
    async with conversation(tmp_path) as line:
        await opened(line)
        await line.say(Prompt(1, script({"say": "begun"}, {"wait": 60})))
        await line.hear(TextEvent)
        await line.say(Cancel(1))
        assert (await line.hear(TurnOver)).outcome is Outcome.CANCELLED
        await line.say(Prompt(2, script({"say": "again"})))
        assert (await line.hear(TurnOver)).outcome is Outcome.COMPLETED


async def test_a_killed_process_crashes_its_turn_only(tmp_path: Path) -> None:
    async with conversation(tmp_path) as line:
        await opened(line)
        await line.say(Prompt(1, script({"say": "begun"}, {"half": '{"type":'}, {"kill": 9})))
        over = await line.hear(TurnOver)
        assert (over.outcome, over.error) == (Outcome.CRASHED, "gemini was killed by signal 9")
        await line.say(Prompt(2, script({"say": "again"})))
        assert (await line.hear(TurnOver)).outcome is Outcome.COMPLETED
