"""The windows above the app: toasts, a choice, all of one job, a text to read."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.markup import escape
from textual.notifications import SeverityLevel
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from avatar_actors import Level, ToolEvent
from avatar_actors.cli.display.permission_question import file_edits
from avatar_actors.cli.terminal import formatting
from avatar_actors.cli.terminal.text import plain, revealed
from avatar_actors.gui.strips import Look
from avatar_actors.gui.talk import Talk
from avatar_actors.picture import Job, Toast, rules

_TOASTS: Final = 3
_SECONDS: Final = 6.0
_SEVERITIES: Final[dict[Level, SeverityLevel]] = {
    Level.DEBUG: "information",
    Level.INFO: "information",
    Level.WARNING: "warning",
    Level.ERROR: "error",
}
_LOOKS: Final = {"+": "added", "-": "removed", "@": "place"}


class ChoiceDialog(ModalScreen[str]):
    """One of several; Escape chooses none. A letter in brackets chooses too."""

    CSS = """
    ChoiceDialog { align: center middle; }
    ChoiceDialog > Vertical { width: 72; max-width: 94%; height: auto; max-height: 80%;
        padding: 1 2; border: round $primary; background: $surface; }
    ChoiceDialog OptionList { height: auto; max-height: 20; border: none; background: $surface; }
    ChoiceDialog Static { height: auto; }
    """
    BINDINGS = [Binding("escape", "leave", show=False)]  # noqa: RUF012 - Textual's way

    def __init__(self, title: str, choices: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._title, self._choices = title, choices

    def compose(self) -> ComposeResult:
        """The title and the list."""
        options = [Option(Text(words), id=str(n)) for n, (_, words) in enumerate(self._choices)]
        with Vertical():
            yield Static(Text(self._title, "bold"))
            yield OptionList(*options)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """It was chosen."""
        self.dismiss(self._choices[event.option_index][0])

    def on_key(self, event: events.Key) -> None:
        """A letter of its own chooses at once."""
        for key, words in self._choices:
            if event.character and f"[{event.character}]" in words:
                event.stop()
                self.dismiss(key)

    def action_leave(self) -> None:
        """None of them."""
        self.dismiss("")


class Reader(ModalScreen[str]):
    """A long text: scrolls, and closes with the text to copy, or with nothing."""

    CSS = """
    Reader { align: center middle; }
    Reader > Vertical { width: 90%; height: 86%; padding: 0 1; border: round $primary;
        background: $surface; }
    Reader Talk { height: 1fr; background: $surface; }
    """
    BINDINGS = [  # noqa: RUF012 - Textual's way
        Binding("escape,q,enter", "leave", show=False),
        Binding("c", "copy", show=False),
    ]

    def __init__(self, title: str, rows: Sequence[Text], look: Look) -> None:
        super().__init__()
        self._title, self._rows, self._look = title, list(rows), look

    @property
    def talk(self) -> Talk:
        """What is read."""
        return self.query_one(Talk)

    def compose(self) -> ComposeResult:
        """The text in a frame."""
        frame = Vertical()
        frame.border_title = Text(self._title).plain.replace("[", "\\[")
        frame.border_subtitle = "esc closes · c copies"
        with frame:
            talk = Talk(self._look)
            talk.transcript.add(self._rows)
            yield talk

    def on_mount(self) -> None:
        """Draw it, from its beginning."""
        self.set_interval(0.1, self._beat)
        self.talk.focus()

    def _beat(self) -> None:
        talk = self.talk
        is_first = not talk.transcript.rows
        talk.beat(0)
        if is_first and talk.transcript.rows:
            talk.action_to_start()

    def action_leave(self) -> None:
        """Back to the app."""
        self.dismiss("")

    def action_copy(self) -> None:
        """All of it."""
        self.dismiss("\n".join(row.plain for row in self._rows))


class ToastCorner:
    """Notes in the corner, at most a few at a time; one that is repeated is counted."""

    def __init__(self, app: App[int]) -> None:
        self.told: list[Toast] = []
        """The last ones, oldest first."""
        self._app = app
        self._counts: dict[str, int] = {}
        self._times: list[float] = []

    def tell(self, toast: Toast) -> None:
        """Show it; a click on one about a job shows the job."""
        now = time.monotonic()
        count = self._counts[toast.words] = self._counts.get(toast.words, 0) + 1
        words = escape(toast.words) + (f" (×{count})" if count > 1 else "")
        if toast.about:
            words = f"[@click=app.open_job({toast.about!r})]{words}[/]"
        seen = [at for at in self._times if now - at < _SECONDS]
        if count > 1 or len(seen) >= _TOASTS:
            self._app.clear_notifications()
            seen = []
        self._times = [*seen, now]
        self.told = [*self.told[-99:], toast]
        self._app.notify(words, severity=_SEVERITIES[toast.level], timeout=_SECONDS)


def job_details(job: Job, tool: ToolEvent | None) -> list[Text]:
    """All that is known of a job: its input or diff, and its output."""
    words = [rules.COUNTS[job.status], job.kind.replace("_", " ")]
    if job.took is not None:
        words.append(formatting.seconds(job.took))
    rows = [Text(job.label, "bold"), Text(" · ".join(words), "muted"), Text()]
    if tool is not None:
        rows += _input(tool)
    said = plain((tool.result or tool.error if tool else "") or job.output).expandtabs(4)
    look = "failed" if tool is not None and tool.error else ""
    if said:
        rows += [Text("output", "title"), *(Text(line, look) for line in said.split("\n"))]
    return rows


def _input(tool: ToolEvent) -> list[Text]:
    if edits := file_edits(tool.parameters):
        lines = [Text(line, _LOOKS.get(line[:1], "")) for line in edits]
        return [Text("diff", "title"), *lines, Text()]
    lines = [
        Text(f"{name}: {line}" if not n else f"  {line}")
        for name, value in tool.parameters.items()
        for n, line in enumerate(revealed(str(value)).split("\n"))
    ]
    return [Text("input", "title"), *lines, Text()] if lines else []
