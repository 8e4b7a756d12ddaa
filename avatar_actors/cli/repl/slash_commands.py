"""The commands of the REPL, as a table: what /help prints and what is carried out."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection
from difflib import get_close_matches
from typing import Final, TypeAlias

from msgspec import Struct

from avatar_actors.cli.repl import action_commands, query_commands
from avatar_actors.cli.repl.context import ReplContext

Function: TypeAlias = Callable[[ReplContext, str], Awaitable[list[str]]]

# One word after the slash: a path, as in "/etc/hosts, what is it?", is a prompt.
_COMMAND: Final = re.compile(r"/(?P<name>[A-Za-z?][\w-]*!?)?(?:[ \t]+(?P<argument>.*))?")


class SlashCommand(Struct, frozen=True):
    """A line of the table; the function's lines are shown."""

    name: str
    arguments: str
    help: str
    function: Function


class Typed(Struct, frozen=True):
    """A command line, taken apart."""

    name: str
    argument: str


async def help_lines(_: ReplContext, __: str) -> list[str]:
    """The table, and the keys."""
    return [*help_rows(), *KEYS_HELP]


def help_rows() -> list[str]:
    """A row for each command."""
    heads = [f"/{one.name} {one.arguments}".rstrip() for one in COMMANDS.values()]
    width = max(map(len, heads))
    rows = zip(heads, COMMANDS.values(), strict=True)
    return [f"{head:<{width}}  {one.help}" for head, one in rows]


KEYS_HELP: Final = (
    "",
    "Enter sends; Alt-Enter, Ctrl-J or a \\ at the end of the line begin a new line.",
    "During a turn, what you send waits in line; Up on an empty line takes it back.",
    "Ctrl-C clears the line, interrupts the turn, and twice leaves; so does Ctrl-D.",
)

_TABLE: Final = (
    SlashCommand("help", "", "show this", help_lines),
    SlashCommand(
        "model", "[name]", "show the models, or switch to one", action_commands.choose_model
    ),
    SlashCommand(
        "mode", "[name]", "show the agent's modes, or switch to one", action_commands.choose_mode
    ),
    SlashCommand(
        "cancel", "[activity]", "end the turn, or one tool or task", action_commands.cancel
    ),
    SlashCommand(
        "sessions", "", "list the stored sessions of the directory", query_commands.sessions
    ),
    SlashCommand(
        "resume", "[id or number]", "go on with one, or with the last", action_commands.resume
    ),
    SlashCommand("tree", "", "show the supervision tree", query_commands.tree),
    SlashCommand("cost", "", "show tokens, money and what is left of it", query_commands.cost),
    SlashCommand("tools", "", "show the tool calls of the last turn", query_commands.tools),
    SlashCommand(
        "export",
        "[file]",
        "write the conversation; .json; /export! overwrites",
        action_commands.export,
    ),
    SlashCommand("quit", "", "leave", action_commands.leave),
)
COMMANDS: Final = {one.name: one for one in _TABLE}


def typed_command(text: str, agents_own: Collection[str] = ()) -> Typed | None:
    """The command that this line is, or None: a prompt. The agent's own commands are prompts."""
    match = _COMMAND.fullmatch(text.rstrip())
    if match is None:
        return None
    name = match["name"] or ""
    if name not in COMMANDS and name in agents_own:
        return None
    return Typed(name, (match["argument"] or "").strip())


async def carry_out(desk: ReplContext, typed: Typed) -> list[str]:
    """What it has to say; an unknown one is answered with the nearest."""
    name, argument = typed.name, typed.argument
    if name == "export!":
        return await action_commands.export_anyway(desk, argument)
    command = COMMANDS.get(name)
    if command is None:
        return [unknown(name, [one.choice_id for one in desk.minutes.commands])]
    if argument and not command.arguments:
        return [f"/{name} takes no argument"]
    return await command.function(desk, argument)


def unknown(name: str, agents_own: Collection[str] = ()) -> str:
    """What to type instead."""
    known = [*COMMANDS, *agents_own]
    close = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    close = close or [one for one in known if name and one.startswith(name.lower())][:1]
    meant = f"did you mean /{close[0]}?" if close else "see /help."
    return f"no command /{name}; {meant} A space in front of it sends it as a prompt."
