"""Collects the REPL's lines and frame, and paints them at most ten times a second, if changed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import Final

from rich.cells import cell_len, chop_cells

from avatar_actors import AvatarEvent, TextEvent
from avatar_actors.cli.display import Display
from avatar_actors.cli.repl.conversation import Conversation
from avatar_actors.cli.repl.key_bindings import AnswerKeys
from avatar_actors.cli.repl.screen import CONTINUED, PROMPT, PromptScreen, ScreenContent
from avatar_actors.cli.terminal.device import wants_colour
from avatar_actors.cli.terminal.text import one_line, plain

# Continuation lines are indented by this much more.
_INDENT = 2
# A narrower screen has no room for that.
_NARROW = 20


def fitted(line: str, width: int) -> list[str]:
    """The line as several, none wider than `width` cells; its indentation is kept."""
    if cell_len(line) <= width:
        return [line]
    margin = " " * (_margin(line) if width > _NARROW else 0)
    return list(_wrapped(line, max(1, width), margin))


def cut(line: str, width: int) -> str:
    """The beginning of the line, with an ellipsis where it was cut."""
    if cell_len(line) <= width:
        return line
    return chop_cells(line, max(1, width - 1))[0] + "…"


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip()) + _INDENT


def _wrapped(line: str, width: int, margin: str) -> Iterator[str]:
    while cell_len(line) > width:
        head = chop_cells(line, width)[0]
        end = len(head) if line[len(head)] == " " else head.rfind(" ")
        # Not right after the indentation or the prompt sign.
        if end > len(margin):
            head = head[:end]
        yield head.rstrip()
        line = margin + line[len(head) :].lstrip()
    yield line


# Seconds between two paints.
PACE: Final = 0.1
_MOST_QUEUED: Final = 3
# Characters of text that are rendered at a time: a flood of text must not delay the keys.
_PORTION: Final = 4000
_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"


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
        self._has_colour = wants_colour()
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

    def say(self, lines: Iterable[str]) -> None:
        """Print lines of the REPL's own, below what the avatar has said so far."""
        self._add(lines, _DIM)

    def quote(self, prompt: str) -> None:
        """Print the prompt or command that is carried out now."""
        first, *rest = map(plain, prompt.splitlines() or [""])
        self._add(["", PROMPT + first, *(CONTINUED + line for line in rest)], _BOLD)

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
            self._above += [self._styled(part, look) for part in fitted(line.expandtabs(), width)]
        self._news.set()

    def _gather(self) -> None:
        self._unrendered = 0
        self._above += self._display.finished(self._screen.width)

    def _styled(self, line: str, look: str) -> str:
        return f"{look}{line}{_PLAIN}" if self._has_colour else line

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
            queued=[cut(line, width) for line in self._queued()],
            bottom=cut(hint, width) if (hint := self._hint(now)) else state,
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
        if self._answer_keys.request(now) is not None and self._screen.is_input_empty:
            return "press y, n, a or e to answer"
        return self._conversation.hint(now)

    def _is_live(self) -> bool:
        """Whether the picture changes without new events."""
        is_alive = self._conversation.is_running or bool(self._shown.frame)
        return is_alive or bool(self._display.asks) or bool(self._hint(self.now))
