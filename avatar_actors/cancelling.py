"""Stopping one activity and nothing else: by the agent's protocol, or by the tool's processes."""

from __future__ import annotations

from avatar_actors.errors import Unsupported
from avatar_actors.events import ActivityEvent
from avatar_actors.messages import SessionReady
from avatar_actors.session_messages import CallAgent, EndTool

_TASKS = frozenset({"agent", "background_task"})


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
