"""Collects the REPL's lines and frame, and paints them at most ten times a second, if changed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

from rich.text import Text

from avatar_actors import AvatarEvent, ProviderCapabilities, TextEvent
from avatar_actors.cli.display import Display
from avatar_actors.cli.repl.conversation import Conversation
from avatar_actors.cli.repl.screen import CONTINUED, PROMPT, PromptScreen, ScreenContent
from avatar_actors.cli.terminal.device import wants_colour
from avatar_actors.cli.terminal.permissions import AnswerKeys
from avatar_actors.cli.terminal.rendering import Renderer, Style
from avatar_actors.cli.terminal.text import one_line, plain

# Seconds between two paints.
PACE: Final = 0.1
_MOST_QUEUED: Final = 3
# Characters of text that are rendered at a time: a flood of text must not delay the keys.
_PORTION: Final = 4000
_INDENT: Final = 2


def quoted(prompt: str, width: int, renderer: Renderer) -> list[str]:
    """The prompt in bold, after the prompt sign, which never stands alone."""
    text = Text(plain(prompt).rstrip("\n").expandtabs(), "bold")
    first, *rest = renderer.wrapped(text, max(1, width - len(PROMPT)))
    return [renderer.styled(PROMPT, "bold") + " " * PROMPT.count(" ") + first] + [
        CONTINUED + line for line in rest
    ]


class ReplView:
    """Collects the lines to print and the frame to show; for the loop's own thread."""

    def __init__(
        self,
        display: Display,
        conversation: Conversation,
        answer_keys: AnswerKeys,
        screen: PromptScreen,
    ) -> None:
        self._display, self._conversation = display, conversation
        self._answer_keys, self._screen = answer_keys, screen
        self._renderer = Renderer(Style(colour=wants_colour()))
        self._above: list[str] = []
        self._unrendered = 0
        self._shown = ScreenContent()
        self._news = asyncio.Event()

    def tell(self, event: AvatarEvent) -> None:
        """Fold in an event of the avatar."""
        self._display.tell(event, self.now)
        if isinstance(event, TextEvent):
            self._unrendered += len(event.text)
            if self._unrendered > _PORTION:
                self._gather()
        self._news.set()

    def meet(self, can: ProviderCapabilities) -> None:
        """Questions offer the keys that this agent takes."""
        self._display.meet(can)
        self._answer_keys.can_edit = can.editable_input

    def say(self, lines: Iterable[str]) -> None:
        """Print lines of the REPL's own, below what the avatar has said so far."""
        self._add(lines, "dim")

    def quote(self, prompt: str) -> None:
        """Print the prompt or command that is carried out now."""
        self._gather()
        self._above += ["", *quoted(prompt, self._screen.width, self._renderer)]
        self._news.set()

    def stir(self) -> None:
        """Paint soon: something has changed."""
        self._news.set()

    @property
    def now(self) -> float:
        """The time, by the loop's clock."""
        return asyncio.get_running_loop().time()

    async def live(self) -> None:
        """Paint, until cancelled."""
        while True:
            self._news.clear()
            self._answer_keys.look(self._display.asks, self.now)
            try:
                self._paint()
            except OSError:  # the terminal is gone; reading keys reports it
                return
            await asyncio.sleep(PACE)
            if not self._is_live():
                await self._news.wait()

    def rest(self) -> list[str]:
        """The lines not printed yet, for the end."""
        self._display.flush()
        return self._take()

    def _add(self, lines: Iterable[str], look: str) -> None:
        self._gather()
        width = self._screen.width
        for line in lines:
            self._above += self._renderer.wrapped(Text(line.expandtabs(), look), width, _INDENT)
        self._news.set()

    def _gather(self) -> None:
        self._unrendered = 0
        self._above += self._display.finished(self._screen.width)

    def _take(self) -> list[str]:
        self._gather()
        above, self._above = self._above, []
        return above

    def _paint(self) -> None:
        if self._screen.is_lent:
            return
        width, now = self._screen.width, self.now
        above = self._take()
        *frame, state = self._display.frame(width, self._screen.frame_rows, now) or [""]
        picture = ScreenContent(
            frame=frame,
            queued=[self._renderer.cut(Text(line), width) for line in self._queued()],
            bottom=self._renderer.cut(Text(hint), width) if (hint := self._hint(now)) else state,
        )
        if above or picture != self._shown:
            self._screen.paint(above, picture)
            self._shown = picture

    def _queued(self) -> list[str]:
        word = "held" if self._conversation.is_held else "queued"
        waiting = self._conversation.waiting
        lines = [f"{word}: {one_line(prompt)}" for prompt in waiting[:_MOST_QUEUED]]
        more = len(waiting) - _MOST_QUEUED
        return [*lines, f"and {more} more"] if more > 0 else lines

    def _hint(self, now: float) -> str:
        asked = self._answer_keys.hint(now) if self._screen.is_input_empty else ""
        return asked or self._conversation.hint(now)

    def _is_live(self) -> bool:
        """Whether the picture changes without new events."""
        is_alive = self._conversation.is_running or bool(self._shown.frame)
        return is_alive or bool(self._display.asks) or bool(self._hint(self.now))
