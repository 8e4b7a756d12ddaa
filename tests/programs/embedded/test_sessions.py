"""Stored conversations: resumed after a crash, listed, forked, lost."""

import json
from pathlib import Path

import pytest

from avatar_actors.programs.embedded.json_lines import Record, record_in, records_in, text_in
from avatar_actors.programs.embedded.session import Store
from tests.programs.embedded.driver import Acp, Place, open_acp, open_session, text_of

VARIANTS = ("plain", "gemini", "codex-zed", "codex-acp")


async def load(agent: Acp, method: str, session: str) -> list[Record]:
    await agent.initialize()
    agent.session = session
    return await agent.call(method, agent.session_params(sessionId=session))


async def crash(place: Place, variant: str = "plain") -> str:
    """A session whose agent was killed in its second turn."""
    async with open_session(place, variant=variant) as agent:
        await agent.prompt([{"say": "first answer"}])
        await agent.begin([{"say": "half"}, {"kill": 9}])
        assert await agent.process.wait() == -9
        return agent.session


@pytest.mark.parametrize("variant", VARIANTS)
async def test_a_load_after_a_crash_replays_what_was_said(place: Place, variant: str) -> None:
    session = await crash(place, variant)
    async with open_acp(place, variant=variant) as agent:
        messages = await load(agent, "session/load", session)
        assert text_of(messages) == "first answer"
        assert "result" in messages[-1]
        said = text_of(await agent.prompt([{"echo": "history"}]))
        assert [entry["role"] for entry in json.loads(said)] == ["user", "assistant", "user"]


@pytest.mark.parametrize("variant", ["plain", "codex-zed", "codex-acp"])
async def test_a_resume_replays_nothing_and_remembers_all(place: Place, variant: str) -> None:
    session = await crash(place, variant)
    async with open_acp(place, variant=variant) as agent:
        messages = await load(agent, "session/resume", session)
        assert text_of(messages) == ""
        assert "first answer" in text_of(await agent.prompt([{"echo": "history"}]))


@pytest.mark.parametrize(
    ("variant", "code"),
    [("plain", -32002), ("gemini", -32603), ("codex-zed", -32002), ("codex-acp", -32603)],
)
@pytest.mark.parametrize("session", ["unknown", "../../etc/passwd", ""])
async def test_an_unknown_session_is_an_error(
    place: Place, variant: str, code: int, session: str
) -> None:
    async with open_acp(place, variant=variant) as agent:
        answer = (await load(agent, "session/load", session))[-1]
        assert record_in(answer, "error")["code"] == code


async def test_sessions_can_be_lost(place: Place) -> None:
    session = await crash(place)
    start = {"AVATAR_EMBEDDED_START": '[{"lose_sessions": true}]'}
    async with open_acp(place, env=start) as agent:
        answer = (await load(agent, "session/load", session))[-1]
        assert record_in(answer, "error")["code"] == -32002


async def test_an_agent_that_cannot_load_says_so(place: Place) -> None:
    async with open_acp(place, env={"AVATAR_EMBEDDED_START": '[{"no_load": true}]'}) as agent:
        answer = record_in(await agent.initialize(), "result")
        capabilities = record_in(answer, "agentCapabilities")
        assert capabilities["loadSession"] is False
        assert "resume" not in record_in(capabilities, "sessionCapabilities")
        refused = (await agent.call("session/load", agent.session_params(sessionId="x")))[-1]
        assert record_in(refused, "error")["code"] == -32601


async def test_gemini_has_no_lists_and_no_resume(place: Place) -> None:
    async with open_session(place, variant="gemini") as agent:
        for method in ("session/list", "session/resume", "session/fork", "session/close"):
            answer = (await agent.call(method, agent.session_params()))[-1]
            assert record_in(answer, "error")["code"] == -32601


async def test_a_fork_has_the_history_and_its_own_future(place: Place) -> None:
    async with open_session(place) as agent:
        await agent.prompt([{"say": "shared"}])
        params = agent.session_params(sessionId=agent.session)
        answer = record_in((await agent.call("session/fork", params))[-1], "result")
        assert answer["sessionId"] != agent.session
        agent.session = text_in(answer, "sessionId")
        assert "shared" in text_of(await agent.prompt([{"echo": "history"}]))


async def test_sessions_are_listed_closed_and_deleted(place: Place) -> None:
    async with open_session(place) as agent:
        await agent.prompt("1+1")
        listed = record_in(
            (await agent.call("session/list", {"cwd": str(place.cwd)}))[-1], "result"
        )
        (row,) = records_in(listed, "sessions")
        assert (row["sessionId"], row["title"]) == (agent.session, "1+1")
        params: Record = {"sessionId": agent.session}
        assert (await agent.call("session/close", params))[-1]["result"] == {}
        answer = (await agent.prompt("1+1"))[-1]
        assert record_in(answer, "error")["code"] == -32002
        await agent.call("session/delete", params)
        listed = record_in((await agent.call("session/list", {}))[-1], "result")
        assert listed["sessions"] == []


@pytest.mark.parametrize("params", [{"cwd": "relative"}, {"cwd": "/nowhere/at/all"}, {}])
async def test_a_session_needs_a_folder(place: Place, params: Record) -> None:
    async with open_acp(place) as agent:
        await agent.initialize()
        answer = (await agent.call("session/new", {"mcpServers": [], **params}))[-1]
        assert record_in(answer, "error")["code"] == -32602


async def test_a_session_needs_its_list_of_servers(place: Place) -> None:
    async with open_acp(place) as agent:
        await agent.initialize()
        answer = (await agent.call("session/new", {"cwd": str(place.cwd)}))[-1]
        assert record_in(answer, "error")["code"] == -32602


@pytest.mark.parametrize(
    ("variant", "mode"), [("plain", "auto"), ("gemini", "yolo"), ("codex-acp", "agent-full-access")]
)
async def test_a_free_mode_asks_nothing(place: Place, variant: str, mode: str) -> None:
    async with open_session(place, variant=variant) as agent:
        params: Record = {"sessionId": agent.session, "modeId": mode}
        assert (await agent.call("session/set_mode", params))[-1]["result"] == {}
        messages = await agent.prompt([{"ask": "Bash"}, {"echo": "mode"}])
        assert text_of(messages) == f"[allowed]{mode}"


@pytest.mark.parametrize(("variant", "code"), [("plain", -32602), ("gemini", -32603)])
async def test_an_unknown_mode_is_an_error(place: Place, variant: str, code: int) -> None:
    async with open_session(place, variant=variant) as agent:
        params: Record = {"sessionId": agent.session, "modeId": "nope"}
        answer = (await agent.call("session/set_mode", params))[-1]
        assert record_in(answer, "error")["code"] == code


async def test_a_model_is_set_where_the_agent_can(place: Place) -> None:
    async with open_session(place, variant="gemini") as agent:
        params: Record = {"sessionId": agent.session, "modelId": "any-string"}
        await agent.call("session/set_model", params)
        assert text_of(await agent.prompt([{"echo": "model"}])) == "any-string"


def test_half_a_line_in_the_store_is_passed_over(tmp_path: Path) -> None:
    store = Store(tmp_path / "home")
    store.create("a", "/somewhere")
    store.append("a", {"role": "user", "text": "x"})
    with (tmp_path / "home" / "a.jsonl").open("ab") as file:
        file.write(b'{"role": "assis')
    stored = store.load("a")
    assert stored is not None
    assert (stored.cwd, [entry["text"] for entry in stored.history]) == ("/somewhere", ["x"])
