"""The input: always active; Enter sends, shift+Enter breaks the line, up and down recall."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.message import Message
from textual.widgets import TextArea

_MOST_LINES = 6


class PromptBox(TextArea):
    """Takes what a person types, also while the avatar works."""

    class Sent(Message):
        """Enter was pressed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, answers: Callable[[str], bool], recall: Callable[[], list[str]]) -> None:
        super().__init__(
            id="prompt",
            soft_wrap=True,
            show_line_numbers=False,
            tab_behavior="focus",
            highlight_cursor_line=False,
            placeholder="Say something; it may be said while the avatar works",
        )
        self._answers = answers
        self._recall = recall
        self._past: list[str] = []
        self._at = 0
        self._draft = ""

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            self._take(event)
            if self.text.strip():
                self.post_message(self.Sent(self.text))
        elif event.key in {"shift+enter", "ctrl+j", "alt+enter"}:
            self._take(event)
            self.insert("\n")
        elif self._is_answer(event) or self._recalls(event.key):
            self._take(event)
        else:
            await super()._on_key(event)

    def _is_answer(self, event: events.Key) -> bool:
        if not event.character:
            return False
        # Behind other text a letter is text.
        return self._answers("" if self.text else event.character)

    def _recalls(self, key: str) -> bool:
        if key == "up" and self.cursor_location[0] == 0:
            return self._step(-1)
        return key == "down" and self._is_last_line and self._step(1)

    @staticmethod
    def _take(event: events.Key) -> None:
        event.stop()
        event.prevent_default()

    @property
    def _is_last_line(self) -> bool:
        return self.cursor_location[0] == self.document.line_count - 1

    def restart(self) -> None:
        """Something was sent: empty, and the next key up recalls it."""
        self.clear()
        self._at = 0

    def _step(self, step: int) -> bool:
        """Recall an earlier or a later line."""
        if not self._at:
            self._past, self._draft = self._recall(), self.text
        at = self._at - step
        if not 0 <= at <= len(self._past):
            return False
        self._at = at
        self.load_text(self._past[at - 1] if at else self._draft)
        self.move_cursor(self.document.end)
        return True

    @property
    def wanted_lines(self) -> int:
        """The lines that the text needs, up to a few."""
        return min(max(1, self.wrapped_document.height), _MOST_LINES)
