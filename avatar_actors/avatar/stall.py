"""What a silence means: a verdict from the protocol's phase and what the system shows. Pure."""

from __future__ import annotations

from msgspec import Struct

from avatar_actors.model.values import StallVerdict
from avatar_actors.processes import Vitals

# Less than this in a sample is an idle event loop's own ticking.
_BUSY = 0.02


class Stall(Struct, frozen=True, kw_only=True):
    """What is known at the moment: two looks at the agent's processes, some seconds apart."""

    silence: float
    waits_for_host: bool
    tools: tuple[str, ...]
    before: Vitals | None
    after: Vitals | None


def judge(stall: Stall) -> tuple[StallVerdict, str]:
    """The verdict and the evidence for it, in words."""
    silence = f"no output for {stall.silence:.0f} s"
    if stall.waits_for_host:
        return StallVerdict.WAITING_ON_YOU, f"{silence}; a permission request is open"
    waiting = f"; waiting for {', '.join(stall.tools)}" if stall.tools else ""
    idle = StallVerdict.WORKING if waiting else StallVerdict.WEDGED
    if stall.before is None or stall.after is None or not stall.after.processes:
        return idle, f"{silence}; its process cannot be seen{waiting}"
    stopped = stall.after.states.get("T", 0)
    if stopped == stall.after.processes:
        return StallVerdict.WEDGED, f"{silence}; its {stopped} processes are stopped (SIGSTOP)"
    spent = stall.after.cpu_seconds - stall.before.cpu_seconds
    seen = f"{silence}; {spent:.2f} s of CPU in {stall.after.processes} processes"
    if spent >= _BUSY:
        return StallVerdict.WORKING, seen
    return idle, f"{seen}{waiting}"
