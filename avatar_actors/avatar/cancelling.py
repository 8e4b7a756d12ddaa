"""Stopping one activity and nothing else: by the agent's protocol, or by the tool's processes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import Enum

from msgspec import Struct

from avatar_actors.avatar.control import Contact
from avatar_actors.avatar.messages import FindActivity, SessionReady
from avatar_actors.model.errors import UnknownRequest, Unsupported
from avatar_actors.model.events import ActivityEvent
from avatar_actors.model.values import CancelResult
from avatar_actors.session.messages import CallAgent, EndTool
from supervisors import AskFailed

_TASKS = frozenset({"agent", "background_task"})


class Escalation(Enum):
    """Whether cancelling an activity may end the whole turn."""

    NEVER = "never"
    TURN = "turn"


class StopWanted(Struct, frozen=True):
    """Which activity is to be stopped, and how far that may go."""

    activity_id: str
    escalation: Escalation


async def cancel_activity(
    contact: Contact, wanted: StopWanted, end_turn: Callable[[int], Awaitable[bool]]
) -> CancelResult:
    """Stop one tool or task: by the protocol, else by its processes, else with its turn."""
    activity = await contact.ask(contact.actors.tracker, FindActivity(wanted.activity_id))
    if activity is None:
        raise UnknownRequest(f"no activity {wanted.activity_id!r} is known")
    if not activity.is_cancellable:
        return CancelResult.ALREADY_DONE
    if activity.activity_type == "turn":
        was_there = await end_turn(activity.turn_id)
        return CancelResult.STOPPED if was_there else CancelResult.ALREADY_DONE
    try:
        if await stop_activity(await contact.session(), activity):
            return CancelResult.STOPPED
    except AskFailed:
        return CancelResult.ALREADY_DONE
    if wanted.escalation is Escalation.TURN and await end_turn(activity.turn_id):
        return CancelResult.ESCALATED
    return CancelResult.UNSUPPORTED


async def stop_activity(session: SessionReady, activity: ActivityEvent) -> bool:
    """Whether it could be stopped alone."""
    if activity.activity_type in _TASKS:
        try:
            await session.bridge.ask(CallAgent("stop_task", {"task_id": activity.activity_id}))
        except Unsupported:
            pass
        else:
            return True
    return bool(activity.detail) and await session.process.ask(EndTool(activity.detail))
