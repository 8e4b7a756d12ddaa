"""The slash commands of the REPL as a table: parsing, /help, suggestions and completion."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterable
from typing import Final, TypeAlias

from msgspec import Struct
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from avatar_actors import Avatar, AvatarError
from avatar_actors.cli.repl import action_commands, query_commands
from avatar_actors.cli.repl.context import ReplContext
from avatar_actors.cli.terminal.text import one_line
from avatar_actors.model.values import nearest

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
        "sessions", "", "list the stored sessions of this directory", query_commands.sessions
    ),
    SlashCommand(
        "resume", "[id or number]", "resume a session, or the last one", action_commands.resume
    ),
    SlashCommand("tree", "", "show the supervision tree", query_commands.tree),
    SlashCommand("cost", "", "show tokens, cost and the budget left", query_commands.cost),
    SlashCommand("tools", "", "show the tool calls of the last turn", query_commands.tools),
    SlashCommand(
        "export",
        "[file]",
        "write the conversation (.md or .json); /export! overwrites",
        action_commands.export,
    ),
    SlashCommand("quit", "", "leave", action_commands.leave),
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
        return await action_commands.export_anyway(context, argument)
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


Offer: TypeAlias = tuple[str, str]


async def models(context: ReplContext) -> list[Offer]:
    """The models that the agent offers."""
    can = await context.ask(Avatar.capabilities)
    return [(one.choice_id, one.name) for one in can.models]


async def modes(context: ReplContext) -> list[Offer]:
    """The modes that the agent offers."""
    can = await context.ask(Avatar.capabilities)
    return [(one.choice_id, one.name) for one in can.modes]


async def sessions(context: ReplContext) -> list[Offer]:
    """The stored sessions of the directory."""
    stored = await context.ask(Avatar.sessions)
    return [(one.session_id, one.title) for one in stored]


async def activities(context: ReplContext) -> list[Offer]:
    """The running activities that can be stopped."""
    running = await context.ask(Avatar.activities)
    return [(one.activity_id, one.name) for one in running if one.is_cancellable]


ARGUMENTS: Final[dict[str, Callable[[ReplContext], Awaitable[list[Offer]]]]] = {
    "model": models,
    "mode": modes,
    "resume": sessions,
    "cancel": activities,
}


class SlashCompleter(Completer):
    """Completes commands and their arguments; in a prompt, nothing."""

    def __init__(self, context: ReplContext) -> None:
        self._context = context

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """Only the commands: their arguments have to be asked for."""
        text = document.text_before_cursor
        if text.startswith("/") and not any(map(str.isspace, text)):
            own = [(one.choice_id, one.name) for one in self._context.log.commands]
            known = [(one.name, one.help) for one in COMMANDS.values()]
            yield from _fitting(text[1:], [*known, *own])

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion]:
        """Commands and arguments."""
        for completion in self.get_completions(document, complete_event):
            yield completion
        command, space, argument = document.text_before_cursor.partition(" ")
        offers = ARGUMENTS.get(command.removeprefix("/"))
        if not space or not command.startswith("/") or offers is None:
            return
        try:
            found = await offers(self._context)
        except AvatarError:  # it cannot say or is down: nothing to offer
            return
        for completion in _fitting(argument, found):
            yield completion


def _fitting(typed: str, offers: Iterable[Offer]) -> Iterable[Completion]:
    for word, meaning in offers:
        if word.lower().startswith(typed.lower()) and word.isprintable():
            yield Completion(word, -len(typed), display_meta=one_line(meaning))
