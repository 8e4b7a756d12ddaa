"""What goes wrong on purpose: ends, streams, unruly children and bad starts."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest
import trio

from avatar_actors.programs.embedded.json_lines import Record, record_in, text_in
from tests.programs.embedded.driver import (
    COMMAND,
    Acp,
    Place,
    Steps,
    is_update,
    open_acp,
    open_claude,
    open_process,
    open_session,
    text_of,
)


@pytest.mark.parametrize(
    ("step", "code"),
    [
        ({"exit": 0}, 0),
        ({"exit": 3}, 3),
        ({"kill": 9}, -9),
        ({"kill": "SEGV"}, -signal.SIGSEGV),
        ({"kill": "SIGTERM"}, 143),
    ],
)
async def test_the_agent_ends_as_told(place: Place, step: Record, code: int) -> None:
    async with open_session(place) as agent:
        await agent.begin([{"say": "go"}, step])
        await agent.until(is_update("agent_message_chunk"))
        assert await agent.process.wait() == code


async def test_a_closed_stdout_is_not_the_end(place: Place) -> None:
    async with open_session(place) as agent:
        await agent.begin([{"close": "stdout"}, {"say": "nobody hears"}])
        assert await agent.line() is None
        assert agent.process.poll() is None
        assert await agent.close() == 0


async def test_bytes_leave_as_they_are(place: Place) -> None:
    async with open_session(place) as agent:
        steps: Steps = [
            {"raw": "null\n"},
            {"raw": {"base64": "/w8K"}},
            {"half": '{"a"'},
            {"exit": 1},
        ]
        await agent.begin(steps)
        assert [await agent.line() for _ in range(4)] == [b"null", b"\xff\x0f", b'{"a"', None]


async def test_garbage_is_random_but_the_same_each_time(place: Place) -> None:
    async with open_session(place) as agent:
        await agent.begin([{"garbage": 1000, "seed": 7}, {"garbage": 1000, "seed": 7}, {"exit": 0}])
        assert agent.process.stdout is not None
        data = b"".join([bytes(chunk) async for chunk in agent.process.stdout])
        assert len(data) == 2002
        assert data[:1001] == data[1001:]


@pytest.mark.parametrize(
    ("step", "lines", "size"),
    [({"stderr": 1000}, 13, 1000), ({"stderr": {"lines": 5}}, 5, 85), ({"stderr": "oh"}, 1, 3)],
)
async def test_stderr_gets_what_is_wanted(
    place: Place, step: Record, lines: int, size: int
) -> None:
    start = json.dumps([step, {"exit": 0}])
    done = await trio.run_process(
        [*COMMAND],
        capture_stderr=True,
        env=place.environment({"AVATAR_EMBEDDED_START": start}),
    )
    assert (len(done.stderr.splitlines()), len(done.stderr)) == (lines, size)


async def test_the_end_of_stdin_ends_the_agent_in_the_middle_of_a_turn(place: Place) -> None:
    async with open_session(place) as agent:
        await agent.begin([{"say": "go"}, {"tool": "Bash", "seconds": 60}])
        await agent.until(is_update("tool_call"))
        assert await agent.close() == 0


async def test_a_stubborn_agent_ignores_sigterm_and_the_end_of_stdin(place: Place) -> None:
    async with open_session(place) as agent:
        await agent.prompt([{"stubborn": True}])
        agent.process.terminate()
        assert agent.process.stdin is not None
        await agent.process.stdin.aclose()
        with trio.move_on_after(0.3):
            await agent.process.wait()
        assert agent.process.poll() is None
        agent.process.kill()
        assert await agent.process.wait() == -signal.SIGKILL


async def test_sigterm_ends_the_agent_and_its_tools(place: Place) -> None:
    async with open_session(place) as agent:
        await agent.begin([{"tool": "Bash", "seconds": 60}])
        await agent.until(is_update("tool_call"))
        agent.process.terminate()
        assert await agent.process.wait() == 143
        assert await agent.line() is None


def marked(mark: str) -> list[int]:
    """The processes whose command line ends with the mark."""
    found: list[int] = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                argv = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if mark.encode() in argv:
                found.append(int(folder.name))
    return found


def environment_of(pid: int) -> bytes:
    return Path(f"/proc/{pid}/environ").read_bytes()


def kill_marked(mark: str) -> None:
    while pids := marked(mark):
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        *(("sleeper", 1), ("setsid", 1), ("daemon", 1), ("noenv", 1)),
        *(("stubborn", 1), ("holdstdout", 1), ("storm", 41)),
    ],
)
async def test_unruly_children_are_real_and_survive_the_agent(
    place: Place, kind: str, count: int
) -> None:
    mark = f"embedded-test-{os.getpid()}-{kind}"
    try:
        async with open_session(place) as agent:
            await agent.prompt([{"spawn": kind, "seconds": 30, "mark": mark}])
            assert len(marked(mark)) >= count
            agent.process.kill()
            await agent.process.wait()
            survivors = marked(mark)
            assert len(survivors) >= count
            if kind == "noenv":
                assert environment_of(survivors[0]) == b""
            if kind == "stubborn":
                os.kill(survivors[0], signal.SIGTERM)
                assert marked(mark) == survivors
            if kind == "holdstdout":
                with trio.move_on_after(0.2) as waiting:
                    await agent.line()
                assert waiting.cancelled_caught
    finally:
        kill_marked(mark)


def start(steps: Steps) -> dict[str, str]:
    return {"AVATAR_EMBEDDED_START": json.dumps(steps)}


async def test_a_start_can_fail_with_an_error(place: Place) -> None:
    error: Record = {"code": -32603, "message": "broken"}
    async with open_acp(place, env=start([{"initialize_error": error}])) as agent:
        assert (await agent.initialize())["error"] == error


async def test_a_mute_agent_never_answers_initialize(place: Place) -> None:
    async with open_acp(place, env=start([{"mute": True}])) as agent:
        with trio.move_on_after(0.3) as waiting:
            await agent.initialize()
        assert waiting.cancelled_caught


async def test_a_start_can_be_slow_and_speak_another_version(place: Place) -> None:
    began = trio.current_time()
    async with open_acp(place, env=start([{"slow_start": 0.3}, {"version": 2}])) as agent:
        answer = await agent.initialize()
        assert record_in(answer, "result")["protocolVersion"] == 2
        assert trio.current_time() - began >= 0.3


async def test_sessions_can_need_authentication(place: Place) -> None:
    async with open_acp(place, env=start([{"auth": True}])) as agent:
        await agent.initialize()
        refused = (await agent.call("session/new", agent.session_params()))[-1]
        assert record_in(refused, "error")["code"] == -32000
        await agent.call("authenticate", {"methodId": "none"})
        assert await agent.new()


async def test_a_start_script_can_come_from_a_file(place: Place) -> None:
    file = place.folder / "start.json"
    file.write_text(json.dumps([{"raw": "not json\n"}, {"exit": 9}]))
    async with open_acp(place, "--script", str(file)) as agent:
        assert await agent.line() == b"not json"
        assert await agent.process.wait() == 9


async def test_a_start_can_fail_the_first_times_only(place: Place) -> None:
    counter = str(place.folder / "starts")
    steps: Steps = [{"times": 2, "file": counter, "steps": [{"exit": 5}]}]
    codes: list[int] = []
    for _ in range(3):
        async with open_acp(place, env=start(steps)) as agent:
            codes.append(await agent.close())
    assert codes == [5, 5, 0]


@pytest.mark.parametrize(
    ("flags", "env"),
    [
        (["--nope"], {}),
        (["--model"], {}),
        (["--dialect", "claude"], {}),
        (["--script", "/nowhere/at/all"], {}),
        ([], {"AVATAR_EMBEDDED_START": "[{"}),
        ([], {"AVATAR_EMBEDDED_START": '[{"say": "too early"}]'}),
    ],
)
async def test_a_start_that_makes_no_sense_is_refused(
    place: Place, flags: list[str], env: dict[str, str]
) -> None:
    done = await trio.run_process(
        [*COMMAND, *flags], capture_stderr=True, check=False, env=place.environment(env)
    )
    assert done.returncode == 1
    assert done.stderr.startswith(b"error: ")


GARBAGE = [b"{", b"[]", b"null", b"\xff\xfe", b'{"id": 5}', b'"text"', b"[" * 100_000]


async def test_garbage_on_stdin_is_answered_and_survived(place: Place) -> None:
    async with open_session(place) as agent:
        await agent.send_bytes(b"\n".join(GARBAGE) + b"\n\n")
        codes = [record_in(await agent.message(), "error")["code"] for _ in GARBAGE]
        assert codes == [-32700, -32600, -32600, -32700, -32600, -32600, -32700]
        assert text_of(await agent.prompt([{"say": "alive"}])) == "alive"


async def test_an_unknown_method_is_not_found(place: Place) -> None:
    async with open_session(place) as agent:
        answer = (await agent.call("_foo/bar", {}))[-1]
        assert record_in(answer, "error")["code"] == -32601


async def test_half_a_line_at_the_end_of_stdin_is_heard(place: Place) -> None:
    async with open_process(place, COMMAND) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        message: Record = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
        await process.stdin.send_all(json.dumps(message).encode())
        await process.stdin.aclose()
        data = b"".join([bytes(chunk) async for chunk in process.stdout])
        assert record_in(json.loads(data), "result")["protocolVersion"] == 1


MODULE = [sys.executable, "-m", "avatar_actors.programs.embedded"]
AVATAR = [sys.executable, "-m", "avatar_actors", "embedded"]


@pytest.mark.parametrize("command", [MODULE, AVATAR])
async def test_it_can_be_run_as_a_module_and_by_the_command(
    place: Place, command: list[str]
) -> None:
    async with open_process(place, [*command, "--model=tiny"]) as process:
        agent = Acp(process, place)
        await agent.initialize()
        await agent.new()
        assert text_of(await agent.prompt([{"echo": "model"}])) == "tiny"
        assert await agent.close() == 0


@pytest.mark.parametrize("name", ["ENOSPC", "EACCES"])
async def test_a_store_that_cannot_be_written_loses_only_the_storing(
    place: Place, name: str
) -> None:
    place.home.write_text(f"a file where the folder should be, like {name}")
    async with open_session(place) as agent:
        assert text_of(await agent.prompt([{"say": "still here"}])) == "still here"


async def test_a_claude_start_can_fail_too(place: Place) -> None:
    async with open_claude(place, env=start([{"initialize_error": {"message": "no"}}])) as agent:
        answer = (await agent.control("initialize"))[-1]
        assert text_in(record_in(answer, "response"), "error") == "no"
