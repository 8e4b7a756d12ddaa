"""An agent that runs tools without asking: safe means safe, a denial holds, and all is told.

The embedded agent plays it by a script: a `tool` step begins and ends without a question.
"""

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Unpack

import pytest
import trio

from avatar_actors import (
    Avatar,
    AvatarEvent,
    AvatarOptions,
    DiagnosticEvent,
    ErrorEvent,
    Level,
    Outcome,
    PermissionBasis,
    PermissionEvent,
    PermissionMode,
    Permit,
    Timeouts,
    ToolPolicy,
    Turn,
    open_avatar,
)
from tests.cli.programs import avatar
from tests.conformance.subject import script
from tests.fake_agents import launcher

SAFE, ASK, UNRESTRICTED = PermissionMode.SAFE, PermissionMode.ASK, PermissionMode.UNRESTRICTED


@asynccontextmanager
async def stranger(place: Path, **options: Unpack[AvatarOptions]) -> AsyncGenerator[Avatar]:
    """An ACP agent of which nobody knows whether it asks."""
    wished: AvatarOptions = {
        "executable": sys.executable,
        "args": ("-m", "avatar_actors.programs.embedded"),
        "env": {"AVATAR_EMBEDDED_SCRIPTS": "1"},
        "working_dir": place,
        "timeouts": Timeouts(start=60),
        **options,
    }
    with trio.fail_after(120):
        async with open_avatar("acp", **wished) as avatar:
            yield avatar


async def played(avatar: Avatar, prompt: str) -> tuple[Turn, list[AvatarEvent]]:
    async with avatar.turn(prompt) as turn:
        events = [event async for event in turn]
    return turn, events


def is_running(words: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes()
        except OSError:
            continue  # it has ended meanwhile
        if words.encode() in line:
            return True
    return False


async def test_safe_mode_kills_an_agent_whose_command_starts_unasked(tmp_path: Path) -> None:
    command = f"while ! test -e {tmp_path}/go; do sleep 0.05; done; touch {tmp_path}/made"
    async with stranger(tmp_path, permissions=SAFE) as avatar:
        assert (await avatar.capabilities()).permissions is PermissionBasis.ON_TRUST
        tool = {"tool": "Bash", "run": True, "input": {"command": command}}
        turn, events = await played(avatar, script({"say": "so "}, tool, {"say": "far"}))
        assert not is_running(f"{tmp_path}/go")
        assert (turn.outcome, turn.text) == (Outcome.FAILED, "so ")
        assert turn.ended is not None
        [told] = [event for event in events if isinstance(event, ErrorEvent)]
        for words in (told.error, turn.ended.reason):
            assert "'Bash' (execute) ran though safe mode forbids it" in words
            assert "had not asked" in words
        assert not turn.ended.can_retry
        assert (await avatar.chat("help")).outcome is Outcome.COMPLETED
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("policy", "rule"),
    [
        (ToolPolicy(deny=("Bash(rm *)",)), "a `deny` of the tool policy"),
        (ToolPolicy(deny=("execute",)), "a `deny` of the tool policy"),
        (ToolPolicy(allow=("Bash(git *)",)), "whose `allow` does not name it"),
    ],
)
async def test_a_policy_holds_in_unrestricted_mode(
    tmp_path: Path, policy: ToolPolicy, rule: str
) -> None:
    async with stranger(tmp_path, permissions=UNRESTRICTED, tools=policy) as avatar:
        tool = {"tool": "Bash", "input": {"command": "rm x"}, "leave": True}
        turn, _ = await played(avatar, script(tool, {"deaf": -1}))
        assert turn.ended is not None
        assert turn.outcome is Outcome.FAILED
        assert rule in turn.ended.reason


async def test_ask_mode_tells_once_of_a_tool_that_ran_unasked(tmp_path: Path) -> None:
    async with stranger(tmp_path, permissions=ASK) as avatar:
        turn, events = await played(avatar, script({"tool": "Write", "result": "w"}, {"say": "on"}))
        assert (turn.outcome, turn.text) == (Outcome.COMPLETED, "on")
        [told] = [event for event in events if isinstance(event, DiagnosticEvent)]
        assert (told.level, told.source) == (Level.ERROR, "permissions")
        assert "'Write' (edit) ran though ask mode forbids it" in told.message


async def test_a_tool_that_was_allowed_is_not_unasked(tmp_path: Path) -> None:
    once, again = {"ask": "Write", "input": {"path": "a"}}, {"tool": "Write", "result": "w"}
    async with stranger(tmp_path, permissions=ASK) as avatar:
        async with avatar.turn(script(once, again)) as turn:
            async for event in turn:
                assert not isinstance(event, DiagnosticEvent)
                if isinstance(event, PermissionEvent):
                    await avatar.answer(event.request_id, Permit.ALLOW_ALWAYS)
        assert (turn.outcome, turn.text) == (Outcome.COMPLETED, "[allowed]")


async def test_what_only_looks_goes_on_in_safe_mode(tmp_path: Path) -> None:
    steps = [{"tool": name, "result": "seen"} for name in ("Read", "Grep", "Task", "WebFetch")]
    async with stranger(tmp_path, permissions=SAFE) as avatar:
        turn, events = await played(avatar, script(*steps, {"say": "looked"}))
        assert (turn.outcome, turn.text) == (Outcome.COMPLETED, "looked")
        assert not [event for event in events if isinstance(event, ErrorEvent | DiagnosticEvent)]


@pytest.mark.parametrize(
    "tool", [{"input": {"command": "rm x"}}, {"input": {"path": "x", "content": "y"}}]
)
async def test_l16_a_change_that_calls_itself_reading_is_no_reading(
    tmp_path: Path, tool: dict[str, object]
) -> None:
    async with stranger(tmp_path, permissions=SAFE) as avatar:
        answer = await avatar.chat(script({"ask": "see", "kind": "read", **tool}))
        assert (answer.outcome, answer.content) == (Outcome.COMPLETED, "[denied]")
        turn, _ = await played(avatar, script({"tool": "see", "kind": "read", **tool}))
        assert turn.outcome is Outcome.FAILED


async def test_safe_mode_writes_no_file_in_the_agents_name(tmp_path: Path) -> None:
    files = {"files": "host"}
    async with stranger(tmp_path, permissions=SAFE, options=files) as avatar:
        turn, events = await played(avatar, script({"write": "made", "text": "x"}))
        assert (turn.outcome, turn.text[:7]) == (Outcome.COMPLETED, "[error:")
        [told] = [event for event in events if isinstance(event, DiagnosticEvent)]
        assert told.message.startswith("safe mode forbids to write")
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("agent", "tool"), [("claude", "Write"), ("gemini-headless", "write_file")]
)
async def test_an_edit_of_another_agent_ends_the_turn_too(
    tmp_path: Path, agent: str, tool: str
) -> None:
    with trio.fail_after(120):
        async with open_avatar(
            launcher.agent(agent), working_dir=tmp_path, permissions=SAFE
        ) as avatar:
            assert (await avatar.capabilities()).permissions is PermissionBasis.ENFORCED
            turn, _ = await played(avatar, script({"tool": tool, "result": "w"}, {"deaf": -1}))
            assert turn.outcome is Outcome.FAILED


async def test_a_question_after_the_start_is_no_breach(tmp_path: Path) -> None:
    """Claude and Codex call a tool started before they ask about it."""
    for agent in ("claude", "codex-acp"):
        with trio.fail_after(120):
            async with open_avatar(
                launcher.agent(agent), working_dir=tmp_path, permissions=SAFE
            ) as avatar:
                turn, events = await played(avatar, script({"ask": "Write", "input": {}}))
                assert turn.outcome in {Outcome.COMPLETED, Outcome.CANCELLED}
                assert not [event for event in events if isinstance(event, ErrorEvent)]


def stranger_on_the_command_line(place: Path, permission: str, prompt: str) -> tuple[int, str]:
    agent = {
        "command": sys.executable,
        "args": ["-m", "avatar_actors.programs.embedded"],
        "passes": ["AVATAR_EMBEDDED_*"],
    }
    (place / "own.yaml").write_text(json.dumps({"providers": {"stranger": agent}}))
    words = ("chat", "-c", "own.yaml", "-p", "stranger", "--permission", permission, prompt)
    done = avatar(place, *words)
    return done.returncode, done.stderr


@pytest.mark.parametrize("permission", ["safe", "ask", "unrestricted"])
def test_the_command_line_says_that_an_agent_is_on_trust(tmp_path: Path, permission: str) -> None:
    code, told = stranger_on_the_command_line(tmp_path, permission, "help")
    trusted = "avatar-embedded is on trust: it may change things without asking"
    assert code == 0
    assert (trusted in told, len(told.splitlines())) == (
        (False, 0) if permission == "unrestricted" else (True, 1)
    )


def test_the_command_line_tells_what_ran_unasked(tmp_path: Path) -> None:
    edit = script({"tool": "Write", "result": "w"}, {"say": "done"})
    code, told = stranger_on_the_command_line(tmp_path, "ask", edit)
    assert (code, "'Write' (edit) ran though ask mode forbids it" in told) == (0, True)
    code, told = stranger_on_the_command_line(tmp_path, "safe", edit)
    assert (code, "failed: the tool 'Write' (edit) ran though safe mode" in told) == (1, True)
