"""The slash commands that change something: /model, /mode, /cancel, /resume, /export, /quit."""

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
from avatar_actors.cli.repl.context import ReplContext
from avatar_actors.cli.repl.session_log import Existing, export_to
from avatar_actors.cli.terminal.text import one_line

_CANCELLED = {
    CancelResult.STOPPED: "stopped",
    CancelResult.ALREADY_DONE: "it had already ended",
    CancelResult.ESCALATED: "the turn was ended",
    CancelResult.UNSUPPORTED: "it cannot be stopped by itself; /cancel ends the turn",
}


async def choose_model(context: ReplContext, name: str) -> list[str]:
    """Switch the model, or list the models."""
    if not name:
        can = await context.ask(Avatar.capabilities)
        return _choices("models", can.models, context.log.model)
    await context.ask(lambda avatar: avatar.set_model(name))
    context.log.model = name
    return [f"the model is now {one_line(name)}"]


async def choose_mode(context: ReplContext, name: str) -> list[str]:
    """Switch the mode, or list the modes."""
    if not name:
        can = await context.ask(Avatar.capabilities)
        return _choices("modes", can.modes, context.log.mode)
    await context.ask(lambda avatar: avatar.set_mode(name))
    context.log.mode = name
    return [f"the mode is now {one_line(name)}"]


def _choices(kind: str, choices: tuple[Choice, ...], present: str) -> list[str]:
    if not choices:
        now = f"; it uses {one_line(present)}" if present else ""
        return [f"the agent lists no {kind}{now}"]
    width = max(len(one.choice_id) for one in choices)
    return [
        f"{'*' if one.choice_id == present else ' '} {one_line(one.choice_id):<{width}}"
        f"  {one_line(one.name) if one.name != one.choice_id else ''}".rstrip()
        for one in choices
    ]


async def cancel(context: ReplContext, wanted: str) -> list[str]:
    """End the turn, or one activity, named by its id or the beginning of its name."""
    if not wanted:
        context.conversation.interrupt()
        return [] if await context.turns.interrupt() else ["nothing is running"]
    running = await context.ask(Avatar.activities)
    tools = [one for one in running if one.activity_type != "turn" and not _is_over(one)]
    meant = [one for one in tools if one.activity_id == wanted] or [
        one for one in tools if one.name.lower().startswith(wanted.lower())
    ]
    if len(meant) != 1:
        found = ", ".join(f"{one_line(one.name)} ({one_line(one.activity_id)})" for one in tools)
        which = "several activities" if meant else "no activity"
        return [f"{which} named {one_line(wanted)!r}; running: {found or 'nothing'}"]
    [one] = meant
    result = await context.ask(lambda avatar: avatar.cancel_activity(one.activity_id))
    return [f"{one_line(one.name)}: {_CANCELLED[result]}"]


def _is_over(activity: ActivityEvent) -> bool:
    return activity.status not in {ActivityStatus.PENDING, ActivityStatus.RUNNING}


async def resume(context: ReplContext, wanted: str) -> list[str]:
    """Resume a stored session, by its number, its id or the beginning of it; else the last."""
    if context.conversation.is_running:
        return ["a turn is running; /cancel it first"]
    if not wanted:
        last = await context.ask(Avatar.continue_last)
        return _resumed(last)
    stored = await context.ask(Avatar.sessions)
    session = _meant(wanted, stored)
    if session is None:
        return [f"no single session matches {one_line(wanted)!r}; see /sessions"]
    await context.ask(lambda avatar: avatar.resume(session.session_id))
    return _resumed(session)


def _meant(wanted: str, stored: tuple[StoredSession, ...]) -> StoredSession | None:
    if wanted.isdecimal() and 0 < int(wanted) <= len(stored):
        return stored[int(wanted) - 1]
    exact = [one for one in stored if one.session_id == wanted]
    begun = [one for one in stored if one.session_id.startswith(wanted)]
    meant = exact or begun
    return meant[0] if len(meant) == 1 else None


def _resumed(session: StoredSession) -> list[str]:
    return [f"resumed: {one_line(session.title) or session.session_id}"]


async def export(context: ReplContext, name: str) -> list[str]:
    """Write the conversation to a new file."""
    return _export(context, name, Existing.KEEP)


async def export_anyway(context: ReplContext, name: str) -> list[str]:
    """Write the conversation, replacing the file."""
    return _export(context, name, Existing.REPLACE)


def _export(context: ReplContext, name: str, existing: Existing) -> list[str]:
    if not context.log.exchanges:
        return ["nothing to export yet"]
    path = Path(name or f"conversation-{datetime.now():%Y%m%d-%H%M%S}.md").expanduser()
    try:
        export_to(path, context.log, context.choice.name, existing)
    except FileExistsError:
        return [f"{path} exists; to overwrite it: /export! {path}"]
    except OSError as error:
        return [f"cannot write {path}: {error.strerror}"]
    return [f"turns in {path}: {len(context.log.exchanges)}"]


async def leave(context: ReplContext, _: str) -> list[str]:
    """End the REPL."""
    context.conversation.leave(ExitCode.OK)
    return []
