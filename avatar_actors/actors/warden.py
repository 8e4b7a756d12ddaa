"""The warden actor: keeps the one helper process that owns agents, and lends places in it."""

from __future__ import annotations

import trio

from avatar_actors.processes import WardenLost, WardenProcess
from avatar_actors.session_messages import Lend
from supervisors import Inbox


async def warden(inbox: Inbox[Lend]) -> None:
    """Crashes when its helper dies, and so gets a new one; agents that run live on."""
    helper = await WardenProcess.open()
    inbox.ready(helper.containment)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_raise_when_lost, helper)
            async for lend in inbox:
                try:
                    lease = await helper.lease()
                except OSError as error:  # no descriptors left: not the helper's fault
                    inbox.reject(lend, error)
                else:
                    inbox.reply(lend, lease)
    finally:
        with inbox.grace():
            await helper.aclose()


async def _raise_when_lost(helper: WardenProcess) -> None:
    await helper.wait_lost()
    raise WardenLost("the warden's process has ended")
