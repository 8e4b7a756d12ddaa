"""One session over several lives of an agent's process: taken up again, and after kill -9."""

import os
import signal
import time
import uuid
from pathlib import Path

import pytest
import trio

from avatar_actors import (
    AgentRefused,
    Continuity,
    ContinuityEvent,
    Outcome,
    ToolEvent,
    ToolStatus,
)
from tests.conformance.remains import processes_marked
from tests.model_api.script import Shell, Text, by_prompt
from tests.processes.census import eventually
from tests.real_agents.ability import Ability, Found
from tests.real_agents.conftest import Finds
from tests.real_agents.subject import Agent, RealSubject, open_subject

SECRET = "the word is heliotrope"
LATER = "which word was it?"
# Enough that its replay takes longer than the way of a prompt.
LONG_PAST = 12
# The promise is 0.1 s; this is for a machine that is busy with other things.
AT_ONCE = 5.0
# The slowest start takes half of what is left.
MINUTES_FIRST_PART = 20


async def remembers(subject: RealSubject) -> bool:
    """Whether the model is told what was said in an earlier life."""
    answer = await subject.avatar.chat(LATER)
    assert answer.outcome is Outcome.COMPLETED, answer.error
    [request] = [each for each in subject.api.main_requests if LATER in each.prompt]
    return any(SECRET in text for text in request.user_texts)


async def tell_secret(agent: Agent, place: Path) -> str:
    """A first life; the session's id."""
    async with open_subject(agent, place) as subject:
        assert (await subject.avatar.capabilities()).can_load_session
        answer = await subject.avatar.chat(SECRET)
        assert answer.outcome is Outcome.COMPLETED, answer.error
        assert answer.session_id
        return answer.session_id


def chats(home: Path) -> dict[Path, bytes]:
    """Gemini's stored sessions; none of other agents."""
    return {path: path.read_bytes() for path in home.glob(".gemini/tmp/*/chats/*.jsonl")}


def put_back_older(files: dict[Path, bytes]) -> None:
    """As if another minute had begun: Gemini names its files by the minute."""
    for path, content in files.items():
        path.unlink(missing_ok=True)
        kind, _, rest = path.name.partition("-")
        path.with_name(f"{kind}-2020{rest[4:]}").write_bytes(content)


async def early_in_a_minute(agent: Agent) -> None:
    """Gemini CLI 0.61.0 loses a session that is loaded in the minute that it was made in.

    So that a test meets with this always or never, it begins with time enough in its minute.
    """
    gone = time.time() % 60
    if agent.provider == "gemini" and gone > MINUTES_FIRST_PART:
        await trio.sleep(60 - gone)


async def resumes(agent: Agent, place: Path, session_id: str) -> bool:
    """Whether the agent takes it up; then it remembers, else it is refused to the host."""
    try:
        async with open_subject(agent, place, resume=session_id) as subject:
            assert (await subject.avatar.health()).session_id == session_id
            assert await remembers(subject)
    except AgentRefused:
        return False
    return True


@pytest.mark.ability(Ability.RESUME)
async def test_a_stopped_session_is_taken_up_again(
    agent: Agent, finds: Finds, tmp_path: Path
) -> None:
    await early_in_a_minute(agent)
    session_id = await tell_secret(agent, tmp_path)
    stored = chats(tmp_path / "home")
    if await resumes(agent, tmp_path, session_id):
        finds()
    else:
        put_back_older(stored)
        assert await resumes(agent, tmp_path, session_id)
        finds(Found.DIFFERS, "refused within the minute of its start")
    assert not await resumes(agent, tmp_path, str(uuid.uuid4()))


async def test_the_first_answer_after_a_resume_is_nothing_but_its_own(
    agent: Agent, tmp_path: Path
) -> None:
    async with open_subject(agent, tmp_path) as subject:
        for number in range(LONG_PAST):
            await subject.avatar.chat(f"question {number}")
        session_id = (await subject.avatar.health()).session_id
    put_back_older(chats(tmp_path / "home"))
    async with open_subject(agent, tmp_path, resume=session_id) as subject:
        answer = await subject.avatar.chat(LATER)
        assert answer.outcome is Outcome.COMPLETED, answer.error
        assert answer.content.count("echo:") == 1, answer.content
        assert LATER in answer.content


async def kill(pid: int) -> float:
    """Until it is dead, and when that was: big ones take the kernel 0.1 s to clear away."""
    descriptor = os.pidfd_open(pid)
    try:
        os.kill(pid, signal.SIGKILL)
        await trio.lowlevel.wait_readable(descriptor)
        return time.perf_counter()
    finally:
        os.close(descriptor)


@pytest.mark.ability(Ability.KILLED_IN_TOOL)
async def test_killed_in_a_tool_it_tells_at_once_and_comes_back_honest(
    agent: Agent, finds: Finds, tmp_path: Path
) -> None:
    mark = f"mark-{os.getpid()}-{time.monotonic_ns()}"
    command = f"python3 -c 'import time; time.sleep(600)' {mark}"
    script = by_prompt({"run it": [[Shell(command)], [Text("it ran")]]})
    await early_in_a_minute(agent)
    async with open_subject(agent, tmp_path, script) as subject:
        await subject.avatar.chat(SECRET)
        async with subject.avatar.turn("run it") as turn, trio.open_nursery() as nursery:
            nursery.start_soon(subject.allow_all, turn)
            await subject.recorder.until(ToolEvent, lambda tool: tool.status is ToolStatus.STARTED)
            await eventually(lambda: processes_marked(mark))
            pid = (await subject.avatar.health()).pid
            assert pid is not None
            killed = time.perf_counter()
            dead = await kill(pid)
        told = time.perf_counter()
        end = turn.response()
        assert (end.outcome, bool(end.unknown_tools), end.can_retry) == (
            Outcome.CRASHED,
            True,
            False,
        )
        assert told - killed < AT_ONCE
        await eventually(lambda: not processes_marked(mark))
        gone = time.perf_counter() - killed
        event = await subject.recorder.until(ContinuityEvent)
        back = time.perf_counter() - killed
        assert event.continuity in {Continuity.RESUMED, Continuity.FRESH}
        is_resumed = event.continuity is Continuity.RESUMED
        assert is_resumed or (agent.provider == "gemini" and event.why)
        assert await remembers(subject) == is_resumed
        assert len([each for each in subject.api.main_requests if "run it" in each.prompt]) == 1
    seconds = {"outcome": told - killed, "of it after its death": told - dead}
    seconds |= {"tool gone": gone, "back": back}
    if is_resumed:
        finds(seconds=seconds)
    else:
        finds(Found.DIFFERS, "fresh: lost within the minute of its start", seconds)
