"""The warden: keeps the helper process that owns all agents; `processes` does the work."""

from __future__ import annotations

import trio

from avatar_actors.processes import WardenLost, WardenProcess
from avatar_actors.session.messages import Admit
from supervisors import Inbox


async def warden(inbox: Inbox[Admit]) -> None:
    """Crashes when its helper dies and is restarted with a new one; running agents live on."""
    helper = await WardenProcess.open()
    inbox.ready(helper.containment)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_raise_when_lost, helper)
            async for admit in inbox:
                await helper.admit(admit.berth)
                inbox.reply(admit, None)
    finally:
        with inbox.grace():
            await helper.aclose()


async def _raise_when_lost(helper: WardenProcess) -> None:
    await helper.wait_lost()
    raise WardenLost("the warden's process has ended")
