"""The steps that a script can play, over ACP."""

import json
import time

import pytest

from avatar_actors.programs.embedded.json_lines import Record, record_in, text_in
from tests.programs.embedded.driver import (
    Place,
    Steps,
    answers,
    is_request,
    is_update,
    open_acp,
    open_session,
    script,
    text_of,
    update_of,
    updates,
)


async def test_text_comes_in_as_many_chunks_as_wanted(place: Place) -> None:
    async with open_session(place) as agent:
        messages = await agent.prompt([{"say": "abcdef", "chunks": 3}, {"say": ""}])
        texts = [text_in(record_in(each, "content"), "text") for each in updates(messages)]
        assert texts == ["ab", "cd", "ef", ""]


async def test_a_script_may_stand_anywhere_in_the_prompt(place: Place) -> None:
    async with open_session(place) as agent:
        prompt = f"Instructions first.\n\n{script([{'say': 'x'}])} and thanks"
        assert text_of(await agent.prompt(prompt)) == "x"


@pytest.mark.parametrize(
    ("prompt", "part"),
    [
        (script([{"say": "no"}, {"nope": 1}]), "unknown step"),
        (script([{"repeat": 2, "steps": [{"nope": 1}]}]), "unknown step"),
        (script([{"echo": "nope"}]), "unknown echo"),
        (script([{"spawn": "nope"}]), "unknown kind of process"),
        (script([{"kill": "NOPE"}]), "unknown signal"),
        ("SCRIPT:[{", "not JSON"),
        ("SCRIPT:{}", "array"),
    ],
)
async def test_a_bad_script_is_an_error_that_says_why(place: Place, prompt: str, part: str) -> None:
    async with open_session(place) as agent:
        messages = await agent.prompt(prompt)
        error = record_in(messages[-1], "error")
        assert error["code"] == -32602
        assert part in text_in(error, "message")
        assert text_of(messages) == ""


async def test_a_tool_shows_its_input_and_its_end(place: Place) -> None:
    async with open_session(place) as agent:
        step: dict[str, object] = {
            "tool": "Fetch",
            "id": "t1",
            "kind": "fetch",
            "input": {"a": 1},
            "error": "no network",
        }
        start, end = updates(await agent.prompt([step]))
        assert (start["toolCallId"], start["kind"], start["rawInput"]) == ("t1", "fetch", {"a": 1})
        assert (end["status"], end["rawOutput"]) == ("failed", "no network")


async def test_a_tool_that_is_left_never_ends(place: Place) -> None:
    async with open_session(place) as agent:
        (start,) = updates(await agent.prompt([{"tool": "Bash", "leave": True}]))
        assert start["status"] == "in_progress"


async def test_parallel_tools_all_begin_before_one_ends(place: Place) -> None:
    async with open_session(place) as agent:
        tools = [{"tool": "Bash", "id": f"t{n}", "seconds": 0.05} for n in range(3)]
        shown = updates(await agent.prompt([{"parallel": tools}]))
        assert [each["sessionUpdate"] for each in shown[:3]] == ["tool_call"] * 3
        assert {each["toolCallId"] for each in shown[3:]} == {"t0", "t1", "t2"}


async def test_until_waits_for_whoever_looks_on(place: Place) -> None:
    async with open_session(place) as agent:
        request = await agent.begin([{"say": "before "}, {"until": "gate"}, {"say": "after"}])
        before = await agent.until(is_update("agent_message_chunk"))
        (place.cwd / "gate").touch()
        after = await agent.until(answers(request))
        assert (text_of(before), text_of(after)) == ("before ", "after")


async def test_a_flood_has_every_chunk(place: Place) -> None:
    async with open_session(place) as agent:
        messages = await agent.prompt([{"flood": 20_000, "text": "ab"}])
        assert len(messages) == 20_001
        assert text_of(messages) == "ab" * 20_000


async def test_a_long_line_has_its_size(place: Place) -> None:
    async with open_session(place) as agent:
        assert len(text_of(await agent.prompt([{"line": 2}]))) == 2 << 20


async def test_a_pulse_tells_its_number_and_its_time(place: Place) -> None:
    async with open_session(place) as agent:
        before = time.monotonic_ns()
        step: dict[str, object] = {"pulse": {"every": 0.01, "count": 3, "text": "{i}:{t} "}}
        text = text_of(await agent.prompt([step]))
        numbers, times = zip(*(part.split(":") for part in text.split()), strict=True)
        assert numbers == ("0", "1", "2")
        assert before < int(times[0]) < int(times[1]) < int(times[2]) < time.monotonic_ns()
        assert int(times[2]) - before >= 30_000_000


@pytest.mark.parametrize(
    "steps",
    [
        [{"one_write": True}, {"say": "a"}, {"wait": 0.2}, {"say": "b"}],
        [{"lines": ["a"]}, {"wait": 0.2}, {"say": "b"}],
    ],
)
async def test_a_turn_can_leave_in_one_write(place: Place, steps: Steps) -> None:
    async with open_session(place) as agent:
        await agent.begin(steps)
        assert agent.process.stdout is not None
        written = bytes(await agent.process.stdout.receive_some(1 << 16))
        messages = [json.loads(line) for line in written.splitlines()]
        assert text_of(messages) == "ab"
        assert "result" in messages[-1]


async def test_what_is_late_comes_after_the_result(place: Place) -> None:
    async with open_session(place) as agent:
        messages = await agent.prompt([{"say": "a"}, {"late": [{"say": "b"}, {"tool": "X"}]}])
        assert text_of(messages) == "a"
        assert text_of([await agent.message()]) == "b"


async def test_what_is_late_comes_also_after_a_cancel(place: Place) -> None:
    async with open_session(place) as agent:
        steps: Steps = [{"late": [{"say": "b"}]}, {"say": "a"}, {"wait": 60}]
        request = await agent.begin(steps)
        await agent.message()
        await agent.cancel()
        assert text_of(await agent.until(answers(request))) == ""
        assert text_of([await agent.message()]) == "b"


async def test_a_result_can_come_twice(place: Place) -> None:
    async with open_session(place) as agent:
        messages = await agent.prompt([{"result_twice": True}, {"say": "a"}])
        assert await agent.message() == messages[-1]


@pytest.mark.parametrize("reason", ["max_tokens", "max_turn_requests", "refusal"])
async def test_a_turn_can_stop_early_with_a_reason(place: Place, reason: str) -> None:
    async with open_session(place) as agent:
        messages = await agent.prompt([{"say": "a"}, {"stop": reason}, {"say": "b"}])
        assert text_of(messages) == "a"
        assert record_in(messages[-1], "result")["stopReason"] == reason


async def test_a_prompt_can_be_answered_with_an_error(place: Place) -> None:
    async with open_session(place) as agent:
        messages = await agent.prompt([{"error": {"code": 400, "message": "no"}}])
        assert messages[-1]["error"] == {"code": 400, "message": "no"}


async def test_a_request_of_any_kind_says_its_reply(place: Place) -> None:
    async with open_session(place) as agent:
        prompt = await agent.begin([{"request": "x/y", "params": {"a": 1}}])
        request = (await agent.until(is_request("x/y")))[-1]
        assert request["params"] == {"a": 1}
        reply: Record = {"jsonrpc": "2.0", "id": request["id"], "result": [1]}
        await agent.send(reply)
        assert json.loads(text_of(await agent.until(answers(prompt)))) == reply


async def test_notifications_and_raw_updates_pass_as_they_are(place: Place) -> None:
    async with open_session(place) as agent:
        update: Record = {"sessionUpdate": "brand_new", "x": 1}
        messages = await agent.prompt([{"notify": "_a/b", "params": {"c": 2}}, {"update": update}])
        assert (messages[0]["method"], messages[0]["params"]) == ("_a/b", {"c": 2})
        assert update_of(messages[1]) == update


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("mode", "ask"),
        ("model", "some-model"),
        ("system", "Be kind."),
        ("mcp", "[]"),
        ("env:GIVEN", "yes"),
        ("argv", '["--model","some-model"]'),
        ("history", "[]"),
    ],
)
async def test_an_echo_says_what_the_agent_was_given(place: Place, what: str, said: str) -> None:
    flags = ["--model", "some-model"]
    async with open_acp(place, *flags, env={"GIVEN": "yes"}) as agent:
        await agent.initialize()
        await agent.new(_meta={"systemPrompt": "Be kind."})
        assert text_of(await agent.prompt([{"echo": what}])) == said


async def test_an_echo_says_where_the_agent_works(place: Place) -> None:
    async with open_session(place) as agent:
        assert text_of(await agent.prompt([{"echo": "cwd"}])) == str(place.cwd)
        assert text_of(await agent.prompt([{"echo": "session"}])) == agent.session
        assert text_of(await agent.prompt([{"echo": "pid"}])) == str(agent.process.pid)


async def test_without_an_offer_files_stay_in_the_working_directory(place: Place) -> None:
    async with open_session(place) as agent:
        steps: Steps = [
            {"write": "in/a.txt", "text": "hello "},
            {"read": "in/a.txt"},
            {"write": "../b.txt", "text": "x"},
            {"read": "/etc/hostname"},
        ]
        text = text_of(await agent.prompt(steps))
        assert text.startswith("[written]hello [error: ../b.txt is outside")
        assert "[error: /etc/hostname is outside" in text
        assert not (place.folder / "b.txt").exists()


async def test_nothing_else_is_written_into_the_working_directory(place: Place) -> None:
    async with open_session(place) as agent:
        await agent.prompt([{"say": "x"}, {"tool": "Bash", "run": True, "seconds": 0.01}])
        await agent.prompt("hello")
        assert list(place.cwd.iterdir()) == []
        assert place.home.stat().st_mode & 0o777 == 0o700
        assert {path.stat().st_mode & 0o777 for path in place.home.iterdir()} == {0o600}
