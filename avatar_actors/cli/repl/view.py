"""What is to be seen now, painted at most ten times a second, and only when it changed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import Final

from rich.cells import cell_len, chop_cells

from avatar_actors import AvatarEvent, TextEvent
from avatar_actors.cli.display import Display
from avatar_actors.cli.repl.context import one_line
from avatar_actors.cli.repl.conversation import Conversation
from avatar_actors.cli.repl.key_bindings import AnswerKeys
from avatar_actors.cli.repl.screen import CONTINUED, PROMPT, Picture, PromptScreen
from avatar_actors.cli.terminal.device import wants_colour
from avatar_actors.cli.terminal.text import plain

# What does not fit goes on this much further to the right.
_INDENT = 2
# On a narrower screen there is no room for that.
_NARROW = 20


def fitted(line: str, width: int) -> list[str]:
    """The line as several, none wider than `width` cells; its indentation and columns stay."""
    if cell_len(line) <= width:
        return [line]
    margin = " " * (_margin(line) if width > _NARROW else 0)
    return list(_wrapped(line, max(1, width), margin))


def cut(line: str, width: int) -> str:
    """The line's beginning, and a sign where something is missing."""
    if cell_len(line) <= width:
        return line
    return chop_cells(line, max(1, width - 1))[0] + "…"


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip()) + _INDENT


def _wrapped(line: str, width: int, margin: str) -> Iterator[str]:
    while cell_len(line) > width:
        head = chop_cells(line, width)[0]
        end = len(head) if line[len(head)] == " " else head.rfind(" ")
        # Not right behind the indentation, or behind the prompt's sign.
        if end > len(margin):
            head = head[:end]
        yield head.rstrip()
        line = margin + line[len(head) :].lstrip()
    yield line


# Seconds between two pictures.
BEAT: Final = 0.1
_MOST_QUEUED: Final = 3
# Characters of text whose lines are made at a time: a flood of it must not hold up the keys.
_PORTION: Final = 4000
_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"


class ReplView:
    """Gathers the lines to print and the picture to show. For the loop's own thread."""

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
        self._told = 0
        self._shown = Picture()
        self._news = asyncio.Event()

    def tell(self, event: AvatarEvent) -> None:
        """An event of the avatar."""
        self._display.tell(event, self.now)
        if isinstance(event, TextEvent):
            self._told += len(event.text)
            if self._told > _PORTION:
                self._gather()
        self._news.set()

    def say(self, lines: Iterable[str]) -> None:
        """Lines of the REPL's own, below what the avatar has said up to now."""
        self._add(lines, _DIM)

    def quote(self, prompt: str) -> None:
        """The prompt or command that is carried out now."""
        first, *rest = map(plain, prompt.splitlines() or [""])
        self._add(["", PROMPT + first, *(CONTINUED + line for line in rest)], _BOLD)

    def stir(self) -> None:
        """Something has changed."""
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
            except OSError:  # the terminal is gone, which is heard of where keys are
                return
            await asyncio.sleep(BEAT)
            if not self._is_lively():
                await self._news.wait()

    def rest(self) -> list[str]:
        """What was not printed yet, for the end."""
        self._display.flush()
        return self._take()

    def _add(self, lines: Iterable[str], look: str) -> None:
        self._gather()
        width = self._screen.width
        for line in lines:
            self._above += [self._inked(part, look) for part in fitted(line.expandtabs(), width)]
        self._news.set()

    def _gather(self) -> None:
        self._told = 0
        self._above += self._display.finished(self._screen.width)

    def _inked(self, line: str, look: str) -> str:
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
        picture = Picture(
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
            return "y, n, a or e is your answer"
        return self._conversation.hint(now)

    def _is_lively(self) -> bool:
        """Whether the picture changes though nothing is heard."""
        is_alive = self._conversation.is_running or bool(self._shown.frame)
        return is_alive or bool(self._display.asks) or bool(self._hint(self.now))
