"""Avatars on the agent that writes exactly the lines which its prompt orders."""

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Unpack

import trio

from avatar_actors import Avatar, AvatarOptions, Runtime, open_runtime
from tests.hostile import line_agent

PATIENCE = 120
END = {"write": '{"id":$ID,"result":{"stopReason":"end_turn"}}'}
HEAR = {"hear": True}


def write(line: str, times: int = 1) -> dict[str, Any]:
    return {"write": line, "times": times}


def text(words: str) -> str:
    """A piece of the answer; `words` as they stand in the JSON."""
    content = f'"content":{{"type":"text","text":"{words}"}}'
    return update(f'"sessionUpdate":"agent_message_chunk",{content}')


def update(fields: str) -> str:
    return f'{{"method":"session/update","params":{{"sessionId":"s-1","update":{{{fields}}}}}}}'


def orders(*steps: dict[str, Any]) -> str:
    """The prompt that makes the agent do so."""
    return json.dumps(steps)


async def line_avatar(
    runtime: Runtime, work: Path, name: str = "", **options: Unpack[AvatarOptions]
) -> Avatar:
    given: AvatarOptions = {
        "executable": sys.executable,
        "args": ("-I", "-S", line_agent.__file__),
        "working_dir": work,
        **options,
    }
    return await runtime.start("acp", name, **given)


@asynccontextmanager
async def one_avatar(work: Path, **options: Unpack[AvatarOptions]) -> AsyncGenerator[Avatar]:
    with trio.fail_after(PATIENCE):
        async with open_runtime() as runtime:
            yield await line_avatar(runtime, work, **options)
