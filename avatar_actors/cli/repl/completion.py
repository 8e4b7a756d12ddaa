"""What Tab offers: commands, and what may stand behind them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from typing import Final, TypeAlias

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from avatar_actors import Avatar, AvatarError
from avatar_actors.cli.repl.context import ReplContext, one_line
from avatar_actors.cli.repl.slash_commands import COMMANDS

Offer: TypeAlias = tuple[str, str]


async def models(desk: ReplContext) -> list[Offer]:
    """Those that the agent offers."""
    can = await desk.ask(Avatar.capabilities)
    return [(one.choice_id, one.name) for one in can.models]


async def modes(desk: ReplContext) -> list[Offer]:
    """Those of the agent."""
    can = await desk.ask(Avatar.capabilities)
    return [(one.choice_id, one.name) for one in can.modes]


async def sessions(desk: ReplContext) -> list[Offer]:
    """Those of the directory."""
    stored = await desk.ask(Avatar.sessions)
    return [(one.session_id, one.title) for one in stored]


async def activities(desk: ReplContext) -> list[Offer]:
    """What runs now and can be stopped."""
    running = await desk.ask(Avatar.activities)
    return [(one.activity_id, one.name) for one in running if one.is_cancellable]


ARGUMENTS: Final[dict[str, Callable[[ReplContext], Awaitable[list[Offer]]]]] = {
    "model": models,
    "mode": modes,
    "resume": sessions,
    "cancel": activities,
}


class SlashCompleter(Completer):
    """Offers nothing in a prompt."""

    def __init__(self, desk: ReplContext) -> None:
        self._desk = desk

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """The commands alone: what stands behind them has to be asked for."""
        text = document.text_before_cursor
        if text.startswith("/") and not any(map(str.isspace, text)):
            own = [(one.choice_id, one.name) for one in self._desk.minutes.commands]
            known = [(one.name, one.help) for one in COMMANDS.values()]
            yield from _fitting(text[1:], [*known, *own])

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion]:
        """All of them."""
        for completion in self.get_completions(document, complete_event):
            yield completion
        command, space, argument = document.text_before_cursor.partition(" ")
        offers = ARGUMENTS.get(command.removeprefix("/"))
        if not space or not command.startswith("/") or offers is None:
            return
        try:
            found = await offers(self._desk)
        except AvatarError:  # it cannot say, or is down: then there is nothing to offer
            return
        for completion in _fitting(argument, found):
            yield completion


def _fitting(typed: str, offers: Iterable[Offer]) -> Iterable[Completion]:
    for word, meaning in offers:
        if word.lower().startswith(typed.lower()) and word.isprintable():
            yield Completion(word, -len(typed), display_meta=one_line(meaning))
