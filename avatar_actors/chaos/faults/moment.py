"""Faults that must hit a moment: the start, the pause before it, the stop, the restart."""

from __future__ import annotations

import signal
import time
from functools import partial

import trio

from avatar_actors import AvatarStartError, BridgeState, EventStream, StateEvent
from avatar_actors.chaos.faults.event_watch import is_back, is_lost, is_state
from avatar_actors.chaos.faults.injection import FaultTarget, Landing, miss
from avatar_actors.chaos.faults.signals import pids, wardens_of
from avatar_actors.chaos.oracle.process_view import MARK, ProcessSeen, marked, newest_pid

_LOOK = 0.004
# An agent of Python needs some 100 ms to be ready; a start is cancelled in the midst of that.
_MID_START = 0.01


async def kill_in_start(shot: FaultTarget) -> Landing:
    """The next life's process is killed as soon as it is there."""
    stage = shot.stage
    agent = await stage.agent()
    with (
        stage.witness.watching(is_state(BridgeState.WARMING_UP)) as starts,
        stage.witness.watching(is_back) as ready,
    ):
        since = newest_pid()
        await shot.hit(agent, signal.SIGKILL)
        await starts.wait()
        young = await _newborn(shot, since)
        at = await shot.hit(young, signal.SIGKILL)
        if ready.seen:
            miss("it was ready already")
        await shot.until_gone(young)
    return Landing(at=at, proof=f"pid {young.pid} was not ready yet, and is gone")


async def _newborn(shot: FaultTarget, since: int) -> ProcessSeen:
    while True:
        await shot.stage.house.shortage.over()
        found = marked(shot.stage.mark, since)
        if found:
            return found[-1]
        await trio.sleep(_LOOK)


async def kill_in_stop(shot: FaultTarget) -> Landing:
    """The host stops the avatar, and the agent is killed before that is done."""
    stage = shot.stage
    agent = await stage.agent()
    is_stopped = trio.Event()

    async def stop() -> None:
        await stage.stop()
        is_stopped.set()

    landed: float | None = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stop)
        await trio.lowlevel.checkpoint()  # its stop has begun
        await stage.house.shortage.over()
        at = time.monotonic()
        if not is_stopped.is_set() and agent.signal(signal.SIGKILL):
            landed = at
    left = await _left_of(shot, stage.mark)
    await stage.replace()
    if landed is None:
        miss("the agent had ended before the signal")
    if left:
        miss(f"{pids(left)} lived on after stop()")
    return Landing(at=landed, proof=f"pid {agent.pid} killed during stop(), nobody is left")


async def kill_in_backoff(shot: FaultTarget) -> Landing:
    """The warden goes while an agent waits for its next life."""
    stage = shot.stage
    victims = await wardens_of(shot)
    agent = await stage.agent()
    with (
        stage.witness.watching(is_lost) as losses,
        stage.witness.watching(is_state(BridgeState.WARMING_UP)) as starts,
    ):
        await shot.hit(agent, signal.SIGKILL)
        await losses.wait()
        at = time.monotonic()
        for victim in victims:
            await shot.hit(victim, signal.SIGKILL)
        if starts.seen:
            miss("the next life had begun")
        await shot.until_gone(*victims)
    return Landing(at=at, proof=f"warden {pids(victims)} killed in the pause, and gone")


async def cancel_in_restart(shot: FaultTarget) -> Landing:
    """A prompt, the avatar, or a start: cancelled while there is no session."""
    if shot.fault.variant == "start":
        return await _cancel_start(shot)
    stage = shot.stage
    agent = await stage.agent()
    with (
        stage.witness.watching(is_state(BridgeState.WARMING_UP)) as starts,
        stage.witness.watching(is_back) as ready,
    ):
        await shot.hit(agent, signal.SIGKILL)
        stage.player.poke()
        await starts.wait()
        if shot.fault.variant == "avatar":
            return await _stop_now(shot)
        while stage.player.call is None and not ready.seen:
            stage.player.poke()
            await trio.sleep(_LOOK / 4)
        call, at = stage.player.call, time.monotonic()
        if call is None or ready.seen:
            miss("it was ready already")
        call.cancel()
        while stage.player.call is call:  # noqa: ASYNC110 - its end is told to who asks, not to us
            await trio.sleep(_LOOK)
    return Landing(at=at, proof="a prompt was cancelled while the agent was starting")


async def _stop_now(shot: FaultTarget) -> Landing:
    at = time.monotonic()
    await shot.stage.stop()
    left = await _left_of(shot, shot.stage.mark)
    await shot.stage.replace()
    if left:
        miss(f"{pids(left)} lived on after stop()")
    return Landing(at=at, proof="the avatar was stopped while its agent was starting")


async def _cancel_start(shot: FaultTarget) -> Landing:
    house, name = shot.stage.house, f"x{shot.fault.number}"
    mark = f"{house.run}/{name}"
    options = house.options.copy()
    options["env"] = {**options.get("env", {}), MARK: mark}
    at, avatar, why = time.monotonic(), None, ""
    states = EventStream(kinds=(StateEvent,))
    async with trio.open_nursery() as nursery:
        pause = _MID_START * shot.fault.seconds
        nursery.start_soon(_cancel_on_its_way, states, nursery.cancel_scope, pause)
        try:
            avatar = await house.runtime.start(house.provider, name, states, **options)
        except AvatarStartError as error:
            why = f"the start failed before it could be cancelled: {error}"
        nursery.cancel_scope.cancel()
    states.close()
    if avatar is not None:
        await avatar.stop()
        why = "it was up before it could be cancelled"
    if why:
        miss(why)
    left = await _left_of(shot, mark)
    if left:
        miss(f"{pids(left)} lived on after a cancelled start")
    return Landing(at=at, proof=f"the start of {name} was cancelled, nobody is left")


async def _cancel_on_its_way(states: EventStream, start: trio.CancelScope, pause: float) -> None:
    """Soon after the agent began to start, which takes it longer than this pause."""
    async for event in states:
        if isinstance(event, StateEvent) and event.new_state is BridgeState.WARMING_UP:
            await trio.sleep(pause)
            start.cancel()


async def _left_of(shot: FaultTarget, mark: str) -> list[ProcessSeen]:
    return await shot.stage.house.shortage.look(partial(marked, mark))
