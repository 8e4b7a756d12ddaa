"""Faults from outside: signals to an agent, its tool, its keeper, or the warden of all."""

from __future__ import annotations

import os
import secrets
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import trio

from avatar_actors import AvatarEvent, Outcome, ToolEvent, ToolStatus
from avatar_actors.chaos.faults.injection import FaultTarget, Landing, NotLanded, miss, outcome_of
from avatar_actors.chaos.faults.kinds import FaultKind
from avatar_actors.chaos.load import PromptOutcome
from avatar_actors.chaos.oracle.process_view import ProcessSeen, children_of
from avatar_actors.chaos.questions import Step

_LONG = 60.0
_LOOK = 0.005
_NUMBERS = {
    FaultKind.KILL_AGENT: signal.SIGKILL,
    FaultKind.TERM_AGENT: signal.SIGTERM,
    FaultKind.KILL_TOOL: signal.SIGKILL,
    FaultKind.TERM_TOOL: signal.SIGTERM,
}


async def end_agent(shot: FaultTarget) -> Landing:
    """SIGKILL or SIGTERM."""
    number = _NUMBERS[shot.fault.kind]
    agent = await shot.stage.agent()
    at = await shot.hit(agent, number)
    await shot.until_gone(agent)
    return Landing(at=at, proof=f"pid {agent.pid} is gone after {number.name}")


async def stop_agent(shot: FaultTarget) -> Landing:
    """SIGSTOP; nobody notices but who waits for an answer."""
    agent = await shot.stage.agent()
    at = await _stop_for_a_while(shot, agent)
    frozen = time.monotonic() - at
    return Landing(at=at, proof=f"pid {agent.pid} was in state T for {frozen:.2f} s", frozen=frozen)


async def kill_keeper(shot: FaultTarget) -> Landing:
    """The one above the agent, with whom the agent dies."""
    agent = await shot.stage.agent()
    keeper = agent.parent()
    if keeper is None:
        miss("the agent had gone")
    at = await shot.hit(keeper, signal.SIGKILL)
    await shot.until_gone(keeper, agent)
    return Landing(at=at, proof=f"keeper {keeper.pid} and agent {agent.pid} are gone")


async def kill_warden(shot: FaultTarget) -> Landing:
    """Agents live on, and a new one is made."""
    victims = await wardens_of(shot)
    at = time.monotonic()
    for victim in victims:
        await shot.hit(victim, signal.SIGKILL)
    await shot.until_gone(*victims)
    await _roles(shot, ("anchor", "server"))
    return Landing(at=at, proof=f"{pids(victims)} gone, a warden serves again")


async def stop_warden(shot: FaultTarget) -> Landing:
    """Nothing can be started until it goes on."""
    victims = await wardens_of(shot)
    at = await _stop_for_a_while(shot, *victims)
    return Landing(at=at, proof=f"{pids(victims)} in state T for {shot.fault.seconds:g} s")


async def term_warden(shot: FaultTarget) -> Landing:
    """It is deaf to it: a host's process group may get SIGTERM before the host has cleaned up."""
    victims = await wardens_of(shot)
    at = time.monotonic()
    for victim in victims:
        await shot.hit(victim, signal.SIGTERM)
    await trio.sleep(_LOOK)
    await shot.stage.house.shortage.over()
    if any(victim.is_gone for victim in victims):
        miss(f"{pids(victims)} did not live on")
    return Landing(at=at, proof=f"SIGTERM delivered to {pids(victims)}, alive as before")


async def end_tool(shot: FaultTarget) -> Landing:
    """SIGKILL or SIGTERM; the turn goes on without it."""
    number = _NUMBERS[shot.fault.kind]
    found: list[tuple[ProcessSeen, float]] = []
    with shot.stage.witness.watching(partial(_is_failed, _name(shot))) as failures:
        step = {"seconds": _LONG, "input": {"command": "sleep"}}
        answer = await _with_tool(shot, step, partial(_end, shot, number, found))
        if not found:
            miss(f"no process of the tool was found in a turn that was {outcome_of(answer)}")
        await failures.wait()
    [(tool, at)] = found
    await shot.until_gone(tool)
    return Landing(at=at, proof=f"tool {tool.pid} is gone, and told as failed")


async def stop_tool(shot: FaultTarget) -> Landing:
    """SIGSTOP, SIGCONT: the turn takes longer, and ends well."""
    found: list[Landing] = []
    # A directory: to make one takes no descriptor, of which there may be none.
    gate = shot.stage.house.home / f"open-{secrets.token_hex(4)}"
    step = {"run": True, "input": {"command": f"until [ -d {gate} ]; do sleep 0.05; done"}}
    answer = await _with_tool(shot, step, partial(_stop, shot, gate, found))
    if not found or answer.ended is None or answer.ended.outcome is not Outcome.COMPLETED:
        miss(f"the turn was {outcome_of(answer)}")
    return found[0]


async def _with_tool(
    shot: FaultTarget, tool: Step, act: Callable[[], Awaitable[None]]
) -> PromptOutcome:
    """A turn with a tool that is a real process; `act` is done to it while it runs."""
    stage, name = shot.stage, _name(shot)
    step = {"tool": "Bash", "id": name, **tool}
    answers: list[PromptOutcome] = []
    async with trio.open_nursery() as nursery:
        with stage.witness.watching(partial(_is_started, name)) as starts:

            async def meddle() -> None:
                await starts.wait()
                with suppress(NotLanded):  # the tool ended by itself, and so does the turn
                    await act()

            nursery.start_soon(meddle)
            answers.append(await stage.player.put(stage.author.faulty(step)))
            nursery.cancel_scope.cancel()
    return answers[0]


async def _tool_of(shot: FaultTarget) -> ProcessSeen:
    agent = await shot.stage.agent()
    while True:
        await shot.stage.house.shortage.over()
        tools = [each for each in children_of(agent) if each.state not in {"", "Z", "X"}]
        if tools:
            return tools[0]
        await trio.sleep(_LOOK)


async def _end(
    shot: FaultTarget, number: signal.Signals, found: list[tuple[ProcessSeen, float]]
) -> None:
    tool = await _tool_of(shot)
    found.append((tool, await shot.hit(tool, number)))


async def _stop(shot: FaultTarget, gate: Path, found: list[Landing]) -> None:
    try:
        tool = await _tool_of(shot)
        at = await _stop_for_a_while(shot, tool)
    finally:
        _open(gate)
    found.append(Landing(at=at, proof=f"tool {tool.pid} was in state T, the turn completed"))


def _open(gate: Path) -> None:
    """Let the tool end that waits for it."""
    gate.mkdir()


def _name(shot: FaultTarget) -> str:
    return f"tool-{shot.fault.number}"


def _is_started(name: str, event: AvatarEvent) -> bool:
    return isinstance(event, ToolEvent) and event.tool_id == name and not event.status.is_over


def _is_failed(name: str, event: AvatarEvent) -> bool:
    return (
        isinstance(event, ToolEvent) and event.tool_id == name and event.status is ToolStatus.FAILED
    )


async def _stop_for_a_while(shot: FaultTarget, *processes: ProcessSeen) -> float:
    at = time.monotonic()
    try:
        for process in processes:
            await shot.hit(process, signal.SIGSTOP)
            await shot.until(process, "T", "t", "")
            if process.is_gone:
                miss("it ended before it could be stopped")
        await trio.sleep(shot.fault.seconds)
    finally:
        for process in processes:
            # By its number: it is stopped, so it is there; and a pidfd may not be to be had.
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGCONT)
    for process in processes:
        await shot.until(process, "R", "S", "D", "")
    return at


async def wardens_of(shot: FaultTarget) -> list[ProcessSeen]:
    """Anchor, server or both, as the fault says, of the present warden."""
    roles = ("anchor", "server") if shot.fault.variant == "both" else (shot.fault.variant,)
    return await _roles(shot, roles)


async def _roles(shot: FaultTarget, roles: tuple[str, ...]) -> list[ProcessSeen]:
    while True:
        there = await shot.stage.house.shortage.look(shot.stage.house.wardens.find)
        if all(role in there for role in roles):
            return [there[role] for role in roles]
        await trio.sleep(_LOOK)


def pids(processes: list[ProcessSeen]) -> str:
    """For a proof."""
    return " and ".join(str(process.pid) for process in processes)
