"""The REPL's screen: finished lines above, then the frame, the queue and the input line."""

from __future__ import annotations

import asyncio
import io
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Final, TextIO

from msgspec import Struct
from prompt_toolkit.application import Application, in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Size
from prompt_toolkit.filters import Condition, has_completions
from prompt_toolkit.formatted_text import ANSI, StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.layout import (
    BufferControl,
    CompletionsMenu,
    ConditionalContainer,
    Dimension,
    FormattedTextControl,
    HSplit,
    Layout,
    VerticalAlign,
    Window,
)
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.styles import Style
from prompt_toolkit.widgets import SearchToolbar

from avatar_actors.cli.terminal.device import size_of
from avatar_actors.cli.terminal.text import plain

# Terminals that know them show what is in between at once; others ignore them.
_BEGIN, _END = "\x1b[?2026h", "\x1b[?2026l"


class SteadyOutput(Vt100_Output):
    """Flushes once where prompt_toolkit would several times, so that nothing is seen half painted.

    It never asks the terminal for the cursor position: the reply would arrive as keys.
    """

    def __init__(self, stdout: TextIO) -> None:
        super().__init__(stdout, lambda: _size_of(stdout), enable_cpr=False)
        self._is_held = False

    @contextmanager
    def at_once(self) -> Generator[None]:
        """Write out everything of this block in one piece at its end."""
        self._is_held = True
        self.write_raw(_BEGIN)
        try:
            yield
        finally:
            self.write_raw(_END)
            self._is_held = False
            self.flush()

    def flush(self) -> None:
        """Flush now, or at the end of the block."""
        if not self._is_held:
            super().flush()


def _size_of(stdout: TextIO) -> Size:
    columns, rows = size_of(stdout.fileno())
    return Size(rows=rows, columns=columns)


PROMPT: Final = "> "
CONTINUED: Final = "  "
_MOST_INPUT_ROWS = 8
_MENU_ROWS = 6
# What the frame keeps when the input is at its largest.
_FEWEST_FRAME_ROWS = 4

_LOOK: Final = Style.from_dict({"prompt": "bold"})


class ScreenContent(Struct, frozen=True):
    """What is shown around the input line."""

    frame: Sequence[str] = ()
    queued: Sequence[str] = ()
    bottom: str = ""

    @property
    def height(self) -> int:
        """Its number of lines."""
        return len(self.frame) + len(self.queued) + bool(self.bottom)


class PromptScreen:
    """A prompt_toolkit application, painted on request and at each key."""

    def __init__(self, line: Buffer, keys: KeyBindings) -> None:
        self._output = SteadyOutput(sys.stdout)
        self._picture = ScreenContent()
        self._is_lent = False
        self._line = line
        self.app: Application[None] = Application(
            layout=Layout(self._layout(), focused_element=line),
            key_bindings=keys,
            output=self._output,
            style=_LOOK,
            full_screen=False,
            erase_when_done=True,
        )

    @property
    def width(self) -> int:
        """The number of columns."""
        return self._output.get_size().columns

    @property
    def frame_rows(self) -> int:
        """The most lines a frame may have now."""
        rows = self._output.get_size().rows
        taken = len(self._picture.queued) + self._input_rows()
        return max(_FEWEST_FRAME_ROWS, rows - taken)

    @property
    def is_input_empty(self) -> bool:
        """Whether nothing is typed."""
        return not self._line.text

    @property
    def is_lent(self) -> bool:
        """Whether another program has the terminal."""
        return self._is_lent

    async def run(self, begun: Callable[[], None]) -> None:
        """Run until `exit`; `begun` is called once there is a screen. EOFError: no terminal."""
        await self.app.run_async(pre_run=begun, set_exception_handler=False)

    def exit(self) -> None:
        """End `run`; calling it twice does no harm."""
        if self.app.is_running and not self.app.is_done:
            self.app.exit()

    def paint(self, above: Sequence[str], picture: ScreenContent) -> None:
        """Print lines above, and show this content from now on."""
        if self._is_lent or not self.app.is_running or self.app.is_done:
            return
        # The renderer never gives rows back by itself.
        is_smaller = picture.height < self._picture.height
        self._picture = picture
        with self._output.at_once():
            if above or is_smaller:
                self.app.renderer.erase()
            for line in above:
                self._output.write_raw(f"{line}\x1b[0m\r\n")
            self.app.render_counter += 1  # what the windows hold is made anew for each number
            self.app.renderer.render(self.app, self.app.layout)

    @asynccontextmanager
    async def lent(self) -> AsyncGenerator[None]:
        """The terminal as a program finds it that is started from a shell."""
        self._is_lent = True
        try:
            async with in_terminal():
                yield
        finally:
            self._is_lent = False

    def _layout(self) -> HSplit:
        search = SearchToolbar()
        # Each is as high as what it holds, if there is room; what is left over is below them.
        return HSplit(
            [
                _lines(lambda: self._picture.frame),
                _lines(lambda: self._picture.queued),
                Window(
                    BufferControl(
                        self._line, search_buffer_control=search.control, preview_search=True
                    ),
                    height=lambda: Dimension(min=1, max=_MOST_INPUT_ROWS),
                    dont_extend_height=True,
                    wrap_lines=True,
                    get_line_prefix=_prefix,
                ),
                ConditionalContainer(CompletionsMenu(max_height=_MENU_ROWS), has_completions),
                search,
                _lines(lambda: [self._picture.bottom] if self._picture.bottom else []),
            ],
            align=VerticalAlign.TOP,
        )

    def _input_rows(self) -> int:
        return min(_MOST_INPUT_ROWS, self._line.document.line_count)


def _lines(lines: Callable[[], Sequence[str]]) -> ConditionalContainer:
    """A window of lines with SGR codes."""
    window = Window(
        FormattedTextControl(lambda: ANSI("\n".join(lines()))),
        height=lambda: Dimension(min=0, max=len(lines()), preferred=len(lines())),
        dont_extend_height=True,
    )
    return ConditionalContainer(window, filter=Condition(lambda: bool(lines())))


def _prefix(line: int, wrapped: int) -> StyleAndTextTuples:
    return [("class:prompt", CONTINUED if line or wrapped else PROMPT)]


class StderrLines(io.TextIOBase):
    """Replaces `sys.stderr`: any thread may write; the loop's thread gets whole lines."""

    def __init__(self, tell: Callable[[list[str]], None]) -> None:
        super().__init__()
        self._tell = tell
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._open = ""

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, text: str, /) -> int:
        """Pass on whole lines; the last one waits for its end."""
        with self._lock:
            *whole, self._open = (self._open + text).split("\n")
        if whole:
            with suppress(RuntimeError):  # the loop and the screen have ended
                self._loop.call_soon_threadsafe(self._tell, [plain(line) for line in whole])
        return len(text)
