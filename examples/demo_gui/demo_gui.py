"""The app: an engine, its handlers, and one heartbeat that draws what they changed.

Textual owns the main thread and its widgets. The dispatcher is the heartbeat itself: until it
comes, the engine keeps the events and merges text. `avatar gui` is the same idea, grown up.
"""

import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path

try:
    from textual.app import App, ComposeResult
    from textual.containers import Horizontal, Vertical
    from textual.widgets import Footer, Input

    from examples.demo_gui.demo_gui_avatar import AvatarFigure
    from examples.demo_gui.demo_gui_panels import ActivityPanel, AskPanel, ChatPanel
except ModuleNotFoundError as missing:
    sys.exit(f"{missing.name} is not installed: pip install textual")

from avatar_actors import (
    ActivityEvent,
    AvatarEngine,
    BridgeResponse,
    EngineStateEvent,
    PermissionClosedEvent,
    PermissionEvent,
    Permit,
    TextEvent,
    ThinkingEvent,
)

ANSWERS = {"y": Permit.ALLOW_ONCE, "n": Permit.REJECT_ONCE}


class DemoApp(App[None]):
    CSS = """
    #chat { width: 1fr } #side { width: 36; padding: 0 1 } #avatar { height: 3 }
    #activities { height: 1fr } #ask { background: $warning; color: $text; height: 1 }
    """
    BINDINGS = [("escape", "cancel", "Cancel the turn"), ("ctrl+q", "quit", "Quit")]  # noqa: RUF012 - Textual's way

    def __init__(self, config: str | Path) -> None:
        super().__init__()
        self.chat, self.figure = ChatPanel(), AvatarFigure()
        self.activities, self.ask = ActivityPanel(), AskPanel()
        self.calls: deque[Callable[[], None]] = deque()
        self.engine = AvatarEngine.from_config(config, dispatcher=self.calls.append)
        self.engine.on(TextEvent, self.on_text)
        self.engine.on(ThinkingEvent, self.figure.on_thought)
        self.engine.on(EngineStateEvent, self.figure.on_state)
        self.engine.on(ActivityEvent, self.activities.on_activity)
        self.engine.on(PermissionEvent, self.on_permission)
        self.engine.on(PermissionClosedEvent, self.on_answered)

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield self.chat
            with Vertical(id="side"):
                yield self.figure
                yield self.activities
        yield self.ask
        yield Input(placeholder="Say something, as: What does this project do?")
        yield Footer()

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self.set_interval(0.1, self.beat)

    async def on_unmount(self) -> None:
        self.engine.clear_handlers()  # a closed app takes no calls: stop would wait for them
        await self.engine.stop()

    def beat(self) -> None:
        for _ in range(len(self.calls)):
            self.calls.popleft()()
        for panel in (self.chat, self.figure, self.activities, self.ask):
            panel.draw()

    # What the avatar says.

    def on_text(self, event: TextEvent) -> None:
        self.chat.said += event.text

    def on_permission(self, event: PermissionEvent) -> None:
        self.ask.open[event.request_id] = event

    def on_answered(self, event: PermissionClosedEvent) -> None:
        self.ask.open.pop(event.request_id, None)

    def ended(self, response: BridgeResponse) -> None:
        if not response:
            self.chat.tell(f"[{response.outcome.value}] {response.error}")

    # What the person does.

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.value.strip():
            self.chat.ask(event.value)
            self.engine.chat_async(event.value, callback=self.ended)
            event.input.clear()

    async def on_input_changed(self, event: Input.Changed) -> None:
        permit, request = ANSWERS.get(event.value), next(iter(self.ask.open), None)
        if permit and request:
            event.input.clear()
            await self.engine.run(lambda avatar: avatar.answer(request, permit))

    async def action_cancel(self) -> None:
        await self.engine.interrupt()
