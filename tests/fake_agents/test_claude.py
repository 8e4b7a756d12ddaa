"""The fake Claude: turns, results, permissions, interrupts, background tasks and resuming."""

import json

import pytest
import trio

from avatar_actors.programs.embedded.json_lines import Record, record_in, records_in, text_in
from tests.programs.embedded.driver import (
    CLAUDE,
    Claude,
    Place,
    Steps,
    claude_text,
    is_idle,
    is_type,
    open_claude,
    result_of,
    script,
)

ASKING = ("--permission-prompt-tool", "stdio")


def kinds(messages: list[Record]) -> list[str]:
    return [f"{text_in(m, 'type')}/{text_in(m, 'subtype')}".rstrip("/") for m in messages]


def tool_results(messages: list[Record]) -> list[Record]:
    found: list[Record] = []
    for message in messages:
        blocks = records_in(record_in(message, "message"), "content")
        found += [block for block in blocks if block.get("type") == "tool_result"]
    return found


async def test_every_turn_begins_with_init_and_ends_idle(place: Place) -> None:
    async with open_claude(place) as agent:
        for place_in_line in range(2):
            messages = await agent.turn([{"say": "hi"}])
            assert kinds(messages) == [
                "system/session_state_changed",
                "system/init",
                "assistant",
                "result/success",
                "system/session_state_changed",
            ]
            assert result_of(messages)["result"] == "hi"
            assert result_of(messages)["result_index"] == place_in_line
        assert await agent.close() == 0


async def test_states_are_told_only_to_who_asked(place: Place) -> None:
    async with open_claude(place, env={"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "0"}) as agent:
        await agent.say([{"say": "hi"}])
        messages = await agent.until(is_type("result"))
        assert kinds(messages) == ["system/init", "assistant", "result/success"]


async def test_partial_messages_make_up_the_whole(place: Place) -> None:
    async with open_claude(place, "--include-partial-messages") as agent:
        messages = await agent.turn(
            [{"say": "hello world", "chunks": 4}, {"flood": 3, "text": "!"}]
        )
        deltas = [record_in(record_in(message, "event"), "delta") for message in messages]
        assert "".join(text_in(delta, "text") for delta in deltas) == "hello world!!!"
        assert claude_text(messages) == "hello world!!!"
        assert result_of(messages)["result"] == "hello world!!!"


async def test_cost_and_usage_grow_from_result_to_result(place: Place) -> None:
    async with open_claude(place) as agent:
        for total in (0.25, 0.5):
            messages = await agent.turn([{"usage": {"input": 3, "output": 4}, "cost": 0.25}])
            result = result_of(messages)
            assert result["total_cost_usd"] == total
            assert record_in(result, "usage")["input_tokens"] == 3
            (model,) = record_in(result, "modelUsage").values()
            assert isinstance(model, dict)
            assert model["costUSD"] == total


async def test_without_usage_nothing_is_invented(place: Place) -> None:
    async with open_claude(place) as agent:
        result = result_of(await agent.turn("hello"))
        assert result["total_cost_usd"] == 0
        assert result["modelUsage"] == {}
        assert record_in(result, "usage")["output_tokens"] == 0


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"behavior": "allow", "updatedInput": {"b": 2}}, "[allowed]"),
        ({"behavior": "deny", "message": "no"}, "[denied]"),
        ({"nonsense": 1}, "[denied]"),
    ],
)
async def test_a_permission_is_asked_of_the_host(place: Place, answer: Record, said: str) -> None:
    async with open_claude(place, *ASKING) as agent:
        await agent.say([{"ask": "Write", "input": {"a": 1}}])
        asked = (await agent.until(is_type("control_request")))[-1]
        assert record_in(asked, "request")["input"] == {"a": 1}
        await agent.answer(asked, answer)
        messages = await agent.until(is_idle)
        assert claude_text(messages) == said
        (result,) = tool_results(messages)
        assert result["is_error"] is (said == "[denied]")
        assert bool(result_of(messages)["permission_denials"]) is (said == "[denied]")


async def test_the_input_that_the_host_changed_is_the_one_used(place: Place) -> None:
    async with open_claude(place, *ASKING) as agent:
        await agent.say([{"ask": "Write", "input": {"a": 1}}])
        asked = (await agent.until(is_type("control_request")))[-1]
        await agent.answer(asked, {"behavior": "allow", "updatedInput": {"b": 2}})
        (result,) = tool_results(await agent.until(is_idle))
        assert json.loads(text_in(result, "content")) == {"b": 2}


@pytest.mark.parametrize(
    "flags",
    [
        ["--permission-mode", "acceptEdits"],
        ["--permission-mode", "bypassPermissions"],
        ["--allowedTools", "Bash(echo *)", "Write"],
    ],
)
async def test_what_is_allowed_is_not_asked(place: Place, flags: list[str]) -> None:
    async with open_claude(place, *ASKING, *flags) as agent:
        assert claude_text(await agent.turn([{"ask": "Write"}])) == "[allowed]"


async def test_a_denial_can_interrupt_the_turn(place: Place) -> None:
    async with open_claude(place, *ASKING) as agent:
        await agent.say([{"ask": "Write"}, {"say": "no more"}])
        asked = (await agent.until(is_type("control_request")))[-1]
        await agent.answer(asked, {"behavior": "deny", "message": "stop", "interrupt": True})
        result = result_of(await agent.until(is_idle))
        assert result["terminal_reason"] == "aborted_tools"


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ([{"say": "go"}, {"wait": 60}], "aborted_streaming"),
        ([{"say": "go"}, {"tool": "Bash", "seconds": 60}], "aborted_tools"),
        ([{"say": "go"}, {"ask": "Write"}], "aborted_tools"),
    ],
)
async def test_an_interrupt_ends_the_turn_and_the_next_works(
    place: Place, steps: Steps, reason: str
) -> None:
    async with open_claude(place, *ASKING, "--include-partial-messages") as agent:
        await agent.say(steps)
        waits_for = {"Bash": "assistant", "Write": "control_request"}
        tool = text_in(steps[1], "tool") or text_in(steps[1], "ask")
        await agent.until(is_type(waits_for.get(tool, "stream_event")))
        if tool == "Bash":
            await agent.until(is_type("assistant"))
        messages = await agent.control("interrupt")
        messages += await agent.until(is_idle)
        result = result_of(messages)
        assert (result["is_error"], result["subtype"]) == (True, "error_during_execution")
        assert result["terminal_reason"] == reason
        taken_back = "control_cancel_request" in kinds(messages)
        assert taken_back is (tool == "Write")
        assert claude_text(await agent.turn([{"say": "next"}])) == "next"


async def test_an_interrupt_when_idle_has_no_result(place: Place) -> None:
    async with open_claude(place) as agent:
        answer = (await agent.control("interrupt"))[-1]
        assert record_in(record_in(answer, "response"), "response") == {"still_queued": []}
        assert kinds(await agent.turn([{"say": "x"}])).count("result/success") == 1


async def test_a_message_in_the_middle_of_a_turn_is_folded_into_it(place: Place) -> None:
    async with open_claude(place) as agent:
        await agent.say([{"tool": "Bash", "seconds": 0.5}, {"say": "one "}])
        await agent.until(is_type("assistant"))
        await agent.say([{"say": "two"}], uuid="u-2")
        messages = await agent.until(is_idle)
        assert claude_text(messages) == "one two"
        assert kinds(messages).count("result/success") == 1
        states = [m["state"] for m in messages if m["type"] == "command_lifecycle"]
        assert states == ["queued", "started", "completed"]


async def test_a_waiting_message_can_be_taken_back(place: Place) -> None:
    async with open_claude(place) as agent:
        await agent.say([{"say": "one"}, {"wait": 60}])
        await agent.until(is_type("system"))
        await agent.say([{"say": "two"}], uuid="u-2")
        messages = await agent.control("cancel_async_message", message_uuid="u-2")
        assert record_in(record_in(messages[-1], "response"), "response") == {"cancelled": True}
        await agent.control("interrupt")
        assert "two" not in claude_text(await agent.until(is_idle))


async def test_a_background_agent_ends_in_a_turn_of_its_own(place: Place) -> None:
    async with open_claude(place) as agent:
        steps: Steps = [
            {"task": "Agent", "seconds": 0.2, "then": [{"say": "it ended"}]},
            {"say": "meanwhile"},
        ]
        messages = await agent.turn(steps)
        results = [message for message in messages if message["type"] == "result"]
        assert [text_in(result, "result") for result in results] == ["meanwhile", "it ended"]
        assert "origin" not in results[0]
        assert record_in(results[1], "origin")["kind"] == "task-notification"
        assert {"system/task_started", "system/task_updated", "system/task_notification"} <= set(
            kinds(messages)
        )


async def test_a_background_command_can_be_stopped(place: Place) -> None:
    async with open_claude(place) as agent:
        messages = await agent.turn([{"task": "Bash", "seconds": 60}])
        started = next(m for m in messages if m.get("subtype") == "task_started")
        messages = await agent.control("stop_task", task_id=started["task_id"])
        updated = next(m for m in messages if m.get("subtype") == "task_updated")
        assert record_in(updated, "patch")["status"] == "killed"
        assert kinds(await agent.turn([{"say": "x"}]))[-2:][0] == "result/success"


async def test_stopping_an_unknown_task_is_no_error(place: Place) -> None:
    async with open_claude(place) as agent:
        answer = record_in((await agent.control("stop_task", task_id="nope"))[-1], "response")
        assert (answer["subtype"], answer["response"]) == ("success", {})


async def test_the_end_of_stdin_lets_the_turn_finish(place: Place) -> None:
    async with open_claude(place, *ASKING) as agent:
        await agent.say([{"wait": 0.2}, {"ask": "Write"}, {"say": "done"}])
        assert agent.process.stdin is not None
        await agent.process.stdin.aclose()
        assert claude_text(await agent.until(is_idle)) == "[denied]done"
        assert await agent.process.wait() == 0


async def test_the_exit_code_is_that_of_the_last_result(place: Place) -> None:
    async with open_claude(place) as agent:
        result = result_of(await agent.turn([{"error": {"code": 529, "message": "busy"}}]))
        assert (result["subtype"], result["is_error"]) == ("success", True)
        assert result["api_error_status"] == 529
        assert await agent.close() == 1


async def test_end_session_is_the_clean_way_out(place: Place) -> None:
    async with open_claude(place) as agent:
        await agent.turn([{"task": "Bash", "seconds": 60}])
        await agent.control("end_session")
        assert await agent.process.wait() == 0


async def test_model_and_mode_change_by_control(place: Place) -> None:
    async with open_claude(place, "--model", "one") as agent:
        await agent.control("set_model", model="two")
        await agent.control("set_permission_mode", mode="acceptEdits")
        refused = record_in((await agent.control("set_permission_mode", mode="x"))[-1], "response")
        assert refused["error_code"] == "invalid_mode"
        messages = await agent.turn([{"echo": "model"}, {"say": " "}, {"echo": "mode"}])
        assert claude_text(messages) == "two acceptEdits"
        init = next(message for message in messages if message.get("subtype") == "init")
        assert (init["model"], init["permissionMode"]) == ("two", "acceptEdits")


async def test_a_killed_session_is_resumed(place: Place) -> None:
    async with open_claude(place, "--session-id", "abc-1") as agent:
        await agent.turn([{"say": "remember"}, {"usage": {"input": 1}, "cost": 0.5}])
        await agent.say([{"say": "go"}, {"kill": 9}])
        assert await agent.process.wait() == -9
    async with open_claude(place, "--resume", "abc-1") as agent:
        messages = await agent.turn([{"echo": "history"}])
        history = json.loads(claude_text(messages))
        assert [entry["role"] for entry in history] == ["user", "assistant", "user"]
        assert result_of(messages)["session_id"] == "abc-1"
        assert result_of(messages)["total_cost_usd"] == 0.5


async def test_a_fork_goes_on_under_a_new_id(place: Place) -> None:
    async with open_claude(place, "--session-id", "abc-1") as agent:
        await agent.turn([{"say": "remember"}])
    flags = ("--resume", "abc-1", "--fork-session", "--session-id", "abc-2")
    async with open_claude(place, *flags) as agent:
        messages = await agent.turn([{"echo": "history"}])
        assert "remember" in claude_text(messages)
        assert result_of(messages)["session_id"] == "abc-2"


async def run(place: Place, *flags: str, given: bytes = b"") -> tuple[int, bytes, bytes]:
    done = await trio.run_process(
        [*CLAUDE, *flags],
        stdin=given,
        capture_stdout=True,
        capture_stderr=True,
        check=False,
        env=place.environment({}),
    )
    return done.returncode, done.stdout, done.stderr


async def test_an_unknown_session_is_refused(place: Place) -> None:
    code, printed, complaint = await run(place, "--resume", "nope")
    assert code == 1
    assert complaint == b"No conversation found with session ID: nope\n"
    assert json.loads(printed)["errors"] == ["No conversation found with session ID: nope"]


async def test_a_session_id_in_use_is_refused(place: Place) -> None:
    async with open_claude(place, "--session-id", "abc-1") as agent:
        await agent.turn([{"say": "x"}])
    code, printed, complaint = await run(place, "--session-id", "abc-1")
    assert (code, printed) == (1, b"")
    assert b"already in use" in complaint


@pytest.mark.parametrize(
    "line",
    [
        b'{"type": "user", ',
        b'{"type": "user"}',
        b'{"type": "user", "message": {"role": "assistant"}}',
        b'{"type": "control_request"}',
    ],
)
async def test_some_lines_are_fatal_as_they_are_for_the_real_one(place: Place, line: bytes) -> None:
    code, printed, complaint = await run(place, given=line + b"\n")
    assert (code, printed) == (1, b"")
    assert complaint.startswith(b"Error")


async def test_other_strange_lines_are_ignored(place: Place) -> None:
    async with open_claude(place) as agent:
        await agent.send_bytes(b'\n[1]\nnull\n{"type": "keep_alive"}\n{"type": "new"}\n')
        assert claude_text(await agent.turn([{"say": "x"}])) == "x"


async def test_content_blocks_are_a_prompt_too(place: Place) -> None:
    async with open_claude(place) as agent:
        blocks: list[Record] = [{"type": "text", "text": script([{"say": "x"}])}, {"type": "image"}]
        await agent.send({"type": "user", "message": {"role": "user", "content": blocks}})
        assert claude_text(await agent.until(is_idle)) == "x"


async def test_a_flood_in_one_write_is_complete(place: Place) -> None:
    async with open_claude(place, "--include-partial-messages") as agent:
        messages = await agent.turn([{"one_write": True}, {"flood": 5000, "text": "ab"}])
        assert claude_text(messages) == "ab" * 5000


async def test_the_embedded_claude_takes_the_flags_of_the_real_one(place: Place) -> None:
    flags = [
        *("--setting-sources", "", "--strict-mcp-config", "--settings", "{}"),
        *("--mcp-config", '{"mcpServers": {"calc": {"command": "x"}}}'),
        *("--append-system-prompt", "Be kind.", "--max-turns", "3", "--tools", "Bash", "Read"),
    ]
    async with open_claude(place, *flags) as agent:
        messages = await agent.turn([{"echo": "system"}, {"echo": "mcp"}])
        assert claude_text(messages) == 'Be kind.{"calc":{"command":"x"}}'
        init = next(message for message in messages if message.get("subtype") == "init")
        assert [server["name"] for server in records_in(init, "mcp_servers")] == ["calc"]


async def ask_and_close(agent: Claude) -> list[Record]:
    await agent.say([{"ask": "Write"}])
    await agent.until(is_type("control_request"))
    assert agent.process.stdin is not None
    await agent.process.stdin.aclose()
    return await agent.until(is_idle)


async def test_a_question_that_nobody_can_answer_any_more_is_a_no(place: Place) -> None:
    async with open_claude(place, *ASKING) as agent:
        messages = await ask_and_close(agent)
        assert claude_text(messages) == "[denied]"
        assert "stream closed" in text_in(tool_results(messages)[0], "content")
