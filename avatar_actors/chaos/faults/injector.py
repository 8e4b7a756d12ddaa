"""Carries out one fault: injects it until it lands, then measures until the recovery."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Final, TypeAlias

import msgspec
import trio
from msgspec import Struct, field

from avatar_actors import AvatarDown
from avatar_actors.chaos.event_recorder import is_back, is_sign
from avatar_actors.chaos.faults import host, script, signals
from avatar_actors.chaos.faults.injection import FaultTarget, Landing, NotLanded
from avatar_actors.chaos.faults.kinds import FaultKind
from avatar_actors.chaos.faults.schedule import PlannedFault
from avatar_actors.chaos.load import PATIENCE
from avatar_actors.chaos.report.statistics import Prompts
from avatar_actors.chaos.slot import Slot

_ATTEMPTS = 5
# Many times what the slowest takes: it starts an agent, some 12 s on a busy machine.
_LANDS_WITHIN = 60.0

Injection: TypeAlias = Callable[[FaultTarget], Awaitable[Landing]]
_K = FaultKind

INJECTIONS: Final[dict[FaultKind, Injection]] = {
    _K.RAISE_IN_ACTOR: host.raise_in_actor,
    _K.RAISE_IN_VITAL: host.raise_in_vital,
    _K.RAISE_IN_START: host.raise_in_start,
    _K.EXIT: script.die_in_turn,
    _K.HANG: script.hang,
    _K.KILL_AGENT: signals.end_agent,
    _K.STOP_AGENT: signals.stop_agent,
    _K.TERM_AGENT: signals.end_agent,
    _K.KILL_KEEPER: signals.kill_keeper,
    _K.KILL_WARDEN: signals.kill_warden,
    _K.STOP_WARDEN: signals.stop_warden,
    _K.TERM_WARDEN: signals.term_warden,
    _K.KILL_TOOL: signals.end_tool,
    _K.STOP_TOOL: signals.stop_tool,
    _K.TERM_TOOL: signals.end_tool,
    _K.CLOSE_STDOUT: script.die_in_turn,
    _K.HALF_LINE: script.die_in_turn,
    _K.GARBAGE: script.garbage,
    _K.FLOOD: script.flood,
    _K.STDERR_FLOOD: script.stderr_flood,
    _K.SLOW_SUBSCRIBER: script.slow_subscriber,
    _K.FULL_MAILBOX: host.full_mailbox,
    _K.EMFILE: host.emfile,
    _K.ENOSPC: host.enospc,
    _K.KILL_IN_START: signals.kill_in_start,
    _K.KILL_IN_STOP: signals.kill_in_stop,
    _K.KILL_IN_BACKOFF: signals.kill_in_backoff,
    _K.CANCEL_IN_RESTART: signals.cancel_in_restart,
}
_OF_THE_WARDEN: Final = frozenset(
    {_K.KILL_WARDEN, _K.STOP_WARDEN, _K.TERM_WARDEN, _K.KILL_IN_BACKOFF}
)


class FaultRecord(Struct, frozen=True, kw_only=True):
    """What became of a fault. Seconds; `at` since the faults began, the others since it landed.

    `detect`: until the host could know of it; `restart`: until the next session was ready;
    `recovery`: until a prompt that was sent after it was answered; `down`: without a session.
    `prompts` and `breaches`: of the avatar that it hit, as long as it was dealt with.
    """

    number: int
    kind: FaultKind
    avatar: int
    planned: float
    at: float
    is_landed: bool
    proof: str
    attempts: int
    detect: float | None = None
    restart: float | None = None
    recovery: float | None = None
    restarts: int = 0
    down: float = 0.0
    prompts: Prompts = field(default_factory=Prompts)
    breaches: int = 0


async def inject(slot: Slot, fault: PlannedFault, began: float) -> FaultRecord:
    """Injects one fault at a time per slot; `began`: the monotonic start of the faults."""
    async with AsyncExitStack() as locks:
        await locks.enter_async_context(slot.lock)
        if fault.kind in _OF_THE_WARDEN:
            await locks.enter_async_context(slot.context.one_warden)
        slot.load.is_hit = True
        slot.load.hits += 1
        try:
            return await _until_landed(FaultTarget(slot, fault), began)
        finally:
            slot.load.is_hit = False


async def _until_landed(target: FaultTarget, began: float) -> FaultRecord:
    why: list[str] = []
    slot, fault = target.slot, target.fault
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return await _land(target, began, attempt)
        # OSError: this program too may have lacked descriptors.
        except (NotLanded, AvatarDown, OSError) as error:
            why.append(str(error))
            if slot.avatar.is_down:
                await slot.replace()
    return FaultRecord(
        number=fault.number,
        kind=fault.kind,
        avatar=fault.avatar,
        planned=fault.at,
        at=time.monotonic() - began,
        is_landed=False,
        proof="; ".join(why),
        attempts=_ATTEMPTS,
    )


async def _land(target: FaultTarget, began: float, attempt: int) -> FaultRecord:
    slot, fault = target.slot, target.fault
    before, down = slot.recorder.restarts, slot.recorder.down_seconds
    prompts, breaches = msgspec.structs.replace(slot.load.prompts), slot.recorder.breaches.total
    with slot.recorder.watching(is_sign) as signs, slot.recorder.watching(is_back) as backs:
        landing: Landing | None = None
        with trio.move_on_after(_LANDS_WITHIN):
            landing = await INJECTIONS[fault.kind](target)
        if landing is None:
            raise NotLanded(f"nothing showed within {_LANDS_WITHIN:g} s")
        answered: float | None = None
        with trio.move_on_after(PATIENCE):
            answered = await slot.load.answered_since(landing.at)
    slot.recorder.down_seconds += landing.frozen
    restarts, at = slot.recorder.restarts - before, landing.at
    return FaultRecord(
        number=fault.number,
        kind=fault.kind,
        avatar=fault.avatar,
        planned=fault.at,
        at=at - began,
        is_landed=True,
        proof=landing.proof,
        attempts=attempt,
        detect=_since(at, signs.first_since(at)),
        restart=_since(at, backs.first_since(at)) if restarts else None,
        recovery=_since(at, answered),
        restarts=restarts,
        down=slot.recorder.down_seconds - down,
        prompts=slot.load.prompts - prompts,
        breaches=slot.recorder.breaches.total - breaches,
    )


def _since(moment: float, later: float | None) -> float | None:
    return None if later is None else later - moment
