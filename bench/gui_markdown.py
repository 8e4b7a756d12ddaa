"""The rival of bench.gui: the same avatar, its answer in Textual's own Markdown widget."""

import os
import sys
from collections import deque
from collections.abc import Callable

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Input, Markdown, Static

from avatar_actors import AvatarEngine, TextEvent


class MarkdownApp(App[None]):
    """Ten times a second, what came is appended to one Markdown widget."""

    CSS = "VerticalScroll { height: 1fr } Input { height: 3 }"

    def __init__(self) -> None:
        super().__init__()
        self.calls: deque[Callable[[], None]] = deque()
        self.engine = AvatarEngine("embedded", dispatcher=self.calls.append)
        self.engine.on(TextEvent, self.hear)
        self.said: list[str] = []
        self.is_drawing = False

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Markdown()
        yield Static("ready")
        yield Input()

    async def on_mount(self) -> None:
        self.query_one(VerticalScroll).anchor()
        self.query_one(Input).focus()
        await self.engine.start()
        self.set_interval(0.1, self.beat)
        self.query_one(Static).update("Say something")

    async def on_unmount(self) -> None:
        self.engine.clear_handlers()
        await self.engine.stop()

    def on_paste(self) -> None:
        """What is pasted is in the environment: Input takes one line only."""

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.engine.chat_async(os.environ["BENCH_PROMPT"])
        event.input.clear()

    def hear(self, event: TextEvent) -> None:
        self.said.append(event.text)

    async def beat(self) -> None:
        for _ in range(len(self.calls)):
            self.calls.popleft()()
        if self.said and not self.is_drawing:
            said, self.said = "".join(self.said), []
            self.is_drawing = True
            await self.query_one(Markdown).append(said)
            self.is_drawing = False


if __name__ == "__main__":
    sys.exit(MarkdownApp().run())
