"""A chat in the terminal, with Textual: `python -m examples.textual_app [--provider claude]`.

Textual owns the main thread and its widgets; `app.call_later` brings the avatar's events there.
Enter sends, Escape cancels the turn, Ctrl-Q leaves. Needs `pip install textual`.
"""

import argparse
import sys

try:
    from textual.app import App, ComposeResult
    from textual.containers import VerticalScroll
    from textual.widgets import Footer, Input, Static
except ModuleNotFoundError as missing:
    sys.exit(f"{missing.name} is not installed: pip install textual")

from avatar_actors import (
    AvatarEngine,
    AvatarError,
    BridgeResponse,
    ChatHandle,
    EngineStateEvent,
    PermissionMode,
    TextEvent,
)


class AvatarApp(App[None]):
    CSS = "#talk { height: 1fr } #status { background: $boost }"
    BINDINGS = [("escape", "cancel", "Cancel the turn"), ("ctrl+q", "quit", "Quit")]  # noqa: RUF012 - Textual's way

    def __init__(self, provider: str = "embedded") -> None:
        super().__init__()
        safe = PermissionMode.SAFE  # it may look, and change nothing
        self.avatar = AvatarEngine(provider, dispatcher=self.call_later, permissions=safe)
        self.avatar.on(TextEvent, self.say)
        self.avatar.on(EngineStateEvent, self.show_state)
        self.sent: ChatHandle | None = None
        self.bubble = Static(markup=False)
        self.said = ""

    def compose(self) -> ComposeResult:
        yield VerticalScroll(id="talk")
        yield Static("idle", id="status", markup=False)
        yield Input(placeholder="Say something, as: What does this project do?")
        yield Footer()

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    async def on_unmount(self) -> None:
        self.avatar.clear_handlers()  # a closed app takes no calls: stop would wait for them
        await self.avatar.stop()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if self.sent is not None or not event.value.strip():
            return
        self.said, self.bubble = "", Static(markup=False)
        talk = self.query_one("#talk", VerticalScroll)
        talk.mount(Static(f"> {event.value}", markup=False), self.bubble)
        event.input.clear()
        self.sent = self.avatar.chat_async(event.value, callback=self.ended)

    def action_cancel(self) -> None:
        if self.sent is not None:
            self.sent.cancel()

    def say(self, event: TextEvent) -> None:
        self.said += event.text
        self.bubble.update(self.said)
        self.query_one("#talk", VerticalScroll).scroll_end(animate=False)

    def ended(self, response: BridgeResponse) -> None:
        self.sent = None
        if not response:
            end = Static(f"[{response.outcome.value}] {response.error}", markup=False)
            self.query_one("#talk", VerticalScroll).mount(end)

    def show_state(self, event: EngineStateEvent) -> None:
        self.query_one("#status", Static).update(event.new_state.value)


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m examples.textual_app", description=__doc__)
    parser.add_argument("--provider", default="embedded")
    given = parser.parse_args()
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        sys.exit("it draws on a terminal: run it in one")
    try:
        AvatarApp(given.provider).run()
    except AvatarError as error:
        sys.exit(str(error))
