"""An agent made with the SDK, which plays the steps that a prompt names. Nothing of ours is in it.

A prompt is a JSON list of steps: {"say": text}, {"think": text}, {"chunks": n}, {"blocks": n} (of
8 KiB), {"big": bytes}, {"tool": id}, {"begin": id} (a tool that never ends), {"ask": id},
{"tick": seconds}, {"wait": true} (until cancelled), {"history": true}.
"""

import asyncio
import json
import uuid
from collections import defaultdict
from typing import Annotated, Any

import acp
from acp import schema
from acp.agent.connection import AgentSideConnection
from pydantic import Field

# By session; it outlives the connections.
MEMORY: dict[str, list[str]] = defaultdict(list)
OPTIONS = [
    schema.PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
    schema.PermissionOption(option_id="no", name="No", kind="reject_once"),
]


class Loaded(acp.LoadSessionResponse):
    """With the session's id, without which the SDK's HTTP server (0.12) does not know it again."""

    session_id: Annotated[str, Field(alias="sessionId")]


class SdkAgent:
    """One connection's agent; `plain` answers `session/load` as the SDK's own class does."""

    def __init__(self, client: AgentSideConnection, kind: str) -> None:
        self._client, self._kind = client, kind
        self._cancelled: dict[str, asyncio.Event] = {}

    async def initialize(self, protocol_version: int, **_: Any) -> acp.InitializeResponse:
        if self._kind == "mute":
            await asyncio.Event().wait()
        can = schema.AgentCapabilities(load_session=self._kind != "forgetful")
        return acp.InitializeResponse(protocol_version=protocol_version, agent_capabilities=can)

    async def new_session(self, cwd: str, **_: Any) -> acp.NewSessionResponse:
        session_id = uuid.uuid4().hex
        MEMORY[session_id].append(f"cwd {cwd}")
        return acp.NewSessionResponse(session_id=session_id)

    async def load_session(
        self, cwd: str, session_id: str, **_: Any
    ) -> acp.LoadSessionResponse | None:
        if session_id not in MEMORY:
            raise acp.RequestError.resource_not_found(session_id)
        for said in MEMORY[session_id]:
            await self._update(session_id, acp.update_user_message_text(said))
        return acp.LoadSessionResponse() if self._kind == "plain" else Loaded(session_id=session_id)

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> acp.PromptResponse:
        text = "".join(block.text for block in prompt)
        MEMORY[session_id].append(text)
        cancelled = self._cancelled[session_id] = asyncio.Event()
        playing = asyncio.ensure_future(self._play(session_id, json.loads(text)))
        stopping = asyncio.ensure_future(cancelled.wait())
        await asyncio.wait({playing, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if playing.done():
            await playing
            return acp.PromptResponse(stop_reason="end_turn")
        playing.cancel()
        return acp.PromptResponse(stop_reason="cancelled")

    async def cancel(self, session_id: str, **_: Any) -> None:
        self._cancelled[session_id].set()

    async def _update(self, session_id: str, update: Any) -> None:
        await self._client.session_update(session_id, update)

    async def _say(self, session_id: str, text: str) -> None:
        await self._update(session_id, acp.update_agent_message_text(text))

    async def _play(self, session_id: str, steps: list[dict[str, Any]]) -> None:
        for step in steps:
            ((word, value),) = step.items()
            await getattr(self, f"_{word}_step")(session_id, value)

    async def _say_step(self, session_id: str, text: str) -> None:
        await self._say(session_id, text)

    async def _think_step(self, session_id: str, text: str) -> None:
        await self._update(session_id, acp.update_agent_thought_text(text))

    async def _chunks_step(self, session_id: str, count: int) -> None:
        for number in range(count):
            await self._say(session_id, f"{number} ")

    async def _blocks_step(self, session_id: str, count: int) -> None:
        for _ in range(count):
            await self._say(session_id, "x" * 8192)

    async def _big_step(self, session_id: str, size: int) -> None:
        await self._say(session_id, "x" * size)

    async def _tool_step(self, session_id: str, tool_id: str) -> None:
        await self._begin_step(session_id, tool_id)
        done = acp.update_tool_call(
            tool_id, status="completed", content=[acp.tool_content(acp.text_block("done"))]
        )
        await self._update(session_id, done)

    async def _begin_step(self, session_id: str, tool_id: str) -> None:
        begun = acp.start_tool_call(
            tool_id, "make", kind="execute", status="in_progress", raw_input={"command": "make"}
        )
        await self._update(session_id, begun)

    async def _ask_step(self, session_id: str, tool_id: str) -> None:
        call = schema.ToolCallUpdate(tool_call_id=tool_id, title="Write", kind="edit")
        answer = await self._client.request_permission(session_id, call, OPTIONS)
        if not isinstance(answer.outcome, schema.AllowedOutcome):
            await asyncio.Event().wait()  # the cancel of the turn is on its way
        else:
            await self._say(session_id, f"selected {answer.outcome.option_id}")

    async def _tick_step(self, session_id: str, seconds: float) -> None:
        while True:
            await self._say(session_id, ".")
            await asyncio.sleep(seconds)

    async def _wait_step(self, session_id: str, _: bool) -> None:  # noqa: FBT001 - a step's value
        await asyncio.Event().wait()

    async def _history_step(self, session_id: str, _: bool) -> None:  # noqa: FBT001 - a step's value
        await self._say(session_id, json.dumps(MEMORY[session_id]))
