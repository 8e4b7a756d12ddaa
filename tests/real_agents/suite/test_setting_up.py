"""What a host sets: the model, the system prompt, MCP servers; what it attaches, what it pays."""

import struct
import sys
import zlib
from base64 import b64decode
from pathlib import Path

import pytest

from avatar_actors import Attachment, CostEvent, CostSource, McpServer, Outcome
from tests.model_api.recorded import ModelRequest
from tests.model_api.script import Mcp, Script, Text, Usage, by_prompt
from tests.real_agents import mcp_echo
from tests.real_agents.ability import Ability, Found
from tests.real_agents.conftest import Finds
from tests.real_agents.subject import Agent, RealSubject, open_subject

RULE = "Always answer in the manner of a periwinkle lighthouse."
MARK = "<system_instructions>"


async def asked(subject: RealSubject, prompt: str) -> ModelRequest:
    """What the model got of a prompt that was answered."""
    answer = await subject.avatar.chat(prompt)
    assert answer.outcome is Outcome.COMPLETED, answer.error
    [request] = [each for each in subject.api.main_requests if prompt in each.prompt]
    return request


@pytest.mark.ability(Ability.MODEL)
async def test_the_model_that_was_asked_for_is_called(
    agent: Agent, finds: Finds, tmp_path: Path
) -> None:
    async with open_subject(agent, tmp_path, model=agent.model) as subject:
        request = await asked(subject, "who are you?")
        assert (agent.model_on_the_wire or agent.model) in request.model
    finds()


@pytest.mark.ability(Ability.SYSTEM_PROMPT)
async def test_the_system_prompt_arrives_as_capabilities_say(
    agent: Agent, finds: Finds, tmp_path: Path
) -> None:
    async with open_subject(agent, tmp_path, system_prompt=RULE) as subject:
        request = await asked(subject, "good morning")
        way = (await subject.avatar.capabilities()).system_prompt
        marked = [text for text in request.user_texts if MARK in text and RULE in text]
        assert (RULE in request.system_prompt, len(marked)) == (way == "native", way == "injected")
    if way == "native":
        finds()
    else:
        finds(Found.DIFFERS, "marked, in front of the first prompt")


@pytest.mark.ability(Ability.MCP)
async def test_the_model_calls_a_tool_of_the_hosts_server(
    agent: Agent, finds: Finds, tmp_path: Path
) -> None:
    server = McpServer(
        name=mcp_echo.NAME,
        command=sys.executable,
        args=(mcp_echo.__file__,),
        env={mcp_echo.WORD: "tourmaline"},
    )
    call = Mcp(mcp_echo.NAME, mcp_echo.TOOL, {"text": "hello"})
    script = by_prompt({"use the server": [[call], [Text("used")]]})
    async with open_subject(agent, tmp_path, script, mcp_servers=(server,)) as subject:
        assert (await subject.avatar.capabilities()).mcp_supported
        async with subject.avatar.turn("use the server") as turn:
            await subject.allow_all(turn)
        assert (turn.outcome, turn.text) == (Outcome.COMPLETED, "used")
        [result] = subject.api.main_requests[-1].tool_results
        assert "hello, hello, tourmaline" in result.text
    finds()


def picture() -> bytes:
    """A red square of 8 by 8."""
    rows = 8 * (b"\0" + 8 * b"\xc8\x10\x10")
    head = struct.pack(">2I5B", 8, 8, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    chunks = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.mark.ability(Ability.ATTACHMENT)
async def test_an_image_reaches_the_model(agent: Agent, finds: Finds, tmp_path: Path) -> None:
    attached = Attachment(mime_type="image/png", data=picture(), name="red.png")
    async with open_subject(agent, tmp_path, model=agent.model) as subject:
        takes = "image" in (await subject.avatar.capabilities()).attachments
        answer = await subject.avatar.chat("what is it?", attachments=(attached,))
        images = [image for each in subject.api.main_requests for image in each.images]
    if not takes:
        assert (answer.outcome, images) == (Outcome.FAILED, [])
        assert "image/png" in answer.error
        finds(Found.NOT_OFFERED)
        return
    assert answer.outcome is Outcome.COMPLETED, answer.error
    [image] = images
    assert (image.media_type, b64decode(image.data)) == ("image/png", picture())
    finds()


@pytest.mark.ability(Ability.COST)
async def test_money_is_told_or_not_promised(agent: Agent, finds: Finds, tmp_path: Path) -> None:
    # A price list knows the model by its name.
    script: Script = [[Text("paid"), Usage(input=100_000, output=10_000)]]
    async with open_subject(agent, tmp_path, script, model=agent.model) as subject:
        answer = await subject.avatar.chat("what does it cost?")
        promised = (await subject.avatar.capabilities()).cost_tracking
    told = [event for event in subject.recorder.all(CostEvent) if event.cost_usd is not None]
    assert (answer.cost_usd is None) == (answer.cost_source is CostSource.UNKNOWN) == (not told)
    if answer.cost_usd is None:
        assert not promised
        finds(Found.NOT_OFFERED, "it tells no money, and its model is not in the price table")
        return
    assert answer.cost_usd > 0
    if answer.cost_source is not CostSource.REPORTED:
        assert not promised
        finds(Found.DIFFERS, f"{answer.cost_source.value} from its tokens, by the price table")
    elif promised:
        finds()
    else:
        finds(Found.DIFFERS, "told, though ACP cannot promise it")
