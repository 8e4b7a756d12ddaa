"""The fake agents have the fields of the recorded ones: none invented, and few left out."""

import pytest

from avatar_actors.programs.embedded.json_lines import Record, record_in, text_in
from tests.fake_agents.shapes import Shapes, check_claude
from tests.programs.embedded.driver import (
    GEMINI,
    Claude,
    Place,
    Steps,
    answers,
    is_idle,
    is_request,
    is_type,
    open_claude,
    open_process,
    open_session,
    script,
    update_of,
)

TURN: Steps = [
    {"think": "hm"},
    {"say": "hello world", "chunks": 2},
    {"tool": "Bash", "input": {"command": "echo A"}, "run": True},
    {"ask": "Write", "input": {"file_path": "y", "content": "z"}},
    {"usage": {"input": 5, "output": 7}, "cost": 0.25},
]
# What the fake agents have nothing to say about.
UNTOLD = {
    "claude": {
        "assistant/synthetic/message:container",
        "assistant/synthetic/message:diagnostics",
        "assistant/synthetic/message:stop_details",
        "system/init:memory_paths",
        "system/init:messaging_socket_path",
        "system/init:per_turn_effort_active",
        "system/init:ultrathink_available",
        "system/init:ultrathink_typed_raises",
        "system/permission_denied:decision_reason_type",
    },
}


async def play_claude(agent: Claude) -> list[Record]:
    """A bit of everything."""
    messages = await agent.control("initialize")
    messages += await agent.control("nonsense")
    await agent.say(TURN, uuid="u-1")
    messages += await agent.until(is_type("control_request"))
    await agent.answer(messages[-1], {"behavior": "allow", "updatedInput": {}})
    messages += await agent.until(is_idle)
    messages += await agent.turn([{"error": {"code": 500, "message": "boom"}}])
    await agent.say([{"task": "Bash", "input": {"description": "d"}}])
    messages += await agent.until(lambda message: "origin" in message)
    messages += await agent.until(is_idle)
    await agent.say([{"ask": "Write"}])
    messages += await agent.until(is_type("control_request"))
    messages += await agent.control("interrupt")
    messages += await agent.until(is_idle)
    return messages


async def test_claude_has_the_recorded_fields(place: Place) -> None:
    shapes = Shapes("claude")
    flags = ["--include-partial-messages", "--replay-user-messages"]
    async with open_claude(place, *flags, "--permission-prompt-tool", "stdio") as agent:
        for message in await play_claude(agent):
            check_claude(shapes, message)
    assert shapes.invented == set()
    assert shapes.missing - UNTOLD["claude"] == set()
    assert len(shapes.seen) >= 30


async def test_claude_without_a_host_to_ask_has_the_recorded_fields(place: Place) -> None:
    shapes = Shapes("claude")
    async with open_claude(place) as agent:
        for message in await agent.turn([{"ask": "Write"}, {"stop": "max_turn_requests"}]):
            check_claude(shapes, message)
    assert shapes.invented == set()
    assert shapes.missing - UNTOLD["claude"] == set()


async def test_gemini_headless_has_the_recorded_fields(place: Place) -> None:
    shapes = Shapes("gemini-headless")
    refused: Steps = [{"error": {"code": 400, "message": "no"}}]
    for steps in (TURN, refused):
        command = [*GEMINI, "-p", script(steps)]
        async with open_process(place, command) as process:
            agent = Claude(process, place)
            messages = await agent.until(is_type("result"))
        for message in messages:
            more = text_in(message, "role") or text_in(message, "status")
            is_told = message["type"] in ("message", "result")
            shapes.check(f"{message['type']}/{more}" if is_told else str(message["type"]), message)
            if "stats" in message:
                shapes.check("stats", record_in(message, "stats"))
    # A failed tool_result was seen but not kept among the recordings.
    assert shapes.invented <= {"tool_result:error"}
    assert shapes.missing == set()


ACP_UNTOLD: dict[str, set[str]] = {
    "gemini": {"tool_call:locations"},
    "codex-zed": {"tool_call_update:rawOutput"},
    "codex-acp": set(),
}


@pytest.mark.parametrize("variant", ["gemini", "codex-zed", "codex-acp"])
async def test_the_variants_have_the_recorded_fields(place: Place, variant: str) -> None:
    shapes = Shapes(variant)
    async with open_session(place, variant=variant) as agent:
        request = await agent.begin([*TURN[:3], {"ask": "Bash", "input": {"command": "x"}}])
        messages = await agent.until(is_request("session/request_permission"))
        asked = record_in(messages[-1], "params")
        await agent.choose(messages[-1], text_in(record_in(asked, "none"), "none"))
        messages += await agent.until(answers(request))
        messages += await agent.prompt(TURN[-1:])
    shapes.check("session/request_permission", asked)
    shapes.check("session/request_permission/toolCall", record_in(asked, "toolCall"))
    for message in messages:
        if update := update_of(message):
            shapes.check(text_in(update, "sessionUpdate"), update)
        elif "result" in message:
            shapes.check("session/prompt", record_in(message, "result"))
    assert shapes.invented == set()
    assert shapes.missing - ACP_UNTOLD[variant] == set()
