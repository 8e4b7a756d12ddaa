"""An avatar in a window, as a Qt program would have it: `python -m examples.gui_integration`.

The window has a thread and a loop of its own, and only that thread may touch it: `call_soon` brings
the avatar's events there. Its parts are drawn as lines of text, and the clicks of its user are
played, so that it runs anywhere.
"""

import queue
import sys
import tempfile
from collections.abc import Callable

from avatar_actors import (
    AvatarEngine,
    AvatarEvent,
    BridgeResponse,
    ChatHandle,
    EngineStateEvent,
    PermissionEvent,
    Permit,
    TextEvent,
    ToolEvent,
)

ERRAND = "write notes.txt: buy milk"
STORY = 'SCRIPT:[{"say": "Once upon a time "}, {"wait": 60}, {"say": "they lived happily."}]'


class Window:
    def __init__(self, room: str) -> None:
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self.engine = AvatarEngine(
            "embedded", working_dir=room, dispatcher=self.call_soon, options={"scripts": "true"}
        )
        self.engine.on_any(self.show)
        self._turn: ChatHandle | None = None

    def call_soon(self, call: Callable[[], None]) -> None:
        """From any thread; in Qt it emits a signal that is connected to a slot of the window."""
        self._calls.put(call)

    def exec(self) -> None:
        """The main loop, until the window is closed."""
        while self._turn is not None:
            self._calls.get()()

    def send(self, prompt: str) -> None:
        """The button Send."""
        draw("you", prompt if not prompt.startswith("SCRIPT") else "tell me a long story")
        self._turn = self.engine.chat_async(prompt, callback=self.ended)

    def cancel(self) -> None:
        """The button Cancel."""
        draw("[Cancel]", "clicked")
        if self._turn is not None:
            self._turn.cancel()

    def show(self, event: AvatarEvent) -> None:
        match event:
            case TextEvent(text=text):
                draw("bubble", text)
                if text.startswith("Once"):
                    self.cancel()
            case ToolEvent(title=title, tool_name=name, status=status):
                draw("tool", f"{title or name}: {status.value}")
            case EngineStateEvent(new_state=state):
                draw("status", state.value)
            case PermissionEvent(request_id=request_id, title=title):
                draw("dialog", f"{title}?   [Allow]   [Deny]      ... Allow is clicked")
                self.engine.answer(request_id, Permit.ALLOW_ONCE)
            case _:
                pass

    def ended(self, response: BridgeResponse) -> None:
        draw("status", f"the turn has ended: {response.outcome.value}")
        self._turn = None


def draw(part: str, text: str) -> None:
    print(f"{part:>9} | {text}", flush=True)


def main() -> int:
    with tempfile.TemporaryDirectory() as room:
        window = Window(room)
        try:
            for prompt in (ERRAND, STORY):
                window.send(prompt)
                window.exec()
        except KeyboardInterrupt:
            return 130
        finally:
            window.engine.stop_sync()
    return 0


if __name__ == "__main__":
    sys.exit(main())
