"""Decides what the REPL does next from keys and outcomes; no I/O."""

from __future__ import annotations

from typing import Final, TypeAlias

from msgspec import Struct

from avatar_actors import Outcome
from avatar_actors.cli.exit_codes import ExitCode

# Two Ctrl-C within this many seconds leave, whatever the first one did.
AGAIN: Final = 2.0
# After these outcomes the next prompt is sent automatically.
_WELL: Final = {Outcome.COMPLETED, Outcome.REFUSED}


class Send(Struct, frozen=True):
    """Send this prompt."""

    prompt: str


class InterruptTurn(Struct, frozen=True):
    """Interrupt the running turn."""


class ClearInput(Struct, frozen=True):
    """Clear the input line."""


class Leave(Struct, frozen=True):
    """End the REPL with this exit code."""

    code: int


class Stay(Struct, frozen=True):
    """Do nothing."""


Decision: TypeAlias = Send | InterruptTurn | ClearInput | Leave | Stay


class Conversation:
    """One turn at a time; prompts sent meanwhile are queued and can still be edited.

    After a turn that was interrupted or failed, the queue is held, as its prompts assumed another
    outcome. Enter on an empty line releases it.
    """

    def __init__(self) -> None:
        self._waiting: list[str] = []
        self._is_running = self._is_interrupted = self._is_held = self._is_released = False
        self._armed_until = 0.0
        self._left: Leave | None = None

    @property
    def waiting(self) -> tuple[str, ...]:
        """The queued prompts, the next one first."""
        return tuple(self._waiting)

    @property
    def is_running(self) -> bool:
        """Whether a turn is running."""
        return self._is_running

    @property
    def is_held(self) -> bool:
        """Whether queued prompts wait for Enter."""
        return self._is_held and bool(self._waiting)

    @property
    def left(self) -> Leave | None:
        """How the REPL ended, if it has."""
        return self._left

    def enter(self, text: str) -> Decision:
        """Enter was pressed, perhaps on an empty line."""
        self._armed_until = 0.0
        if not text.strip():
            # Also while the interrupted turn still ends: the person has seen what is held.
            self._is_held, self._is_released = False, self._is_interrupted
            return self._next()
        if not self._is_running:
            return self._send(text)
        self._waiting.append(text)
        self._is_held = False
        return Stay()

    def ended(self, outcome: Outcome) -> Decision:
        """The turn has ended."""
        is_expected = outcome in _WELL or (self._is_released and outcome is Outcome.CANCELLED)
        self._is_held = self._is_held or not is_expected
        self._is_running = self._is_interrupted = self._is_released = False
        return self._next()

    def take_back(self) -> str:
        """Remove the prompt that was queued last and return it; empty if there is none."""
        return self._waiting.pop() if self._waiting else ""

    def interrupt(self) -> Decision:
        """Interrupt the running turn, and hold the queue."""
        if not self._is_running:
            return Stay()
        self._is_interrupted = self._is_held = True
        return InterruptTurn()

    def ctrl_c(self, text: str, now: float) -> Decision:
        """Clear the line, interrupt the turn, or leave."""
        if text:
            return ClearInput()
        if now < self._armed_until or self._is_interrupted:
            return self.leave(ExitCode.INTERRUPTED)
        self._armed_until = now + AGAIN
        return self.interrupt()

    def ctrl_d(self, text: str) -> Decision:
        """Leave, on an empty line."""
        return Stay() if text else self.leave(ExitCode.OK)

    def leave(self, code: int) -> Leave:
        """End the REPL; the first reason counts."""
        self._left = self._left or Leave(code)
        return self._left

    def hint(self, now: float) -> str:
        """A hint on what the next key would do."""
        if now < self._armed_until or self._is_interrupted:
            return "interrupting; Ctrl-C again to leave" if self._is_running else AGAIN_LEAVES
        if self.is_held and not self._is_running:
            return "Enter sends the held prompts, Up edits the last"
        return ""

    def _next(self) -> Decision:
        if self._is_running or self._is_held or self._left or not self._waiting:
            return Stay()
        return self._send(self._waiting.pop(0))

    def _send(self, prompt: str) -> Decision:
        if self._left:
            return Stay()
        self._is_running, self._is_interrupted = True, False
        return Send(prompt)


AGAIN_LEAVES: Final = "(Ctrl-C again to leave)"
