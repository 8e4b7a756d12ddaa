"""What the app shows of one avatar, folded from its events: picture, conversation, toasts.

Knows no widget: a test can look at it without an app.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from rich.text import Text

from avatar_actors import (
    AvatarEvent,
    PermissionClosedEvent,
    PermissionEvent,
    QuestionClosedEvent,
    QuestionEvent,
    TextEvent,
    TurnEndedEvent,
)
from avatar_actors.cli.display.frame_layout import checklist
from avatar_actors.cli.display.notices import NoticeLine, answered, lifecycle, notice
from avatar_actors.cli.display.permission_question import details, introduction, is_long, named
from avatar_actors.cli.display.work import final_box
from avatar_actors.cli.terminal.rendering import Style
from avatar_actors.cli.terminal.text import terminal_safe
from avatar_actors.gui.activity_rows import SIGNS
from avatar_actors.gui.transcript import TalkTranscript
from avatar_actors.picture import AvatarPicture, Mood, Toast, rules

_STYLE: Final = Style()
_LOG: Final = 500
_MOODS: Final = 100


class AvatarView:
    """Fold events in with `see`; then draw `picture` and `transcript`."""

    def __init__(self, transcript: TalkTranscript) -> None:
        self.picture = AvatarPicture()
        self.transcript = transcript
        self.toasts: list[Toast] = []
        """Not shown yet; who shows them takes them away."""
        self.log: deque[str] = deque(maxlen=_LOG)
        """What is behind the answer, as `-vv` tells it on the command line."""
        self.moods: list[Mood] = [Mood.IDLE]
        """The last moods, in order, also those that were gone before the next beat."""
        self._boxed: set[str] = set()

    def renew(self) -> None:
        """Another agent, or another session: nothing of the old one holds."""
        self.picture = AvatarPicture()
        self._boxed = set()

    def see(self, event: AvatarEvent, now: float) -> None:
        """Fold one event in."""
        self._show(event)
        self.toasts += self.picture.see(event, now)
        if isinstance(event, TurnEndedEvent):
            self._end_turn()
        self._add(notice(event, SIGNS))
        if (line := lifecycle(event)) is not None:
            self.log.append(line.words)
        # Text changes the mood only once.
        if not (isinstance(event, TextEvent) and self.moods[-1] is Mood.TALKING):
            self._note_mood()

    def _note_mood(self) -> None:
        mood = self.picture.mood()
        if mood is not self.moods[-1]:
            self.moods = [*self.moods[1 - _MOODS :], mood]

    def _show(self, event: AvatarEvent) -> None:
        """What stands in the conversation before the picture changes."""
        match event:
            case TextEvent(text=text):
                self._box_finished_work()
                self.transcript.say(terminal_safe(text))
                if event.is_complete:
                    self.transcript.close()
            case PermissionEvent() | QuestionEvent():
                rows = details(event)
                if is_long(rows):
                    title = Text(introduction(event), "warning")
                    self.transcript.add([title, *rows], "request")
            case (
                PermissionClosedEvent(request_id=request_id)
                | QuestionClosedEvent(request_id=request_id)
            ):
                asked = self.picture.state.asks.get(request_id)
                tool = named(asked.event) if asked else request_id
                self._add([answered(event, tool, SIGNS)])
            case _:
                pass

    def _add(self, lines: list[NoticeLine]) -> None:
        shown = [line for line in lines if not line.verbose]
        self.log += [line.words for line in lines]
        looks = ("muted" if line.look == "dim" else line.look for line in shown)
        self.transcript.add(
            [Text(line.words, look) for line, look in zip(shown, looks, strict=True)]
        )

    def _box_finished_work(self) -> None:
        if all(job.is_over for job in self.picture.work.jobs.values()):
            self._box()

    def _box(self) -> None:
        """The jobs that have ended, as lines in the conversation, once."""
        jobs = self.picture.work.jobs.values()
        new = [job for job in jobs if job.is_over and job.job_id not in self._boxed]
        self._boxed.update(job.job_id for job in new)
        self.transcript.add(final_box(new, _STYLE), "box")

    def _end_turn(self) -> None:
        self._box()
        self.transcript.add(checklist(self.picture.state.plan, SIGNS), "plan")
        self.picture.state.plan = ()

    def is_moving(self, now: float) -> bool:
        """Whether something changes by itself: a turn, a job, or what ended a moment ago."""
        return self.picture.is_busy or any(
            not job.is_over or now - job.heard <= rules.FOLD_AFTER + 1
            for job in self.picture.work.jobs.values()
        )
