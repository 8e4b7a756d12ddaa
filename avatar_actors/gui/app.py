"""The app: tabs of avatars, one heartbeat, and what the keys and the palette do."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct
from rich.text import Text
from textual import events
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import ContentSwitcher

from avatar_actors import RuntimeThread, WhileBusy
from avatar_actors.cli.agent_choice import AgentChoice
from avatar_actors.cli.options import CommandOptions
from avatar_actors.gui import status
from avatar_actors.gui.actions import PaneActions
from avatar_actors.gui.afternoon import play
from avatar_actors.gui.command import LEAST_SIZE
from avatar_actors.gui.dialogs import ChoiceDialog, Reader, ToastCorner, job_details
from avatar_actors.gui.pane import AvatarPane
from avatar_actors.gui.prompt import PromptBox
from avatar_actors.gui.side import ActivityTree
from avatar_actors.gui.strips import LinePane, Look

BEAT: Final = 0.1
THEME: Final = "tokyo-night"
THEMES: Final = (
    "tokyo-night", "nord", "gruvbox", "catppuccin-mocha", "dracula", "monokai", "textual-light",
)  # fmt: skip
_KILLED: Final = 128
_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP)
_AGAIN: Final = 1.0


# All colours are of the theme.
_CSS: Final = """
Screen { layout: vertical; }
#tabs { height: 1; background: $panel; padding: 0 1; display: none; }
#tabs.several { display: block; }
#panes { height: 1fr; }
#keys { height: 1; background: $panel; padding: 0 1; }
#small { display: none; height: 1fr; content-align: center middle; }

AvatarPane { height: 1fr; }
#header { height: 1; background: $panel; padding: 0 1; }
#middle { height: 1fr; overflow: hidden; }
#talk { width: 1fr; height: 1fr; padding: 0 0 0 1; }
#side { width: 42; padding: 0 1; border-left: solid $panel; overflow: hidden; }
#side.tight #thoughts { height: 4; }
.thoughtless #thoughts { display: none; }
#thoughts { height: 8; }
#activities-head { height: 1; }
#activities { height: 1fr; }
#counts { height: 2; }
#ask { display: none; border: round $warning; padding: 0 1; margin: 0 1; }
#headline { height: 1; padding: 0 1; }
#prompt { height: 3; border: round $primary; padding: 0 1; background: $surface; }
#prompt:focus { border: round $accent; }

.wide #side { width: 56; }
.side-hidden #side { display: none; }
.narrow #side { display: none; }
.narrow.side-shown #side { display: block; width: 1fr; border-left: none; }
.narrow.side-shown #talk { display: none; }
.short #prompt { height: 1; border: none; background: $boost; }

Screen.tiny > * { display: none; }
Screen.tiny > #small { display: block; }
"""


class AppOptions(Struct, frozen=True, kw_only=True):
    """What the app is started with."""

    choice: AgentChoice
    wanted: CommandOptions
    avatars: int = 1
    is_demo: bool = False
    clock: Callable[[], float] = time.monotonic
    has_heart: bool = True
    """False: `beat` is called by whoever looks at a still picture."""


class AvatarApp(App[int]):
    """Avatars in tabs. All drawing happens in one heartbeat, ten times a second."""

    CSS = _CSS
    TITLE = "avatar"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS = [  # noqa: RUF012 - Textual's way
        Binding("ctrl+q", "quit", "Quit", priority=True),
        Binding("escape", "cancel", "Cancel", show=False),
        Binding("f8", "stop_one", "Stop one", priority=True),
        Binding("ctrl+k", "stop_all", "Stop all", priority=True),
        Binding("ctrl+r", "sessions", "Sessions", priority=True),
        Binding("ctrl+o", "model", "Model", priority=True),
        Binding("ctrl+t", "next_theme", "Theme", priority=True),
        Binding("ctrl+n", "next_tab", "Next avatar", priority=True),
        Binding("f1", "keys", "Keys", priority=True),
        Binding("f12", "debug", "Debug", priority=True),
        Binding("ctrl+z", "suspend_process", show=False, priority=True),
    ]

    def __init__(self, options: AppOptions) -> None:
        super().__init__()
        self.options = options
        self.theme = THEME
        self.look = self._new_look()
        self.runtime = RuntimeThread(**options.choice.runtime)
        self.panes = [
            AvatarPane(options.choice, self.runtime, name, self.look, clock=options.clock)
            for name in _names(options.avatars)
        ]
        self.actions, self.toasts = PaneActions(self), ToastCorner(self)
        self.tick = 0
        self._switcher = ContentSwitcher(initial=self.panes[0].id, id="panes")
        self._tabs, self._keys = LinePane(id="tabs"), LinePane(id="keys")
        self._small = LinePane(id="small")
        self._escaped_at = 0.0

    def compose(self) -> ComposeResult:
        """The strip of avatars, their panes, and the keys."""
        self._tabs.set_class(len(self.panes) > 1, "several")
        yield self._tabs
        with self._switcher:
            yield from self.panes
        yield self._keys
        yield self._small

    async def on_mount(self) -> None:
        """Start the avatars and the heartbeat."""
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._killed, number)
        self.theme_changed_signal.subscribe(self, self._restyle)
        # After Ctrl-Z and fg the terminal is empty.
        self.app_resume_signal.subscribe(self, self._restyle)  # pyright: ignore[reportUnknownMemberType]
        self._restyle()  # only now the theme's colours are known
        self.pane.prompt.focus()
        for pane in self.panes:
            pane.host.spawn(self.actions.start(pane))
        if self.options.is_demo:
            self.pane.host.spawn(play(self))
        if self.options.has_heart:
            self.set_interval(BEAT, self.beat)

    async def on_unmount(self) -> None:
        """Leave nothing behind."""
        await asyncio.gather(*(pane.host.stop() for pane in self.panes))
        await self.runtime.stop()

    def _killed(self, number: signal.Signals) -> None:
        self.exit(return_code=_KILLED + number)

    # The heartbeat.

    def beat(self) -> None:
        """Hear all avatars, draw the one in front."""
        self.tick += 1
        for pane in self.panes:
            pane.hear()
            while pane.view.toasts:
                self.toasts.tell(pane.view.toasts.pop(0))
        self.pane.beat(self.tick)
        self._show_frame()

    def _show_frame(self) -> None:
        if len(self.panes) > 1:
            tabs = [(pane.host.name, pane.picture, pane is self.pane) for pane in self.panes]
            self._tabs.show([status.tab_row(tabs)], self.look)
        keys = status.key_line(self.size.width - 2)
        self._keys.show([keys], self.look)

    @property
    def pane(self) -> AvatarPane:
        """The one in front."""
        shown = self._switcher.current
        return next((pane for pane in self.panes if pane.id == shown), self.panes[0])

    def on_resize(self, event: events.Resize) -> None:
        """Say so where nothing fits."""
        columns, rows = LEAST_SIZE
        is_tiny = event.size.width < columns or event.size.height < rows
        self.screen.set_class(is_tiny, "tiny")
        words = f"{columns}x{rows} at least, please"
        self._small.show([Text(words)], self.look)

    # Themes.

    def _new_look(self) -> Look:
        return Look(self.theme_variables, is_dark=self.current_theme.dark)

    def _restyle(self, _: object = None) -> None:
        self.look = self._new_look()
        for pane in self.panes:
            pane.restyle(self.look)
        self.refresh(layout=True)

    def action_next_theme(self) -> None:
        """The next of a few."""
        at = THEMES.index(self.theme) + 1 if self.theme in THEMES else 0
        self.theme = THEMES[at % len(THEMES)]

    # The input.

    async def on_prompt_box_sent(self, event: PromptBox.Sent) -> None:
        """Send it, or ask what to do with it while the avatar works."""
        pane = self.pane
        if pane.host.is_sending:
            self.run_worker(self._send_while_busy(pane, event.text))
        else:
            self._send(pane, event.text, WhileBusy.QUEUE)

    def _send(self, pane: AvatarPane, text: str, how: WhileBusy) -> None:
        pane.prompt.restart()
        pane.host.spawn(self.actions.send(pane, text, how))

    async def _send_while_busy(self, pane: AvatarPane, text: str) -> None:
        if (how := await self.actions.ask_while_busy(pane, text)) is not None:
            self._send(pane, text, how)

    def action_cancel(self) -> None:
        """Escape: leave the chosen block, end the turn, or twice: clear the input."""
        pane = self.pane
        now = time.monotonic()
        if pane.talk.block is not None:
            pane.talk.block = None
            pane.talk.refresh()
        elif pane.host.is_sending or pane.picture.is_busy:
            pane.host.spawn(self.actions.answers.escape(pane))
        elif now - self._escaped_at < _AGAIN:
            pane.prompt.clear()
        pane.prompt.focus()
        self._escaped_at = now

    def on_avatar_pane_asked(self, event: AvatarPane.Asked) -> None:
        """A key answers the open request."""
        event.pane.host.spawn(self.actions.answers.answer(event.pane, event.key, event.request))

    def on_avatar_pane_requested(self, event: AvatarPane.Requested) -> None:
        """What was allowed for good is answered at once."""
        event.pane.host.spawn(self.actions.answers.hear(event.pane, event.request))

    # Activities.

    def on_activity_tree_job_opened(self, event: ActivityTree.JobOpened) -> None:
        """Show all of a job."""
        self.action_open_job(event.job_id)

    def on_activity_tree_job_stopped(self, event: ActivityTree.JobStopped) -> None:
        """End a job."""
        self.run_worker(self.actions.stop_one(self.pane, event.job_id))

    def action_open_job(self, job_id: str) -> None:
        """All that is known of a job: input, diff and output."""
        for pane in (self.pane, *self.panes):
            job = pane.picture.work.jobs.get(job_id)
            if job is not None:
                rows = job_details(job, pane.picture.tools.get(job_id))
                self.read(job.label, rows)
                return

    def action_stop_one(self) -> None:
        """F8: the chosen job, else the last that runs."""
        if target := self.pane.side.activities.target():
            self.run_worker(self.actions.stop_one(self.pane, target))

    def action_stop_all(self) -> None:
        """The turn, and what runs in the background."""
        self.pane.host.spawn(self.actions.stop_all(self.pane))

    # Views.

    def action_next_tab(self) -> None:
        """The next avatar; first one that needs you."""
        at = self.panes.index(self.pane)
        others = [*self.panes[at + 1 :], *self.panes[:at]]
        waiting = [pane for pane in others if pane.picture.needs_you]
        self.show_pane((waiting or others or [self.pane])[0])

    def show_pane(self, pane: AvatarPane) -> None:
        """Bring an avatar to the front."""
        self._switcher.current = pane.id
        pane.prompt.focus()

    # Windows.

    def action_keys(self) -> None:
        """All keys."""
        self.read("keys", self.actions.key_rows())

    def action_debug(self) -> None:
        """Capabilities, health, the tree of supervisors, diagnostics."""
        self.run_worker(self.actions.show_debug(self.pane))

    def action_sessions(self) -> None:
        """Continue a stored session."""
        self.run_worker(self.actions.choose_session(self.pane))

    def action_model(self) -> None:
        """Another model or mode."""
        self.run_worker(self.actions.choose_model(self.pane))

    def action_provider(self) -> None:
        """Another agent in this tab."""
        self.run_worker(self.actions.choose_provider(self.pane))

    async def choose(self, title: str, choices: Sequence[tuple[str, str]]) -> str:
        """Let the person choose; empty: nothing. For workers."""
        return await self.push_screen_wait(ChoiceDialog(title, choices)) or ""

    def read(self, title: str, rows: Sequence[Text]) -> None:
        """Show a long text in a window."""
        self.push_screen(Reader(title, rows, self.look), self._copy)

    def on_avatar_pane_copied(self, event: AvatarPane.Copied) -> None:
        """To the clipboard, by the terminal."""
        self._copy(event.text)

    def _copy(self, text: str | None) -> None:
        if text:
            self.copy_to_clipboard(text)
            self.notify("copied")

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """What the palette offers."""
        commands: Iterable[SystemCommand] = super().get_system_commands(screen)  # pyright: ignore[reportUnknownMemberType] - Textual's own
        yield from commands
        for title, words, action in self.actions.palette():
            yield SystemCommand(title, words, action)


def _names(count: int) -> list[str]:
    return ["aria"] if count == 1 else [f"aria-{number}" for number in range(1, count + 1)]
