"""Interrupts: in the text, in a tool, of one tool alone, and prompts that meet."""

import secrets
import time
from pathlib import Path

import pytest
import trio

from avatar_actors import (
    ActivityEvent,
    ActivityStatus,
    BridgeResponse,
    CancelResult,
    Escalation,
    Outcome,
    PermissionMode,
    TextEvent,
    ToolEvent,
    ToolStatus,
    Turn,
    WhileBusy,
)
from tests.conformance.remains import processes_marked, read
from tests.model_api.script import Pause, Script, Shell, Text, ToolCall, by_prompt
from tests.processes.census import eventually
from tests.real_agents.ability import Ability, Found
from tests.real_agents.conftest import Finds
from tests.real_agents.subject import UNHURRIED, Agent, RealSubject, open_subject

# Their commands go on when the turn is cancelled, until the agent ends.
LEAVE_THE_TOOL = {"codex-acp", "codex-zed"}
# 1.18.33 does not see that a signal ended its command, and waits for its own limit of 2 minutes.
WAIT_FOR_THE_DEAD = {"opencode"}
# How long something must be seen going on.
SEEN = 3


class Sleeper:
    """A command that takes too long, and can be told from all others."""

    def __init__(self) -> None:
        self.mark = f"sleeper-{secrets.token_hex(6)}"
        self.command = f"python3 -c 'import time; time.sleep(600)' {self.mark}"

    def processes(self) -> set[int]:
        """Its own and those of the shells around it."""
        return processes_marked(self.mark)

    def is_asleep(self) -> bool:
        """Whether it really runs, not only a shell that is about to start it."""
        names = [read(Path(f"/proc/{pid}/comm")) for pid in self.processes()]
        return any(name.startswith(b"python3") for name in names)


async def until_text(turn: Turn) -> None:
    async for event in turn:
        if isinstance(event, TextEvent) and event.text:
            return
    raise AssertionError(f"it ended without a text: {turn.outcome} {turn.reason}")


async def until_asleep(turn: Turn, sleeper: Sleeper) -> str:
    """The id of the tool: the agent has told of it, and its command runs."""
    async for event in turn:
        if isinstance(event, ToolEvent) and event.parameters.get("command") == sleeper.command:
            await eventually(sleeper.is_asleep)
            return event.tool_id
    raise AssertionError(f"it ended without a tool: {turn.outcome} {turn.reason}")


async def seconds_to_cancel(subject: RealSubject, turn: Turn) -> float:
    """Interrupt the turn; it ends by the agent's own doing, with the process that it has."""
    before = await subject.avatar.health()
    began = time.perf_counter()
    assert await subject.avatar.interrupt()
    await turn.wait()
    took = time.perf_counter() - began
    after = await subject.avatar.health()
    assert turn.outcome is Outcome.CANCELLED
    assert took < UNHURRIED.interrupt
    assert (after.pid, after.restarts) == (before.pid, before.restarts)
    return took


async def answers_the_next_prompt(subject: RealSubject) -> bool:
    answer = await subject.avatar.chat("and now?")
    return answer.outcome is Outcome.COMPLETED and "echo: and now?" in answer.content


@pytest.mark.ability(Ability.INTERRUPT_TEXT)
async def test_an_interrupt_ends_the_text_where_it_stands(
    agent: Agent, finds: Finds, tmp_path: Path
) -> None:
    held = trio.Event()
    script = by_prompt({"long story": [[Text("Once upon a time"), Pause(held), Text(" it ended")]]})
    async with open_subject(agent, tmp_path, script) as subject:
        async with subject.avatar.turn("tell a long story") as turn:
            await until_text(turn)
            took = await seconds_to_cancel(subject, turn)
        assert turn.text == "Once upon a time"
        held.set()
        assert await answers_the_next_prompt(subject)
    finds(seconds={"cancel": took})


@pytest.mark.ability(Ability.INTERRUPT_TOOL)
async def test_an_interrupt_ends_the_command_that_runs(
    agent: Agent, finds: Finds, tmp_path: Path
) -> None:
    sleeper = Sleeper()
    script = by_prompt({"take a nap": [[Shell(sleeper.command)]]})
    async with open_subject(
        agent, tmp_path, script, permissions=PermissionMode.UNRESTRICTED
    ) as subject:
        async with subject.avatar.turn("take a nap") as turn:
            await until_asleep(turn, sleeper)
            took = await seconds_to_cancel(subject, turn)
        if agent.name in LEAVE_THE_TOOL:
            with trio.move_on_after(SEEN):
                await eventually(lambda: not sleeper.processes())
            assert sleeper.is_asleep()
        else:
            await eventually(lambda: not sleeper.processes())
        assert await answers_the_next_prompt(subject)
    assert not sleeper.processes()
    assert subject.recorder.all(ToolEvent)[-1].status is ToolStatus.CANCELLED
    if agent.name in LEAVE_THE_TOOL:
        finds(Found.DIFFERS, "the command runs on until the avatar stops", {"cancel": took})
    else:
        finds(seconds={"cancel": took})


async def stop_a_background_task(subject: RealSubject, sleeper: Sleeper) -> None:
    """Claude's own way: the task outlives its turn, and is ended by the protocol."""
    answer = await subject.avatar.chat("nap in the background")
    assert (answer.outcome, answer.content) == (Outcome.COMPLETED, "It naps.")
    await eventually(sleeper.is_asleep)
    activities = await subject.avatar.activities()
    [task] = [each for each in activities if each.activity_type == "background_task"]
    assert await subject.avatar.cancel_activity(task.activity_id) is CancelResult.STOPPED
    await eventually(lambda: not sleeper.processes())
    ended = await subject.recorder.until(
        ActivityEvent,
        lambda event: event.activity_type == "background_task" and not event.is_cancellable,
    )
    assert ended.status is ActivityStatus.CANCELLED


def naps(sleeper: Sleeper, other: Sleeper) -> Script:
    background = {"command": other.command, "description": "a nap", "run_in_background": True}
    return by_prompt(
        {
            "take a nap": [[Shell(sleeper.command)], [Text("Awake.")]],
            "in the background": [[ToolCall("Bash", background)], [Text("It naps.")]],
        }
    )


async def escalate(subject: RealSubject, turn: Turn, tool_id: str) -> None:
    """The command is gone, but the turn waits for it: so it ends as well."""
    with trio.move_on_after(SEEN):
        await turn.wait()
    assert turn.outcome is None
    result = await subject.avatar.cancel_activity(tool_id, Escalation.TURN)
    assert result is CancelResult.ESCALATED
    await turn.wait()
    assert turn.outcome is Outcome.CANCELLED


@pytest.mark.ability(Ability.CANCEL_ACTIVITY)
async def test_one_command_is_cancelled_and_the_turn_goes_on(
    agent: Agent, finds: Finds, tmp_path: Path
) -> None:
    sleeper, other = Sleeper(), Sleeper()
    script, waits = naps(sleeper, other), agent.name in WAIT_FOR_THE_DEAD
    async with open_subject(
        agent, tmp_path, script, permissions=PermissionMode.UNRESTRICTED
    ) as subject:
        async with subject.avatar.turn("take a nap") as turn:
            tool_id = await until_asleep(turn, sleeper)
            assert await subject.avatar.cancel_activity(tool_id) is CancelResult.STOPPED
            await eventually(lambda: not sleeper.processes())
            await (escalate(subject, turn, tool_id) if waits else turn.wait())
        if not waits:
            assert (turn.outcome, turn.text) == (Outcome.COMPLETED, "Awake.")
            assert len(subject.api.main_requests[-1].tool_results) == 1
        assert await subject.avatar.cancel_activity(tool_id) is CancelResult.ALREADY_DONE
        assert await answers_the_next_prompt(subject)
        if agent.name == "claude":
            await stop_a_background_task(subject, other)
    if waits:
        finds(Found.DIFFERS, "it is stopped, but the turn waits on: escalate")
    else:
        finds(note="background tasks too" if agent.name == "claude" else "")


async def prompts_wait_their_turn(subject: RealSubject, held: trio.Event) -> None:
    answers: list[BridgeResponse] = []

    async def ask_second() -> None:
        answers.append(await subject.avatar.chat("say beta"))

    async with subject.avatar.turn("say alpha") as first, trio.open_nursery() as nursery:
        await until_text(first)
        nursery.start_soon(ask_second)
        await eventually_waiting(subject)
        assert "say beta" not in {request.prompt for request in subject.api.main_requests}
        held.set()
        await first.wait()
    assert (first.outcome, first.text) == (Outcome.COMPLETED, "Alpha, at last.")
    assert [(each.outcome, each.content) for each in answers] == [(Outcome.COMPLETED, "Beta.")]


async def eventually_waiting(subject: RealSubject) -> None:
    while (await subject.avatar.health()).waiting != 1:
        await trio.lowlevel.checkpoint()


async def a_prompt_takes_the_turn_of_another(subject: RealSubject) -> None:
    async with subject.avatar.turn("say gamma") as third:
        await until_text(third)
        fourth = await subject.avatar.chat("say delta", while_busy=WhileBusy.INTERRUPT)
        await third.wait()
    assert (third.outcome, third.text) == (Outcome.CANCELLED, "Gamma")
    assert (fourth.outcome, fourth.content) == (Outcome.COMPLETED, "Delta.")


@pytest.mark.ability(Ability.TWO_PROMPTS)
async def test_two_prompts_at_once_each_get_their_own_answer(
    agent: Agent, finds: Finds, tmp_path: Path
) -> None:
    held, never = trio.Event(), trio.Event()
    script = by_prompt(
        {
            "alpha": [[Text("Alpha"), Pause(held), Text(", at last.")]],
            "beta": [[Text("Beta.")]],
            "gamma": [[Text("Gamma"), Pause(never)]],
            "delta": [[Text("Delta.")]],
        }
    )
    async with open_subject(agent, tmp_path, script) as subject:
        await prompts_wait_their_turn(subject, held)
        await a_prompt_takes_the_turn_of_another(subject)
    finds()
