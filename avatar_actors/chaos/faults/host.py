"""Faults in the host: its code raises, it lacks descriptors or disk, it floods a mailbox."""

from __future__ import annotations

import errno
import os
import signal
import time
from contextlib import suppress

import trio

from avatar_actors import AvatarDown
from avatar_actors.chaos.event_recorder import is_back, is_crash, is_lost
from avatar_actors.chaos.faults.injected_errors import has_full_disk
from avatar_actors.chaos.faults.injection import FaultTarget, Landing, miss
from supervisors import MailboxSpec

# Seconds after which a start that a shortage did not stop counts as a miss.
_SHORT_FOR = 10.0
_MORE_THAN_FIT = 2


async def raise_in_actor(target: FaultTarget) -> Landing:
    """Raises in the bridge at the next bytes from the agent; the session is lost."""
    slot, errors = target.slot, target.slot.errors
    with slot.recorder.watching(is_lost) as losses:
        errors.in_wire = target.words
        slot.load.poke()
        try:
            await losses.wait()
        finally:
            errors.in_wire = ""
    if errors.said != target.words:
        miss("the session was lost before it could raise")
    return Landing(
        at=errors.said_at, proof=f"the bridge raised {errors.said!r}, the session is lost"
    )


async def raise_in_vital(target: FaultTarget) -> Landing:
    """Raises in the activity tracker; the avatar ends, tells why, and is replaced."""
    slot, errors = target.slot, target.slot.errors
    errors.in_tracker = target.words
    slot.load.poke()
    why = ""
    try:
        await slot.avatar.wait()
    except AvatarDown as error:
        why = str(error)
    finally:
        errors.in_tracker = ""
    await slot.replace()
    if target.words not in why:
        miss(f"the tracker raised {errors.said!r}, the avatar said {why!r}")
    return Landing(at=errors.said_at, proof=f"AvatarDown: {why}")


async def raise_in_start(target: FaultTarget) -> Landing:
    """Makes one to three starts in a row fail in the host's own code."""
    slot, errors, times = target.slot, target.slot.errors, target.fault.times
    agent = await slot.agent()
    errors.in_start, errors.starts_to_fail, errors.starts_failed = target.words, times, 0
    with slot.recorder.watching(is_back) as ready:
        at = await target.hit(agent, signal.SIGKILL)
        await target.until_gone(agent)
        while (failed := errors.starts_failed) < times:  # noqa: ASYNC110 - the plan is no coroutine
            await trio.sleep(0.01)
        await ready.wait()
    return Landing(at=at, proof=f"{failed} starts raised {target.words!r}, then one did not")


async def emfile(target: FaultTarget) -> Landing:
    """Kills the agent while no file can be opened, so its next life cannot begin."""
    slot = target.slot
    agent = await slot.agent()
    words = os.strerror(errno.EMFILE)
    with slot.recorder.watching(is_crash(words)) as crashes:
        async with slot.context.shortage.of_descriptors():
            # By its pid: a pidfd, or reading /proc, would need a descriptor.
            at = time.monotonic()
            with trio.move_on_after(_SHORT_FOR), suppress(ProcessLookupError):
                os.kill(agent.pid, signal.SIGKILL)
                await crashes.wait()
    if not crashes.seen:
        miss("the next life began in spite of the shortage")
    return Landing(at=at, proof=f"the notice of a crash says: {words}")


async def enospc(target: FaultTarget) -> Landing:
    """Puts a file of the agent's next start on a full disk."""
    slot = target.slot
    if not has_full_disk():
        miss("this system has no /dev/full")
    agent = await slot.agent()
    words = os.strerror(errno.ENOSPC)
    with slot.recorder.watching(is_crash(words)) as crashes:
        slot.errors.is_disk_full = True
        try:
            at = await target.hit(agent, signal.SIGKILL)
            # Until it is seen: another shortage may have failed the first start.
            await crashes.wait()
        finally:
            slot.errors.is_disk_full = False
    return Landing(at=at, proof=f"the notice of a crash says: {words}")


async def full_mailbox(target: FaultTarget) -> Landing:
    """Makes more calls at once than the mailbox holds: the rest wait, and none is lost."""
    avatar, wanted = target.slot.avatar, _MORE_THAN_FIT * MailboxSpec().capacity
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
