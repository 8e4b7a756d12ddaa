"""Faults by signals to an agent, its tool, its keeper or the warden, also at a chosen moment."""

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

from avatar_actors import (
    AvatarEvent,
    AvatarStartError,
    BridgeState,
    EventStream,
    Outcome,
    StateEvent,
    ToolEvent,
    ToolStatus,
)
from avatar_actors.chaos.event_recorder import is_back, is_lost, is_state
from avatar_actors.chaos.faults.injection import FaultTarget, Landing, NotLanded, miss, outcome_of
from avatar_actors.chaos.faults.kinds import FaultKind
from avatar_actors.chaos.load import PromptOutcome
from avatar_actors.chaos.process_view import MARK, ProcessSeen, children_of, marked, newest_pid
from avatar_actors.chaos.questions import Step

_LONG = 60.0
_LOOK = 0.005
_NUMBERS = {
    FaultKind.KILL_AGENT: signal.SIGKILL,
    FaultKind.TERM_AGENT: signal.SIGTERM,
    FaultKind.KILL_TOOL: signal.SIGKILL,
    FaultKind.TERM_TOOL: signal.SIGTERM,
}


async def end_agent(target: FaultTarget) -> Landing:
    """Sends the agent SIGKILL or SIGTERM."""
    number = _NUMBERS[target.fault.kind]
    agent = await target.slot.agent()
    at = await target.hit(agent, number)
    await target.until_gone(agent)
    return Landing(at=at, proof=f"pid {agent.pid} is gone after {number.name}")


async def stop_agent(target: FaultTarget) -> Landing:
    """Stops the agent with SIGSTOP for a while; only a waiting caller notices."""
    agent = await target.slot.agent()
    at = await _stop_for_a_while(target, agent)
    frozen = time.monotonic() - at
    return Landing(at=at, proof=f"pid {agent.pid} was in state T for {frozen:.2f} s", frozen=frozen)


async def kill_keeper(target: FaultTarget) -> Landing:
    """Kills the agent's keeper, and with it the agent."""
    agent = await target.slot.agent()
    keeper = agent.parent()
    if keeper is None:
        miss("the agent had gone")
    at = await target.hit(keeper, signal.SIGKILL)
    await target.until_gone(keeper, agent)
    return Landing(at=at, proof=f"keeper {keeper.pid} and agent {agent.pid} are gone")


async def kill_warden(target: FaultTarget) -> Landing:
    """Kills the warden; agents live on, and a new one is started."""
    victims = await wardens_of(target)
    at = time.monotonic()
    for victim in victims:
        await target.hit(victim, signal.SIGKILL)
    await target.until_gone(*victims)
    await _roles(target, ("anchor", "server"))
    return Landing(at=at, proof=f"{pids(victims)} gone, a warden serves again")


async def stop_warden(target: FaultTarget) -> Landing:
    """Stops the warden for a while, in which nothing can be started."""
    victims = await wardens_of(target)
    at = await _stop_for_a_while(target, *victims)
    return Landing(at=at, proof=f"{pids(victims)} in state T for {target.fault.seconds:g} s")


async def term_warden(target: FaultTarget) -> Landing:
    """Sends the warden SIGTERM, which it ignores: a host's process group may get it too early."""
    victims = await wardens_of(target)
    at = time.monotonic()
    for victim in victims:
        await target.hit(victim, signal.SIGTERM)
    await trio.sleep(_LOOK)
    await target.slot.context.shortage.over()
    if any(victim.is_gone for victim in victims):
        miss(f"{pids(victims)} did not live on")
    return Landing(at=at, proof=f"SIGTERM delivered to {pids(victims)}, alive as before")


async def end_tool(target: FaultTarget) -> Landing:
    """Sends a tool SIGKILL or SIGTERM; the turn goes on without it."""
    number = _NUMBERS[target.fault.kind]
    found: list[tuple[ProcessSeen, float]] = []
    with target.slot.recorder.watching(partial(_is_failed, _name(target))) as failures:
        step = {"seconds": _LONG, "input": {"command": "sleep"}}
        answer = await _with_tool(target, step, partial(_end, target, number, found))
        if not found:
            miss(f"no process of the tool was found in a turn that was {outcome_of(answer)}")
        await failures.wait()
    [(tool, at)] = found
    await target.until_gone(tool)
    return Landing(at=at, proof=f"tool {tool.pid} is gone, and told as failed")


async def stop_tool(target: FaultTarget) -> Landing:
    """Stops a tool for a while; the turn takes longer and ends well."""
    found: list[Landing] = []
    # A directory: making one needs no descriptor, of which there may be none.
    gate = target.slot.context.home / f"open-{secrets.token_hex(4)}"
    step = {"run": True, "input": {"command": f"until [ -d {gate} ]; do sleep 0.05; done"}}
    answer = await _with_tool(target, step, partial(_stop, target, gate, found))
    if not found or answer.ended is None or answer.ended.outcome is not Outcome.COMPLETED:
        miss(f"the turn was {outcome_of(answer)}")
    return found[0]


async def _with_tool(
    target: FaultTarget, tool: Step, act: Callable[[], Awaitable[None]]
) -> PromptOutcome:
    """Runs a turn with a tool that is a real process and calls `act` while it runs."""
    slot, name = target.slot, _name(target)
    step = {"tool": "Bash", "id": name, **tool}
    answers: list[PromptOutcome] = []
    async with trio.open_nursery() as nursery:
        with slot.recorder.watching(partial(_is_started, name)) as starts:

            async def meddle() -> None:
                await starts.wait()
                with suppress(NotLanded):  # the tool ended by itself, and so does the turn
                    await act()

            nursery.start_soon(meddle)
            answers.append(await slot.load.put(slot.writer.faulty(step)))
            nursery.cancel_scope.cancel()
    return answers[0]


async def _tool_of(target: FaultTarget) -> ProcessSeen:
    agent = await target.slot.agent()
    while True:
        await target.slot.context.shortage.over()
        tools = [each for each in children_of(agent) if each.state not in {"", "Z", "X"}]
        if tools:
            return tools[0]
        await trio.sleep(_LOOK)


async def _end(
    target: FaultTarget, number: signal.Signals, found: list[tuple[ProcessSeen, float]]
) -> None:
    tool = await _tool_of(target)
    found.append((tool, await target.hit(tool, number)))


async def _stop(target: FaultTarget, gate: Path, found: list[Landing]) -> None:
    try:
        tool = await _tool_of(target)
        at = await _stop_for_a_while(target, tool)
    finally:
        _open(gate)
    found.append(Landing(at=at, proof=f"tool {tool.pid} was in state T, the turn completed"))


def _open(gate: Path) -> None:
    """Lets the waiting tool end."""
    gate.mkdir()


def _name(target: FaultTarget) -> str:
    return f"tool-{target.fault.number}"


def _is_started(name: str, event: AvatarEvent) -> bool:
    return isinstance(event, ToolEvent) and event.tool_id == name and not event.status.is_over


def _is_failed(name: str, event: AvatarEvent) -> bool:
    return (
        isinstance(event, ToolEvent) and event.tool_id == name and event.status is ToolStatus.FAILED
    )


async def _stop_for_a_while(target: FaultTarget, *processes: ProcessSeen) -> float:
    at = time.monotonic()
    try:
        for process in processes:
            await target.hit(process, signal.SIGSTOP)
            await target.until(process, "T", "t", "")
            if process.is_gone:
                miss("it ended before it could be stopped")
        await trio.sleep(target.fault.seconds)
    finally:
        for process in processes:
            # By its pid: it is stopped, so it exists, and a pidfd may not be available.
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGCONT)
    for process in processes:
        await target.until(process, "R", "S", "D", "")
    return at


async def wardens_of(target: FaultTarget) -> list[ProcessSeen]:
    """The anchor, the server or both of the present warden, as the fault says."""
    roles = ("anchor", "server") if target.fault.variant == "both" else (target.fault.variant,)
    return await _roles(target, roles)


async def _roles(target: FaultTarget, roles: tuple[str, ...]) -> list[ProcessSeen]:
    while True:
        there = await target.slot.context.shortage.look(target.slot.context.wardens.find)
        if all(role in there for role in roles):
            return [there[role] for role in roles]
        await trio.sleep(_LOOK)


def pids(processes: list[ProcessSeen]) -> str:
    """The pids, for a proof."""
    return " and ".join(str(process.pid) for process in processes)


_POLL = 0.004
# An agent in Python needs some 100 ms to be ready; a start is cancelled in that time.
_MID_START = 0.01


async def kill_in_start(target: FaultTarget) -> Landing:
    """Kills the agent's next process as soon as it exists."""
    slot = target.slot
    agent = await slot.agent()
    with (
        slot.recorder.watching(is_state(BridgeState.WARMING_UP)) as starts,
        slot.recorder.watching(is_back) as ready,
    ):
        since = newest_pid()
        await target.hit(agent, signal.SIGKILL)
        await starts.wait()
        young = await _newborn(target, since)
        at = await target.hit(young, signal.SIGKILL)
        if ready.seen:
            miss("it was ready already")
        await target.until_gone(young)
    return Landing(at=at, proof=f"pid {young.pid} was not ready yet, and is gone")


async def _newborn(target: FaultTarget, since: int) -> ProcessSeen:
    while True:
        await target.slot.context.shortage.over()
        found = marked(target.slot.mark, since)
        if found:
            return found[-1]
        await trio.sleep(_POLL)


async def kill_in_stop(target: FaultTarget) -> Landing:
    """Kills the agent while the host stops the avatar."""
    slot = target.slot
    agent = await slot.agent()
    is_stopped = trio.Event()

    async def stop() -> None:
        await slot.stop()
        is_stopped.set()

    landed: float | None = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stop)
        await trio.lowlevel.checkpoint()  # its stop has begun
        await slot.context.shortage.over()
        at = time.monotonic()
        if not is_stopped.is_set() and agent.signal(signal.SIGKILL):
            landed = at
    left = await _left_of(target, slot.mark)
    await slot.replace()
    if landed is None:
        miss("the agent had ended before the signal")
    if left:
        miss(f"{pids(left)} lived on after stop()")
    return Landing(at=landed, proof=f"pid {agent.pid} killed during stop(), nobody is left")


async def kill_in_backoff(target: FaultTarget) -> Landing:
    """Kills the warden while an agent waits for its restart."""
    slot = target.slot
    victims = await wardens_of(target)
    agent = await slot.agent()
    with (
        slot.recorder.watching(is_lost) as losses,
        slot.recorder.watching(is_state(BridgeState.WARMING_UP)) as starts,
    ):
        await target.hit(agent, signal.SIGKILL)
        await losses.wait()
        at = time.monotonic()
        for victim in victims:
            await target.hit(victim, signal.SIGKILL)
        if starts.seen:
            miss("the next life had begun")
        await target.until_gone(*victims)
    return Landing(at=at, proof=f"warden {pids(victims)} killed in the pause, and gone")


async def cancel_in_restart(target: FaultTarget) -> Landing:
    """Cancels a prompt, the avatar or a start while there is no session."""
    if target.fault.variant == "start":
        return await _cancel_start(target)
    slot = target.slot
    agent = await slot.agent()
    with (
        slot.recorder.watching(is_state(BridgeState.WARMING_UP)) as starts,
        slot.recorder.watching(is_back) as ready,
    ):
        await target.hit(agent, signal.SIGKILL)
        slot.load.poke()
        await starts.wait()
        if target.fault.variant == "avatar":
            return await _stop_now(target)
        while slot.load.call is None and not ready.seen:
            slot.load.poke()
            await trio.sleep(_POLL / 4)
        call, at = slot.load.call, time.monotonic()
        if call is None or ready.seen:
            miss("it was ready already")
        call.cancel()
        while slot.load.call is call:  # noqa: ASYNC110 - its end is told to who asks, not to us
            await trio.sleep(_POLL)
    return Landing(at=at, proof="a prompt was cancelled while the agent was starting")


async def _stop_now(target: FaultTarget) -> Landing:
    at = time.monotonic()
    await target.slot.stop()
    left = await _left_of(target, target.slot.mark)
    await target.slot.replace()
    if left:
        miss(f"{pids(left)} lived on after stop()")
    return Landing(at=at, proof="the avatar was stopped while its agent was starting")


async def _cancel_start(target: FaultTarget) -> Landing:
    context, name = target.slot.context, f"x{target.fault.number}"
    mark = f"{context.run}/{name}"
    options = context.options.copy()
    options["env"] = {**options.get("env", {}), MARK: mark}
    at, avatar, why = time.monotonic(), None, ""
    states = EventStream(kinds=(StateEvent,))
    async with trio.open_nursery() as nursery:
        pause = _MID_START * target.fault.seconds
        nursery.start_soon(_cancel_on_its_way, states, nursery.cancel_scope, pause)
        try:
            avatar = await context.runtime.start(context.provider, name, states, **options)
        except AvatarStartError as error:
            why = f"the start failed before it could be cancelled: {error}"
        nursery.cancel_scope.cancel()
    states.close()
    if avatar is not None:
        await avatar.stop()
        why = "it was up before it could be cancelled"
    if why:
        miss(why)
    left = await _left_of(target, mark)
    if left:
        miss(f"{pids(left)} lived on after a cancelled start")
    return Landing(at=at, proof=f"the start of {name} was cancelled, nobody is left")


async def _cancel_on_its_way(states: EventStream, start: trio.CancelScope, pause: float) -> None:
    """Waits a moment that is shorter than the start of an agent, then cancels."""
    async for event in states:
        if isinstance(event, StateEvent) and event.new_state is BridgeState.WARMING_UP:
            await trio.sleep(pause)
            start.cancel()


async def _left_of(target: FaultTarget, mark: str) -> list[ProcessSeen]:
    return await target.slot.context.shortage.look(partial(marked, mark))
