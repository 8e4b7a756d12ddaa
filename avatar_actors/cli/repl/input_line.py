"""The REPL's input line: its keys and its completion.

What a key or a command does is left to `app` and `slash_commands`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from typing import TYPE_CHECKING, TypeAlias

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, is_searching
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from avatar_actors import Avatar, AvatarError
from avatar_actors.cli.repl.context import ReplContext
from avatar_actors.cli.repl.slash_commands import COMMANDS
from avatar_actors.cli.terminal.permissions import EDIT_KEY, KEYS
from avatar_actors.cli.terminal.text import one_line

if TYPE_CHECKING:
    from avatar_actors.cli.repl.app import ReplApp

is_typing = ~is_searching


def bindings_for(app: ReplApp, line: Buffer) -> KeyBindings:
    """The bindings of this input line; while Ctrl-R searches, keys go to the search."""
    keys = KeyBindings()
    is_empty = is_typing & Condition(lambda: not line.text)
    _add_enter(keys, app, line)

    @keys.add("up", filter=is_empty)
    def _(_: KeyPressEvent) -> None:
        if queued := app.takes_back():
            line.insert_text(queued)
        else:
            line.auto_up()

    @keys.add("c-c", filter=is_typing)
    @keys.add("<sigint>")
    def _(_: KeyPressEvent) -> None:
        app.ctrl_c()

    @keys.add("c-d", filter=is_empty)
    def _(_: KeyPressEvent) -> None:
        app.ctrl_d()

    @keys.add("c-z")
    def _(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()

    def answer(event: KeyPressEvent) -> None:
        app.answer(event.data)

    can_answer = is_empty & Condition(lambda: app.can_answer)
    for key in KEYS:
        keys.add(key, filter=can_answer)(answer)
    keys.add(EDIT_KEY, filter=can_answer & Condition(lambda: app.can_edit))(answer)

    @keys.add("escape", filter=is_empty & Condition(lambda: app.can_decline))
    def _(_: KeyPressEvent) -> None:
        app.decline()

    return keys


def _add_enter(keys: KeyBindings, app: ReplApp, line: Buffer) -> None:
    @keys.add("escape", "enter", filter=is_typing)
    @keys.add("c-j", filter=is_typing)
    def _(_: KeyPressEvent) -> None:
        line.newline(copy_margin=False)

    @keys.add("enter", filter=is_typing)
    def _(_: KeyPressEvent) -> None:
        if line.document.current_line_before_cursor.endswith("\\"):
            line.delete_before_cursor()
            line.newline(copy_margin=False)
            return
        text = line.text
        if app.answers(text):  # not for the history: it may be a secret
            line.reset()
            return
        if text.strip():
            line.append_to_history()
        line.reset()
        app.sent(text)


Offer: TypeAlias = tuple[str, str]


async def _offers(context: ReplContext, command: str) -> list[Offer]:
    """The arguments that the command could have now."""
    match command:
        case "/model" | "/mode":
            can = await context.ask(Avatar.capabilities)
            choices = can.models if command == "/model" else can.modes
            return [(one.choice_id, one.name) for one in choices]
        case "/resume":
            stored = await context.ask(Avatar.sessions)
            return [(one.session_id, one.title) for one in stored]
        case "/cancel":
            running = await context.ask(Avatar.activities)
            return [(one.activity_id, one.name) for one in running if one.is_cancellable]
        case _:
            return []


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
            known = [(one.name, one.help) for one in COMMANDS.values()]
            agents = self._context.log.commands
            own = [(one.choice_id, one.name) for one in agents if one.choice_id not in COMMANDS]
            yield from _fitting(text[1:], [*known, *own])

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion]:
        """Commands and arguments."""
        for completion in self.get_completions(document, complete_event):
            yield completion
        command, space, argument = document.text_before_cursor.partition(" ")
        if not space:
            return
        try:
            found = await _offers(self._context, command)
        except AvatarError:  # it cannot say or is down: nothing to offer
            return
        for completion in _fitting(argument, found):
            yield completion


def _fitting(typed: str, offers: Iterable[Offer]) -> Iterable[Completion]:
    for word, meaning in offers:
        if word.lower().startswith(typed.lower()) and word.isprintable():
            yield Completion(word, -len(typed), display_meta=one_line(meaning))
