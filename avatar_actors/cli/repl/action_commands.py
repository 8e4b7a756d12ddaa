"""Commands of the REPL that do something: switch, cancel, resume, export, leave."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from avatar_actors import (
    ActivityEvent,
    ActivityStatus,
    Avatar,
    CancelResult,
    Choice,
    StoredSession,
)
from avatar_actors.cli.exit_codes import ExitCode
from avatar_actors.cli.repl.context import ReplContext, one_line
from avatar_actors.cli.repl.export import Existing, export_to

_CANCELLED = {
    CancelResult.STOPPED: "stopped",
    CancelResult.ALREADY_DONE: "it had ended already",
    CancelResult.ESCALATED: "the turn was ended",
    CancelResult.UNSUPPORTED: "it cannot be stopped alone; /cancel ends the turn",
}


async def choose_model(desk: ReplContext, name: str) -> list[str]:
    """Switch, or show what there is."""
    if not name:
        can = await desk.ask(Avatar.capabilities)
        return _choices("models", can.models, desk.minutes.model)
    await desk.ask(lambda avatar: avatar.set_model(name))
    desk.minutes.model = name
    return [f"the model is {one_line(name)} now"]


async def choose_mode(desk: ReplContext, name: str) -> list[str]:
    """The same with the agent's modes."""
    if not name:
        can = await desk.ask(Avatar.capabilities)
        return _choices("modes", can.modes, desk.minutes.mode)
    await desk.ask(lambda avatar: avatar.set_mode(name))
    desk.minutes.mode = name
    return [f"the mode is {one_line(name)} now"]


def _choices(kind: str, choices: tuple[Choice, ...], present: str) -> list[str]:
    if not choices:
        now = f"; it uses {one_line(present)}" if present else ""
        return [f"the agent names no {kind}{now}"]
    width = max(len(one.choice_id) for one in choices)
    return [
        f"{'*' if one.choice_id == present else ' '} {one_line(one.choice_id):<{width}}"
        f"  {one_line(one.name) if one.name != one.choice_id else ''}".rstrip()
        for one in choices
    ]


async def cancel(desk: ReplContext, wanted: str) -> list[str]:
    """End the turn, or the one activity that is named by its id or the beginning of its name."""
    if not wanted:
        desk.conversation.interrupt()
        return [] if await desk.turns.interrupt() else ["nothing runs"]
    running = await desk.ask(Avatar.activities)
    tools = [one for one in running if one.activity_type != "turn" and not _is_over(one)]
    meant = [one for one in tools if one.activity_id == wanted] or [
        one for one in tools if one.name.lower().startswith(wanted.lower())
    ]
    if len(meant) != 1:
        found = ", ".join(f"{one_line(one.name)} ({one_line(one.activity_id)})" for one in tools)
        which = "several" if meant else "nothing"
        return [f"{which} named {one_line(wanted)!r} runs; there is: {found or 'nothing'}"]
    [one] = meant
    result = await desk.ask(lambda avatar: avatar.cancel_activity(one.activity_id))
    return [f"{one_line(one.name)}: {_CANCELLED[result]}"]


def _is_over(activity: ActivityEvent) -> bool:
    return activity.status not in {ActivityStatus.PENDING, ActivityStatus.RUNNING}


async def resume(desk: ReplContext, wanted: str) -> list[str]:
    """Go on with a stored session: by its number, its id or the beginning of it; else the last."""
    if desk.conversation.is_running:
        return ["a turn is running: /cancel it first"]
    if not wanted:
        last = await desk.ask(Avatar.continue_last)
        return _resumed(last)
    stored = await desk.ask(Avatar.sessions)
    session = _meant(wanted, stored)
    if session is None:
        return [f"no session {one_line(wanted)!r}, or several; see /sessions"]
    await desk.ask(lambda avatar: avatar.resume(session.session_id))
    return _resumed(session)


def _meant(wanted: str, stored: tuple[StoredSession, ...]) -> StoredSession | None:
    if wanted.isdecimal() and 0 < int(wanted) <= len(stored):
        return stored[int(wanted) - 1]
    exact = [one for one in stored if one.session_id == wanted]
    begun = [one for one in stored if one.session_id.startswith(wanted)]
    meant = exact or begun
    return meant[0] if len(meant) == 1 else None


def _resumed(session: StoredSession) -> list[str]:
    return [f"going on with: {one_line(session.title) or session.session_id}"]


async def export(desk: ReplContext, name: str) -> list[str]:
    """Write down what was said in this REPL; a file that is there stays."""
    return _export(desk, name, Existing.KEEP)


async def export_anyway(desk: ReplContext, name: str) -> list[str]:
    """The same over a file that is there."""
    return _export(desk, name, Existing.REPLACE)


def _export(desk: ReplContext, name: str, existing: Existing) -> list[str]:
    if not desk.minutes.exchanges:
        return ["nothing was said yet"]
    path = Path(name or f"conversation-{datetime.now():%Y%m%d-%H%M%S}.md").expanduser()
    try:
        export_to(path, desk.minutes, desk.casting.name, existing)
    except FileExistsError:
        return [f"{path} is there already; to overwrite it: /export! {path}"]
    except OSError as error:
        return [f"{path} cannot be written: {error.strerror}"]
    return [f"turns in {path}: {len(desk.minutes.exchanges)}"]


async def leave(desk: ReplContext, _: str) -> list[str]:
    """The REPL is over."""
    desk.conversation.leave(ExitCode.OK)
    return []
