"""The providers with real processes: the embedded agent and the fake ones."""

import json
import os
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from msgspec.structs import replace

from avatar_actors.model.errors import SettingsError
from avatar_actors.model.events import TextEvent, ToolEvent, UnrecognisedEvent
from avatar_actors.model.settings import AvatarSettings
from avatar_actors.model.values import Continuity, Outcome, Permit, ToolStatus
from avatar_actors.providers.embedded import embedded_provider
from avatar_actors.providers.provider import Place
from avatar_actors.wire.commands import AnswerPermission, Cancel, Command, Open, Prompt
from avatar_actors.wire.facts import Fact, Opened, PermissionAsked, TurnOver
from avatar_actors.wire.wire import Wire
from tests.fake_agents import launcher

AGENTS = ["acp", *launcher.FAKES]
ASKING = [each for each in AGENTS if each != "gemini-headless"]
RESUMING = [each for each in ASKING if each != "claude"]
NONE = AvatarSettings()


class Talk:
    """A wire, and the process it talks to."""

    def __init__(self, wire: Wire, process: trio.Process) -> None:
        self.facts: list[Fact] = []
        self._wire = wire
        self._process = process

    async def say(self, command: Command) -> None:
        await self._take(self._wire.command(command))

    async def hear_until(self, kind: type) -> Fact:
        assert self._process.stdout
        while True:
            before = len(self.facts)
            data = await self._process.stdout.receive_some()
            assert data, f"the agent ended; it said {self.facts}"
            await self._take(self._wire.receive(bytes(data)))
            for fact in self.facts[before:]:
                if isinstance(fact, kind):
                    return fact

    async def prompt(self, turn_id: int, *steps: dict[str, Any]) -> TurnOver:
        await self.say(Prompt(turn_id, f"SCRIPT:{json.dumps(steps)}"))
        over = await self.hear_until(TurnOver)
        assert isinstance(over, TurnOver)
        return over

    def text(self) -> str:
        return "".join(fact.text for fact in self.facts if isinstance(fact, TextEvent))

    async def _take(self, facts: list[Fact]) -> None:
        self.facts += facts
        for fact in facts:
            if isinstance(fact, PermissionAsked):
                answer = AnswerPermission(request_id=fact.request_id, permit=Permit.ALLOW_ONCE)
                self.facts += self._wire.command(answer)
        if data := self._wire.data_to_send():
            assert self._process.stdin
            await self._process.stdin.send_all(data)


@asynccontextmanager
async def talk(
    folder: Path, agent: str, settings: AvatarSettings = NONE, resume: str = ""
) -> AsyncGenerator[Talk]:
    provider = launcher.agent(agent)
    place = Place(private_dir=folder, session_id="5b0f6a52-9d7c-4b0e-8a6e-6f1f2f0f7a11")
    plan = provider.plan(settings, replace(place, resume=resume))
    for name, text in plan.files.items():
        await trio.Path(folder / name).write_text(text)
    environment = {**os.environ, **plan.env, "AVATAR_EMBEDDED_HOME": str(folder)}
    work = folder / "work"
    work.mkdir(exist_ok=True)
    with trio.fail_after(60):
        process = await trio.lowlevel.open_process(
            plan.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=work, env=environment
        )
        try:
            talking = Talk(provider.wire(settings), process)
            wanted = Open(cwd=str(work), resume=resume, system_prompt=settings.system_prompt)
            await talking.say(wanted)
            await talking.hear_until(Opened)
            yield talking
        finally:
            process.kill()
            await process.wait()


@pytest.mark.parametrize("name", AGENTS)
async def test_turn_with_every_agent(tmp_path: Path, name: str) -> None:
    async with talk(tmp_path, name) as agent:
        tool = {"tool": "Bash", "input": {"command": "ls"}, "result": "a.txt"}
        over = await agent.prompt(1, {"think": "I plan"}, {"say": "one "}, tool, {"say": "two"})
        assert (over.turn_id, over.outcome, agent.text()) == (1, Outcome.COMPLETED, "one two")
        tools = [fact for fact in agent.facts if isinstance(fact, ToolEvent)]
        assert tools[-1].status is ToolStatus.COMPLETED
        assert tools[-1].parameters == {"command": "ls"}
        assert not [fact for fact in agent.facts if isinstance(fact, UnrecognisedEvent)]
        await agent.prompt(2, {"say": " three"})
        assert agent.text() == "one two three"


@pytest.mark.parametrize("name", AGENTS)
async def test_system_prompt_reaches_every_agent(tmp_path: Path, name: str) -> None:
    settings = AvatarSettings(system_prompt="be brief")
    async with talk(tmp_path, name, settings) as agent:
        await agent.prompt(1, {"echo": "system"})
        assert agent.text() == "be brief"


@pytest.mark.parametrize("name", ASKING)
async def test_permission_is_asked_by_every_agent_that_can(tmp_path: Path, name: str) -> None:
    async with talk(tmp_path, name) as agent:
        await agent.prompt(1, {"ask": "Write", "input": {"path": "a"}})
        asked = [fact for fact in agent.facts if isinstance(fact, PermissionAsked)]
        assert [fact.tool.status for fact in asked] == [ToolStatus.APPROVAL]
        assert agent.text() == "[allowed]"


@pytest.mark.parametrize("name", AGENTS)
async def test_cancel_ends_the_turn_of_every_agent(tmp_path: Path, name: str) -> None:
    async with talk(tmp_path, name) as agent:
        await agent.say(Prompt(1, 'SCRIPT:[{"say": "begun"}, {"wait": 50}]'))
        await agent.hear_until(TextEvent)
        await agent.say(Cancel(1))
        over = await agent.hear_until(TurnOver)
        assert isinstance(over, TurnOver)
        assert over.outcome is Outcome.CANCELLED


@pytest.mark.parametrize("name", RESUMING)
async def test_session_is_resumed_by_another_process(tmp_path: Path, name: str) -> None:
    async with talk(tmp_path, name) as agent:
        [session_id] = [f.session_id for f in agent.facts if isinstance(f, Opened)]
        await agent.prompt(1, {"say": "remember me"})
    async with talk(tmp_path, name, resume=session_id) as agent:
        [again] = [fact for fact in agent.facts if isinstance(fact, Opened)]
        assert (again.session_id, again.continuity) == (session_id, Continuity.RESUMED)
        assert agent.text() == ""
        await agent.prompt(1, {"say": "hello"})
        assert agent.text() == "hello"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dialect": "claude"}, "embedded has no option 'dialect'"),
        ({"scripts": "maybe"}, "is one of true, false"),
        ({"taste": "sweet"}, "embedded has no option 'taste'"),
    ],
)
def test_options_that_cannot_work_are_refused(options: dict[str, str], words: str) -> None:
    place = Place(private_dir=Path("/private"), session_id="s")
    with pytest.raises(SettingsError, match=words):
        embedded_provider().plan(AvatarSettings(options=options), place)


def test_it_runs_isolated_from_the_working_directory() -> None:
    place = Place(private_dir=Path("/private"), session_id="s")
    argv = embedded_provider().plan(AvatarSettings(args=("--model", "x")), place).argv
    assert argv[1:4] == ("-I", "-S", "-c")
    assert argv[-2:] == ("--model", "x")
