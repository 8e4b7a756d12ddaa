"""One avatar on the screen: header, conversation, side bar, question, headline and input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget

from avatar_actors import (
    AvatarEvent,
    PermissionEvent,
    RuntimeThread,
)
from avatar_actors.cli.agent_choice import AgentChoice
from avatar_actors.cli.terminal.permissions import AnswerKeys
from avatar_actors.gui import status
from avatar_actors.gui.host import AvatarHost
from avatar_actors.gui.prompt import PromptBox
from avatar_actors.gui.side import Side
from avatar_actors.gui.strips import LinePane, Look
from avatar_actors.gui.talk import Talk
from avatar_actors.gui.view import AvatarView
from avatar_actors.picture import AvatarPicture

_NARROW: Final = 100
_WIDE: Final = 160
_SHORT: Final = 30
# Beats between two pictures of a figure that only breathes.
_REST: Final = 3


class AvatarPane(Vertical):
    """A tab. The app's heartbeat calls `hear` for every pane and `beat` for the one in front."""

    BINDINGS = [  # noqa: RUF012 - Textual's way
        Binding("ctrl+b", "side", priority=True),
        Binding("alt+up", "block(-1)", priority=True),
        Binding("alt+down", "block(1)", priority=True),
        Binding("ctrl+y", "copy_block", priority=True),
        Binding("pageup", "page(-1)", priority=True),
        Binding("pagedown", "page(1)", priority=True),
    ]

    class Asked(Message):
        """A key answers the open permission request."""

        def __init__(self, pane: AvatarPane, key: str, request: PermissionEvent) -> None:
            super().__init__()
            self.pane, self.key, self.request = pane, key, request

    class Copied(Message):
        """A person wants this in the clipboard."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Requested(Message):
        """The agent asks for permission."""

        def __init__(self, pane: AvatarPane, request: PermissionEvent) -> None:
            super().__init__()
            self.pane, self.request = pane, request

    def __init__(
        self,
        choice: AgentChoice,
        runtime: RuntimeThread,
        name: str,
        look: Look,
        *,
        clock: Callable[[], float],
    ) -> None:
        super().__init__(id=f"pane-{name}")
        self.clock = clock
        self.look = look
        self.host = AvatarHost(choice, runtime, name, self._see)
        self.answer_keys = AnswerKeys()
        self.past: list[str] = []
        self._is_new = True
        self.talk = Talk(look)
        self.view = AvatarView(self.talk.transcript)
        self.prompt = PromptBox(self._answers, lambda: list(reversed(self.past)))
        self.side = Side()
        self._header, self._headline = LinePane(id="header"), LinePane(id="headline")
        self._ask = LinePane(id="ask")

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield self._header
        with Horizontal(id="middle"):
            yield self.talk
            yield self.side
        yield self._ask
        yield self._headline
        yield self.prompt

    @property
    def picture(self) -> AvatarPicture:
        """The avatar as it is now."""
        return self.view.picture

    def on_resize(self) -> None:
        """Other sizes have other panels."""
        width, height = self.size
        self.set_class(width < _NARROW, "narrow")
        self.set_class(width >= _WIDE, "wide")
        self.set_class(height < _SHORT, "short")
        self._is_new = True

    @property
    def has_side(self) -> bool:
        """Whether the side bar is seen."""
        is_narrow = self.has_class("narrow")
        return self.has_class("side-shown") if is_narrow else not self.has_class("side-hidden")

    def action_side(self) -> None:
        """Show the side bar, in a narrow window instead of the conversation; or hide it."""
        self.toggle_class("side-shown" if self.has_class("narrow") else "side-hidden")
        self._is_new = True

    def action_block(self, step: int) -> None:
        """Choose a block of the conversation."""
        self.talk.choose(step)

    def action_copy_block(self) -> None:
        """Copy the chosen block, else the last answer."""
        if text := self.talk.chosen_source():
            self.post_message(self.Copied(text))

    def action_page(self, pages: int) -> None:
        """Scroll the conversation, wherever the focus is."""
        self.talk.action_page(pages)

    # Events.

    def note(self, words: str, look: str = "muted") -> None:
        """A line of the app's own."""
        self.talk.transcript.add([Text(words, look)])
        self._is_new = True

    def hear(self) -> None:
        """Fold in what happened since the last beat."""
        self.host.deliver()
        now = self.clock()
        self.answer_keys.look(tuple(asked.event for asked in self.picture.state.asks.values()), now)

    def _see(self, event: AvatarEvent) -> None:
        self._is_new = True
        self.view.see(event, self.clock())
        if isinstance(event, PermissionEvent):
            self.post_message(self.Requested(self, event))

    # The heartbeat of the pane in front.

    def beat(self, tick: int) -> None:
        """Draw what changed; an avatar at rest only breathes."""
        now = self.clock()
        is_lively = self._is_new or self.view.is_moving(now)
        self.talk.beat(tick)
        if not is_lively and tick % _REST:
            return
        self._is_new = False
        self._show_ask(now)
        head = status.header(
            self.picture, self.host.name, self.size.width - 2, has_side=self.has_side
        )
        self._header.show([head], self.look)
        line = status.headline(self.picture, self.look, now, tick)
        self._headline.show([line], self.look)
        if self.has_side:
            self.side.beat(self.picture, self.look, now, tick)
        self._fit_prompt()

    def _show_ask(self, now: float) -> None:
        rows = status.question(self.picture, now, can_edit=self.answer_keys.can_edit)
        if bool(rows) != self._ask.display:
            self._ask.display = bool(rows)
        if rows:
            _set_height(self._ask, len(rows) + 2)
        self._ask.show(rows, self.look)

    def _fit_prompt(self) -> None:
        frame = 0 if self.has_class("short") else 2
        _set_height(self.prompt, self.prompt.wanted_lines + frame)

    def _answers(self, key: str) -> bool:
        """Whether this key is the answer to the open request."""
        request = self.answer_keys.pressed(key, self.clock())
        if request is None:
            return False
        self.post_message(self.Asked(self, key, request))
        return True

    def restyle(self, look: Look) -> None:
        """Use the colours of another theme."""
        self.look = look
        self.talk.restyle(look)
        self._is_new = True

    def renew(self) -> None:
        """Another agent, or another session: nothing of the old one holds."""
        self.view.renew()
        self._is_new = True


def _set_height(widget: Widget, wanted: int) -> None:
    """Only where it differs: a new height lays out the screen."""
    height = widget.styles.height
    if height is None or height.value != wanted:
        widget.styles.height = wanted
