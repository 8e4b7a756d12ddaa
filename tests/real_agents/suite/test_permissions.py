"""Permissions: what is asked, what an answer does, and what the host's policy decides alone."""

from pathlib import Path

import pytest
import trio

from avatar_actors import (
    Outcome,
    PermissionClosedEvent,
    PermissionEvent,
    Permit,
    ToolEvent,
    ToolPolicy,
    ToolStatus,
    Turn,
)
from tests.model_api.script import Pause, Reply, Script, Shell, Text
from tests.real_agents.ability import Ability, Found
from tests.real_agents.conftest import Finds
from tests.real_agents.subject import Agent, RealSubject, open_subject

COMMAND = "touch made.txt"
# Codex asks about a command that wants to leave its sandbox; in that, nothing can be written here.
SCRIPT: list[Reply] = [[Shell(COMMAND, escalated=True)], [Text("Well then.")]]

# What becomes of the turn when a tool is denied; with the others the model hears of it.
CANCELLED_BY_A_DENIAL = {"codex-acp", "codex-zed"}
ENDED_BY_A_DENIAL = {"opencode"}
# These tell a tool's name when it runs, if at all, but not when they ask.
ASK_BY_KIND = {"codex-acp", "codex-zed", "opencode", "qwen"}


async def answered(
    subject: RealSubject, turn: Turn, permit: Permit, told: trio.Event | None = None
) -> list[PermissionEvent]:
    """Read the turn to its end, with this answer to whatever is asked; `told`: a tool is over."""
    asked: list[PermissionEvent] = []
    async for event in turn:
        if isinstance(event, PermissionEvent):
            asked.append(event)
            assert not (subject.work / "made.txt").exists()
            await subject.avatar.answer(event.request_id, permit)
        if told is not None and isinstance(event, ToolEvent) and event.status.is_over:
            told.set()
    return asked


@pytest.mark.ability(Ability.PERMISSION_ALLOW)
async def test_an_allowed_command_runs(agent: Agent, finds: Finds, tmp_path: Path) -> None:
    told = trio.Event()
    # The model waits for the end of the tool: see `allowed` in test_tools.
    script: Script = [SCRIPT[0], [Pause(told), *SCRIPT[1]]]
    async with open_subject(agent, tmp_path, script) as subject:
        async with subject.avatar.turn("make it") as turn:
            [asked] = await answered(subject, turn, Permit.ALLOW_ONCE, told)
        assert asked.tool_input["command"] == COMMAND
        assert {Permit.ALLOW_ONCE, Permit.REJECT_ONCE} <= {each.kind for each in asked.options}
        assert (turn.outcome, turn.text) == (Outcome.COMPLETED, "Well then.")
        assert (subject.work / "made.txt").exists()
    [closed] = subject.recorder.all(PermissionClosedEvent)
    assert (closed.request_id, closed.permit) == (asked.request_id, Permit.ALLOW_ONCE)
    tools = subject.recorder.all(ToolEvent)
    assert {tool.tool_id for tool in tools} == {asked.tool_id}
    statuses = [tool.status for tool in tools]
    after = statuses[statuses.index(ToolStatus.APPROVAL) :]
    assert after == [ToolStatus.APPROVAL, ToolStatus.STARTED, ToolStatus.COMPLETED]
    finds()


def note_of_denial(subject: RealSubject, turn: Turn) -> str:
    """What the turn did after the denial; empty: the model heard of it and went on."""
    requests, name = subject.api.main_requests, subject.agent.name
    assert not (subject.work / "made.txt").exists()
    if name in CANCELLED_BY_A_DENIAL:
        assert (turn.outcome, turn.text, len(requests)) == (Outcome.CANCELLED, "", 1)
        return "the turn ends as cancelled"
    if name in ENDED_BY_A_DENIAL:
        assert (turn.outcome, turn.text, len(requests)) == (Outcome.COMPLETED, "", 1)
        return "the turn ends, the model does not hear of it"
    assert (turn.outcome, turn.text, len(requests)) == (Outcome.COMPLETED, "Well then.", 2)
    assert len(requests[-1].tool_results) == 1
    return ""


@pytest.mark.ability(Ability.PERMISSION_DENY)
async def test_a_denied_command_does_not_run(agent: Agent, finds: Finds, tmp_path: Path) -> None:
    async with open_subject(agent, tmp_path, SCRIPT) as subject:
        async with subject.avatar.turn("make it") as turn:
            [asked] = await answered(subject, turn, Permit.REJECT_ONCE)
        assert asked.tool_input["command"] == COMMAND
        note = note_of_denial(subject, turn)
        again = await subject.avatar.chat("and now?")
        assert again.outcome is Outcome.COMPLETED
    [closed] = subject.recorder.all(PermissionClosedEvent)
    assert (closed.permit, closed.why) == (Permit.REJECT_ONCE, "host")
    assert subject.recorder.all(ToolEvent)[-1].status in {ToolStatus.CANCELLED, ToolStatus.FAILED}
    finds(Found.DIFFERS if note else Found.WORKS, note)


@pytest.mark.ability(Ability.PERMISSION_POLICY)
async def test_what_the_policy_denies_is_asked_of_nobody(
    agent: Agent, finds: Finds, tmp_path: Path
) -> None:
    policy = ToolPolicy(deny=("*(touch *)",))
    async with open_subject(agent, tmp_path, SCRIPT, tools=policy) as subject:
        async with subject.avatar.turn("make it") as turn:
            assert not await answered(subject, turn, Permit.ALLOW_ONCE)
        note_of_denial(subject, turn)
    [closed] = subject.recorder.all(PermissionClosedEvent)
    assert (closed.permit, closed.why) == (Permit.REJECT_ONCE, "tool policy")
    tools = subject.recorder.all(ToolEvent)
    assert tools[-1].status in {ToolStatus.CANCELLED, ToolStatus.FAILED}
    [name] = {tool.tool_name for tool in tools if tool.status is ToolStatus.APPROVAL}
    assert (name == "execute") == (agent.name in ASK_BY_KIND)
    if name == "execute":
        finds(Found.DIFFERS, "it asks by kind: deny `execute`, not a name")
    else:
        finds()
