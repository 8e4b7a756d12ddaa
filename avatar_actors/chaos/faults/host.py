"""Faults of the host's making: what it gave raises, what it needs is short, it floods a mailbox."""

from __future__ import annotations

import errno
import os
import signal
import time
from contextlib import suppress

import trio

from avatar_actors import AvatarDown
from avatar_actors.chaos.faults.event_watch import is_back, is_crash, is_lost
from avatar_actors.chaos.faults.injected_errors import has_full_disk
from avatar_actors.chaos.faults.injection import FaultTarget, Landing, miss
from supervisors import MailboxSpec

# How long a start is held up by a shortage before it is called a miss.
_SHORT_FOR = 10.0
_MORE_THAN_FIT = 2


async def raise_in_actor(shot: FaultTarget) -> Landing:
    """In the bridge, at the next bytes of the agent: the session is lost."""
    stage, trap = shot.stage, shot.stage.trap
    with stage.witness.watching(is_lost) as losses:
        trap.in_wire = shot.words
        stage.player.poke()
        try:
            await losses.wait()
        finally:
            trap.in_wire = ""
    if trap.said != shot.words:
        miss("the session was lost before it could raise")
    return Landing(at=trap.said_at, proof=f"the bridge raised {trap.said!r}, the session is lost")


async def raise_in_vital(shot: FaultTarget) -> Landing:
    """In the activity tracker: the avatar ends, says why, and its host starts another."""
    stage, trap = shot.stage, shot.stage.trap
    trap.in_tracker = shot.words
    stage.player.poke()
    why = ""
    try:
        await stage.avatar.wait()
    except AvatarDown as error:
        why = str(error)
    finally:
        trap.in_tracker = ""
    await stage.replace()
    if shot.words not in why:
        miss(f"the tracker raised {trap.said!r}, the avatar said {why!r}")
    return Landing(at=trap.said_at, proof=f"AvatarDown: {why}")


async def raise_in_start(shot: FaultTarget) -> Landing:
    """One to three starts in a row, of which the host's own code fails."""
    stage, trap, times = shot.stage, shot.stage.trap, shot.fault.times
    agent = await stage.agent()
    trap.in_start, trap.starts_to_fail, trap.starts_failed = shot.words, times, 0
    with stage.witness.watching(is_back) as ready:
        at = await shot.hit(agent, signal.SIGKILL)
        await shot.until_gone(agent)
        while (failed := trap.starts_failed) < times:  # noqa: ASYNC110 - the plan is no coroutine
            await trio.sleep(0.01)
        await ready.wait()
    return Landing(at=at, proof=f"{failed} starts raised {shot.words!r}, then one did not")


async def emfile(shot: FaultTarget) -> Landing:
    """The agent dies while nothing can be opened: its next life cannot begin."""
    stage = shot.stage
    agent = await stage.agent()
    words = os.strerror(errno.EMFILE)
    with stage.witness.watching(is_crash(words)) as crashes:
        async with stage.house.shortage.of_descriptors():
            # By its number: a pidfd, or a look at it, would need a descriptor.
            at = time.monotonic()
            with trio.move_on_after(_SHORT_FOR), suppress(ProcessLookupError):
                os.kill(agent.pid, signal.SIGKILL)
                await crashes.wait()
    if not crashes.seen:
        miss("the next life began in spite of the shortage")
    return Landing(at=at, proof=f"the notice of a crash says: {words}")


async def enospc(shot: FaultTarget) -> Landing:
    """A file of the agent's next start stands on a full disk."""
    stage = shot.stage
    if not has_full_disk():
        miss("this system has no /dev/full")
    agent = await stage.agent()
    words = os.strerror(errno.ENOSPC)
    with stage.witness.watching(is_crash(words)) as crashes:
        stage.trap.is_disk_full = True
        try:
            at = await shot.hit(agent, signal.SIGKILL)
            # Until it is seen: another shortage may have failed the first start.
            await crashes.wait()
        finally:
            stage.trap.is_disk_full = False
    return Landing(at=at, proof=f"the notice of a crash says: {words}")


async def full_mailbox(shot: FaultTarget) -> Landing:
    """More calls at once than its mailbox has room for: the rest wait, and none is lost."""
    avatar, wanted = shot.stage.avatar, _MORE_THAN_FIT * MailboxSpec().capacity
    asked = answered = most = 0

    async def call() -> None:
        nonlocal asked, answered, most
        asked += 1
        most = max(most, asked - answered)
        await avatar.health()
        answered += 1

    at = time.monotonic()
    async with trio.open_nursery() as nursery:
        for _ in range(wanted):
            nursery.start_soon(call)
    room = MailboxSpec().capacity
    if most <= room + 1:
        miss(f"only {most} were open at once")
    return Landing(at=at, proof=f"{most} calls were open at once, {room} fit in; all answered")
