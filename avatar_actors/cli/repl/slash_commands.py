"""The slash commands of the REPL: what each does, their table, parsing, /help and suggestions."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Iterator
from datetime import datetime
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from avatar_actors import (
    ActivityEvent,
    ActivityStatus,
    Avatar,
    Budget,
    CancelResult,
    Choice,
    CostSource,
    Runtime,
    StoredSession,
    ToolStatus,
    Usage,
    read_session,
)
from avatar_actors.cli.exit_codes import ExitCode
from avatar_actors.cli.repl.context import ReplContext
from avatar_actors.cli.repl.session_log import Existing, export_to
from avatar_actors.cli.terminal.formatting import moment_of, seconds
from avatar_actors.cli.terminal.text import one_line
from avatar_actors.model.words import nearest

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
    present = present or next((one.choice_id for one in choices if one.is_current), "")
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
        return await _resumed(context, last)
    stored = await context.ask(Avatar.sessions)
    session = _meant(wanted, stored)
    if session is None:
        return [f"no single session matches {one_line(wanted)!r}; see /sessions"]
    await context.ask(lambda avatar: avatar.resume(session.session_id))
    return await _resumed(context, session)


def _meant(wanted: str, stored: tuple[StoredSession, ...]) -> StoredSession | None:
    if wanted.isdecimal() and 0 < int(wanted) <= len(stored):
        return stored[int(wanted) - 1]
    exact = [one for one in stored if one.session_id == wanted]
    begun = [one for one in stored if one.session_id.startswith(wanted)]
    meant = exact or begun
    return meant[0] if len(meant) == 1 else None


async def _resumed(context: ReplContext, session: StoredSession) -> list[str]:
    """Its title, and the end of what was said in it."""
    transcript = await asyncio.to_thread(read_session, context.choice.provider, session, _LAST_SAID)
    lines = [f"resumed: {one_line(session.title) or session.session_id}"]
    for message in transcript.messages:
        who = "you" if message.role == "user" else context.choice.name
        text = one_line(message.text)
        lines.append(
            f"  {who}: {text if len(text) <= _LONGEST_SAID else text[:_LONGEST_SAID] + '…'}"
        )
    return lines


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


SIGNS: Final = {
    ToolStatus.COMPLETED: "✓",
    ToolStatus.FAILED: "✗",
    ToolStatus.CANCELLED: "⊘",
    ToolStatus.UNKNOWN: "?",
}
# More would push everything else off the screen.
_MOST_SESSIONS = 20
# How much of a resumed conversation is shown: its last messages, each cut to about two lines.
_LAST_SAID = 4
_LONGEST_SAID = 160


async def tree(context: ReplContext, _: str) -> list[str]:
    """The supervision tree as it is now."""
    return str(await context.runtime.tree()).splitlines()


async def tools(context: ReplContext, _: str) -> list[str]:
    """The tool calls of the current or last turn."""
    if not context.log.tools:
        return ["no tool was called in the last turn"]
    return [
        f"{SIGNS.get(tool.status, '…')} {one_line(tool.label)}"
        f"  {tool.status.value}{f' ({seconds(tool.ended - tool.began)})' if tool.ended else ''}"
        for tool in context.log.tools.values()
    ]


async def cost(context: ReplContext, _: str) -> list[str]:
    """What this REPL used and cost, who says so, and what is left of the budget."""
    spent = await context.runtime.run(Runtime.spent)
    lines = [
        f"turns: {len(context.log.exchanges)}",
        f"tokens: {_tokens(spent)}",
        f"cost: {_money(spent)}",
    ]
    lines += _left("budget of the run", context.choice.runtime.get("budget", Budget()), spent)
    own = context.choice.options.get("budget", Budget())
    if own != Budget():
        health = await context.ask(Avatar.health)
        lines += _left("budget", own, health.total)
        lines += _turns_left(own, health.turns)
    return lines


def _tokens(usage: Usage) -> str:
    if not usage.tokens:
        return "unknown: the agent reported none"
    kinds = {"in": usage.input_tokens, "out": usage.output_tokens, "cached": usage.cached_tokens}
    return ", ".join(f"{count:,} {kind}" for kind, count in kinds.items() if count)


def _money(usage: Usage) -> str:
    if usage.cost_usd is None:
        return "unknown: the agent reported none"
    about = "~" if usage.cost_source is not CostSource.REPORTED else ""
    return f"{about}${usage.cost_usd:.4f} ({usage.cost_source.value})"


def _left(name: str, budget: Budget, used: Usage) -> Iterator[str]:
    if budget.cost_usd is not None:
        left = max(0.0, budget.cost_usd - (used.cost_usd or 0.0))
        yield f"{name}: ${left:.4f} of ${budget.cost_usd:.4f} left"
    if budget.tokens is not None:
        left = max(0, budget.tokens - used.tokens)
        yield f"{name}: {left:,} of {budget.tokens:,} tokens left"


def _turns_left(budget: Budget, turns: int) -> Iterator[str]:
    if budget.turns is not None:
        yield f"budget: {max(0, budget.turns - turns)} of {budget.turns} turns left"


async def sessions(context: ReplContext, _: str) -> list[str]:
    """The stored sessions, numbered for /resume; the current one is marked."""
    found = await context.ask(Avatar.sessions)
    present = (await context.ask(Avatar.health)).session_id
    if not found:
        return ["no stored sessions for this directory"]
    lines = [
        f"{'*' if one.session_id == present else ' '}{number:>3}  {_when(one)}  "
        f"{one_line(one.title) or '(no title)'}"
        for number, one in enumerate(found[:_MOST_SESSIONS], start=1)
    ]
    more = len(found) - _MOST_SESSIONS
    return [*lines, f"and {more} older ones"] if more > 0 else lines


def _when(session: StoredSession) -> str:
    """The time of its last use, in the local time zone."""
    moment = moment_of(session.updated_at or session.created_at)
    return f"{moment:%Y-%m-%d %H:%M}" if moment else "?".ljust(len("2026-11-16 10:51"))


Function: TypeAlias = Callable[[ReplContext, str], Awaitable[list[str]]]

# One word after the slash: a path, as in "/etc/hosts, what is it?", is a prompt.
_COMMAND: Final = re.compile(r"/(?P<name>[A-Za-z?][\w-]*!?)?(?:[ \t]+(?P<argument>.*))?")


class SlashCommand(Struct, frozen=True):
    """A row of the table; the lines that the function returns are shown."""

    name: str
    arguments: str
    help: str
    function: Function


class TypedCommand(Struct, frozen=True):
    """A parsed command line."""

    name: str
    argument: str


async def help_lines(_: ReplContext, __: str) -> list[str]:
    """The table, and the keys."""
    return [*help_rows(), *KEYS_HELP]


def help_rows() -> list[str]:
    """One row per command."""
    heads = [f"/{one.name} {one.arguments}".rstrip() for one in COMMANDS.values()]
    width = max(map(len, heads))
    rows = zip(heads, COMMANDS.values(), strict=True)
    return [f"{head:<{width}}  {one.help}" for head, one in rows]


KEYS_HELP: Final = (
    "",
    "Enter sends; Alt-Enter, Ctrl-J or a \\ at the end of the line starts a new line.",
    "What you send during a turn is queued; Up on an empty line takes it back.",
    "Ctrl-C clears the line or interrupts the turn; twice leaves, and so does Ctrl-D.",
)

_TABLE: Final = (
    SlashCommand("help", "", "show this", help_lines),
    SlashCommand("model", "[name]", "show the models, or switch to one", choose_model),
    SlashCommand("mode", "[name]", "show the agent's modes, or switch to one", choose_mode),
    SlashCommand("cancel", "[activity]", "end the turn, or one tool or task", cancel),
    SlashCommand("sessions", "", "list the stored sessions of this directory", sessions),
    SlashCommand("resume", "[id or number]", "resume a session, or the last one", resume),
    SlashCommand("tree", "", "show the supervision tree", tree),
    SlashCommand("cost", "", "show tokens, cost and the budget left", cost),
    SlashCommand("tools", "", "show the tool calls of the last turn", tools),
    SlashCommand(
        "export",
        "[file]",
        "write the conversation (.md or .json); /export! overwrites",
        export,
    ),
    SlashCommand("quit", "", "leave", leave),
)
COMMANDS: Final = {one.name: one for one in _TABLE}


def typed_command(text: str, agents_own: Collection[str] = ()) -> TypedCommand | None:
    """The command in this line; None if it is a prompt, like the agent's own commands."""
    match = _COMMAND.fullmatch(text.rstrip())
    if match is None:
        return None
    name = match["name"] or ""
    if name not in COMMANDS and name in agents_own:
        return None
    return TypedCommand(name, (match["argument"] or "").strip())


async def carry_out(context: ReplContext, typed: TypedCommand) -> list[str]:
    """Run it and return its lines; an unknown one is answered with the nearest."""
    name, argument = typed.name, typed.argument
    if name == "export!":
        return await export_anyway(context, argument)
    command = COMMANDS.get(name)
    if command is None:
        return [unknown(name, [one.choice_id for one in context.log.commands])]
    if argument and not command.arguments:
        return [f"/{name} takes no argument"]
    return await command.function(context, argument)


def unknown(name: str, agents_own: Collection[str] = ()) -> str:
    """Says what to type instead."""
    known = [*COMMANDS, *agents_own]
    close = nearest(name, known) or next(
        (one for one in known if name and one.startswith(name.lower())), ""
    )
    hint = f"did you mean /{close}?" if close else "see /help."
    return f"no command /{name}; {hint} To send it as a prompt, put a space in front."
