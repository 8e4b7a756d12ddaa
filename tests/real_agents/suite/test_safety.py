"""Permissions at each agent's own defaults: what may not be done leaves no trace, or is told."""

from collections.abc import Callable
from pathlib import Path

import pytest

from avatar_actors import (
    ErrorEvent,
    Outcome,
    PermissionBasis,
    PermissionClosedEvent,
    PermissionEvent,
    PermissionMode,
    Permit,
    ToolPolicy,
)
from tests.model_api.recorded import ModelRequest
from tests.model_api.script import Script, Shell, Text, WriteFile, in_order
from tests.model_api.tool_names import SHELLS
from tests.real_agents.ability import Ability, Found
from tests.real_agents.conftest import Finds
from tests.real_agents.subject import Agent, RealSubject, open_subject

COMMAND = "touch made.txt"


def edit(place: Path) -> Script:
    return [[WriteFile(str(place / "work" / "made.txt"), "made\n")], [Text("Well then.")]]


def shell(_: Path) -> Script:
    """Codex first in its sandbox, where nothing can be written, then with the wish to leave it."""
    replies = in_order([[Shell(COMMAND)], [Shell(COMMAND, escalated=True)], [Text("Well then.")]])
    # In its mode `plan` gemini has no tool for commands.
    return lambda request: replies(request) if _has_shell(request) else (Text("Well then."),)


def _has_shell(request: ModelRequest) -> bool:
    return any(tool.full_name in SHELLS for tool in request.offered)


async def refused(subject: RealSubject) -> str:
    """Play it to its end; nothing is made. What became of the turn, empty if it simply went on."""
    told: list[str] = []
    async with subject.avatar.turn("make it") as turn:
        async for event in turn:
            assert not isinstance(event, PermissionEvent)
            told += [event.error] if isinstance(event, ErrorEvent) else []
    assert not (subject.work / "made.txt").exists()
    if turn.outcome is Outcome.FAILED:
        assert any("had not asked" in each for each in told)
        return "it does not ask: the turn is ended"
    assert not told
    assert turn.outcome in {Outcome.COMPLETED, Outcome.CANCELLED}
    return ""


def found(finds: Finds, note: str) -> None:
    finds(Found.DIFFERS if note else Found.WORKS, note)


@pytest.mark.ability(Ability.SAFE_EDIT)
async def test_safe_mode_makes_no_file(agent: Agent, finds: Finds, tmp_path: Path) -> None:
    safe = PermissionMode.SAFE
    async with open_subject(agent, tmp_path, edit(tmp_path), permissions=safe) as subject:
        assert (await subject.avatar.capabilities()).permissions is not PermissionBasis.ON_TRUST
        found(finds, await refused(subject))


@pytest.mark.ability(Ability.SAFE_SHELL)
async def test_safe_mode_runs_no_command(agent: Agent, finds: Finds, tmp_path: Path) -> None:
    safe = PermissionMode.SAFE
    async with open_subject(agent, tmp_path, shell(tmp_path), permissions=safe) as subject:
        found(finds, await refused(subject))


@pytest.mark.ability(Ability.ASK_EDIT)
@pytest.mark.parametrize("permit", [Permit.ALLOW_ONCE, Permit.REJECT_ONCE])
async def test_an_edit_is_asked_about(
    agent: Agent, finds: Finds, tmp_path: Path, permit: Permit
) -> None:
    asked = 0
    async with open_subject(agent, tmp_path, edit(tmp_path)) as subject:
        async with subject.avatar.turn("make it") as turn:
            async for event in turn:
                if isinstance(event, PermissionEvent):
                    asked += 1
                    assert not (subject.work / "made.txt").exists()
                    await subject.avatar.answer(event.request_id, permit)
        assert (asked, (subject.work / "made.txt").exists()) == (1, permit.allows)
        assert turn.outcome in {Outcome.COMPLETED, Outcome.CANCELLED}
    finds()


@pytest.mark.ability(Ability.POLICY_UNRESTRICTED)
@pytest.mark.parametrize("script", [edit, shell])
async def test_a_denial_holds_where_nobody_is_asked(
    agent: Agent, finds: Finds, tmp_path: Path, script: Callable[[Path], Script]
) -> None:
    # By the kind too: that of an edit is all that some tell by name.
    policy = ToolPolicy(deny=("edit", "*(*made.txt*)"))
    free = PermissionMode.UNRESTRICTED
    async with open_subject(
        agent, tmp_path, script(tmp_path), permissions=free, tools=policy
    ) as subject:
        note = await refused(subject)
    closed = subject.recorder.all(PermissionClosedEvent)
    assert {each.why for each in closed} <= {"tool policy"}
    found(finds, note)
