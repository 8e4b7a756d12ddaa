"""The warden: keeps the helper process that owns all agents; `processes` does the work."""

from __future__ import annotations

from contextlib import suppress

import trio

from avatar_actors.processes import (
    PrivateRootRefused,
    WardenLost,
    WardenProcess,
    sweep_dead_hosts,
    sweep_private_roots,
)
from avatar_actors.session.messages import Admit
from supervisors import Inbox

# Seconds until all processes of the machine are looked at, for hosts that left no directory.
FULL_SWEEP_AFTER = 30.0


async def warden(inbox: Inbox[Admit], full_sweep_after: float = FULL_SWEEP_AFTER) -> None:
    """Crashes when its helper dies and is restarted with a new one; running agents live on.

    It is ready when nothing is left of dead hosts, as far as their directories tell of them.
    """
    helper = await WardenProcess.open()
    try:
        await trio.to_thread.run_sync(_sweep)
        inbox.ready(helper.containment)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_raise_when_lost, helper)
            nursery.start_soon(_sweep_in_full, full_sweep_after)
            async for admit in inbox:
                await helper.admit(admit.berth)
                inbox.reply(admit, None)
    finally:
        with inbox.grace():
            await helper.aclose()


async def _raise_when_lost(helper: WardenProcess) -> None:
    await helper.wait_lost()
    raise WardenLost("the warden's process has ended")


def _sweep() -> None:
    # A place that is refused is the private root's to report.
    with suppress(PrivateRootRefused, OSError):
        sweep_private_roots()


async def _sweep_in_full(seconds: float) -> None:
    await trio.sleep(seconds)
    await trio.to_thread.run_sync(sweep_dead_hosts, abandon_on_cancel=True)
