"""A cancel in each phase of a turn, and agents that do not obey it."""

import os

import pytest
import trio

from avatar_actors.programs.embedded.json_lines import Record, record_in, text_in
from tests.programs.embedded.driver import (
    Acp,
    Place,
    Steps,
    answers,
    is_request,
    is_update,
    open_session,
    read_fifo,
    text_of,
    updates,
)


def stop_reason(messages: list[Record]) -> str:
    return text_in(record_in(messages[-1], "result"), "stopReason")


async def cancelled(agent: Acp, steps: Steps) -> list[Record]:
    """Cancels when the turn has said `go`; gives what came after it."""
    request = await agent.begin([{"say": "go"}, *steps])
    await agent.until(is_update("agent_message_chunk"))
    await agent.cancel()
    return await agent.until(answers(request))


BUSY: list[Steps] = [
    [{"wait": 60}, {"say": "late"}],
    [{"until": "never"}, {"say": "late"}],
    [{"tool": "Bash", "seconds": 60}, {"say": "late"}],
    [{"parallel": [{"tool": "Bash", "seconds": 60}, {"tool": "Bash", "seconds": 60}]}],
    [{"pulse": {"every": 0.001, "count": 60000}}],
    [{"repeat": 1000000, "steps": [{"think": "hm"}]}],
    [{"flood": 10_000_000, "text": "x"}],
    [{"request": "fs/read_text_file", "params": {}}],
]


@pytest.mark.parametrize("steps", BUSY)
async def test_a_cancel_ends_the_turn_whatever_it_does(place: Place, steps: Steps) -> None:
    async with open_session(place) as agent:
        messages = await cancelled(agent, steps)
        assert stop_reason(messages) == "cancelled"
        assert "late" not in text_of(messages)
        assert text_of(await agent.prompt([{"say": "next"}])) == "next"


async def test_a_cancel_kills_the_processes_of_the_tools(place: Place) -> None:
    os.mkfifo(place.cwd / "pid")
    async with open_session(place) as agent:
        command = "echo $$ > pid; exec sleep 60"
        tool: dict[str, object] = {"tool": "Bash", "input": {"command": command}, "run": True}
        request = await agent.begin([tool])
        pid = int(await read_fifo(place.cwd / "pid"))
        await agent.cancel()
        await agent.until(answers(request))
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


async def test_a_tool_killed_from_outside_fails_and_the_turn_goes_on(place: Place) -> None:
    async with open_session(place) as agent:
        command = "kill -9 $$"
        tool: dict[str, object] = {"tool": "Bash", "input": {"command": command}, "run": True}
        messages = await agent.prompt([tool, {"say": "on"}])
        ends = [each for each in updates(messages) if each.get("status") == "failed"]
        assert [text_in(end, "rawOutput") for end in ends] == ["[killed by signal 9]"]
        assert text_of(messages) == "on"


@pytest.mark.parametrize("variant", ["plain", "codex-zed", "codex-acp"])
async def test_a_cancel_answers_an_open_permission(place: Place, variant: str) -> None:
    async with open_session(place, variant=variant) as agent:
        request = await agent.begin([{"ask": "Bash", "input": {"command": "x"}}])
        await agent.until(is_request("session/request_permission"))
        await agent.cancel()
        assert stop_reason(await agent.until(answers(request))) == "cancelled"


async def test_gemini_waits_for_the_answer_to_its_permission(place: Place) -> None:
    async with open_session(place, variant="gemini") as agent:
        request = await agent.begin([{"ask": "Bash", "input": {"command": "x"}}])
        asked = (await agent.until(is_request("session/request_permission")))[-1]
        await agent.cancel()
        with trio.move_on_after(0.3) as waiting:
            await agent.message()
        assert waiting.cancelled_caught
        await agent.choose(asked, "cancelled")
        assert stop_reason(await agent.until(answers(request))) == "cancelled"


@pytest.mark.parametrize("variant", ["codex-zed", "codex-acp"])
@pytest.mark.parametrize("kind", ["abort", "cancel", "cancelled"])
async def test_a_refusal_ends_the_turn_of_codex(place: Place, variant: str, kind: str) -> None:
    async with open_session(place, variant=variant) as agent:
        request = await agent.begin([{"ask": "Bash", "input": {"command": "x"}}, {"say": "on"}])
        asked = (await agent.until(is_request("session/request_permission")))[-1]
        await agent.choose(asked, kind)
        messages = await agent.until(answers(request))
        assert stop_reason(messages) == "cancelled"
        assert text_of(messages) == ""


@pytest.mark.parametrize("variant", ["plain", "gemini"])
async def test_a_refusal_is_said_and_the_turn_goes_on(place: Place, variant: str) -> None:
    async with open_session(place, variant=variant) as agent:
        request = await agent.begin([{"ask": "Bash", "input": {"command": "x"}}, {"say": "on"}])
        asked = (await agent.until(is_request("session/request_permission")))[-1]
        await agent.choose(asked, "reject" if variant == "plain" else "cancel")
        assert text_of(await agent.until(answers(request))) == "[denied]on"


async def test_an_always_is_not_asked_again(place: Place) -> None:
    async with open_session(place) as agent:
        request = await agent.begin([{"ask": "Bash"}, {"ask": "Bash"}])
        asked = (await agent.until(is_request("session/request_permission")))[-1]
        await agent.choose(asked, "always")
        assert text_of(await agent.until(answers(request))) == "[allowed][allowed]"


async def test_a_cancel_can_be_ignored(place: Place) -> None:
    async with open_session(place) as agent:
        steps: Steps = [{"ignore_cancel": True}, {"say": "go"}, {"wait": 0.2}, {"say": " on"}]
        request = await agent.begin(steps)
        await agent.until(is_update("agent_message_chunk"))
        await agent.cancel()
        messages = await agent.until(answers(request))
        assert text_of(messages) == " on"
        assert stop_reason(messages) == "end_turn"


async def test_a_cancel_can_be_acknowledged_late(place: Place) -> None:
    async with open_session(place) as agent:
        began = trio.current_time()
        request = await agent.begin([{"ack_after": 0.3}, {"say": "go"}, {"wait": 60}])
        await agent.until(is_update("agent_message_chunk"))
        await agent.cancel()
        assert stop_reason(await agent.until(answers(request))) == "cancelled"
        assert trio.current_time() - began >= 0.3


async def test_a_deaf_agent_answers_only_afterwards(place: Place) -> None:
    async with open_session(place) as agent:
        request = await agent.begin([{"deaf": 0.5}])
        slowest, messages = 0.0, list[Record]()
        while not any(map(answers(request), messages)):
            began = trio.current_time()
            messages = await agent.call("session/list", {})
            slowest = max(slowest, trio.current_time() - began)
        assert slowest >= 0.2


async def test_a_cancel_without_a_turn_does_nothing(place: Place) -> None:
    async with open_session(place) as agent:
        await agent.cancel()
        assert text_of(await agent.prompt([{"say": "x"}])) == "x"


async def test_a_second_prompt_waits_for_the_first(place: Place) -> None:
    async with open_session(place) as agent:
        first = await agent.begin([{"wait": 0.1}, {"say": "first"}])
        second = await agent.begin([{"say": "second"}])
        assert text_of(await agent.until(answers(first))) == "first"
        assert text_of(await agent.until(answers(second))) == "second"


async def test_a_second_prompt_cancels_the_first_of_gemini(place: Place) -> None:
    async with open_session(place, variant="gemini") as agent:
        first = await agent.begin([{"wait": 60}])
        second = await agent.begin([{"say": "second"}])
        assert stop_reason(await agent.until(answers(first))) == "cancelled"
        assert text_of(await agent.until(answers(second))) == "second"


async def test_two_sessions_work_side_by_side(place: Place) -> None:
    async with open_session(place) as agent:
        one = await agent.begin([{"wait": 60}])
        first = agent.session
        await agent.new()
        assert text_of(await agent.prompt([{"say": "two"}])) == "two"
        agent.session = first
        await agent.cancel()
        assert stop_reason(await agent.until(answers(one))) == "cancelled"
