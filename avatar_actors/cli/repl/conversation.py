"""Who speaks next: what is typed and what ends goes in, what is to be done comes out. No I/O."""

from __future__ import annotations

from typing import Final, TypeAlias

from msgspec import Struct

from avatar_actors import Outcome
from avatar_actors.cli.exit_codes import ExitCode

# Two Ctrl-C within so many seconds leave, whatever the first one did.
AGAIN: Final = 2.0
# After these the next prompt goes out by itself.
_WELL: Final = {Outcome.COMPLETED, Outcome.REFUSED}


class Send(Struct, frozen=True):
    """This prompt's turn has come."""

    prompt: str


class InterruptTurn(Struct, frozen=True):
    """The running turn is to be ended."""


class ClearInput(Struct, frozen=True):
    """What was typed is to be forgotten."""


class Leave(Struct, frozen=True):
    """The REPL is over, with this exit code."""

    code: int


class Stay(Struct, frozen=True):
    """Nothing is to be done."""


Decision: TypeAlias = Send | InterruptTurn | ClearInput | Leave | Stay


class Conversation:
    """One turn at a time; what is sent meanwhile waits here, where it can still be edited.

    After a turn that was interrupted or went wrong it is held: it was meant for what that turn
    should have come to. Enter on an empty line lets it go.
    """

    def __init__(self) -> None:
        self._waiting: list[str] = []
        self._is_running = self._is_interrupted = self._is_held = False
        self._armed_until = 0.0
        self._left: Leave | None = None

    @property
    def waiting(self) -> tuple[str, ...]:
        """The prompts that wait, the next one first."""
        return tuple(self._waiting)

    @property
    def is_running(self) -> bool:
        """Whether a turn runs."""
        return self._is_running

    @property
    def is_held(self) -> bool:
        """Whether waiting prompts wait for Enter."""
        return self._is_held and bool(self._waiting)

    @property
    def left(self) -> Leave | None:
        """How it ended, if it has."""
        return self._left

    def enter(self, text: str) -> Decision:
        """A prompt was sent, or an empty line."""
        self._armed_until = 0.0
        if not text.strip():
            self._is_held = False
            return self._next()
        if not self._is_running:
            return self._send(text)
        self._waiting.append(text)
        self._is_held = False
        return Stay()

    def ended(self, outcome: Outcome) -> Decision:
        """The turn is over."""
        self._is_held = self._is_held or outcome not in _WELL
        self._is_running = self._is_interrupted = False
        return self._next()

    def take_back(self) -> str:
        """The prompt that was queued last, which waits no more; empty if none waits."""
        return self._waiting.pop() if self._waiting else ""

    def interrupt(self) -> Decision:
        """The running turn is not wanted any more."""
        if not self._is_running:
            return Stay()
        self._is_interrupted = self._is_held = True
        return InterruptTurn()

    def ctrl_c(self, text: str, now: float) -> Decision:
        """What this Ctrl-C means: the line, the turn, or the REPL."""
        if text:
            return ClearInput()
        if now < self._armed_until or self._is_interrupted:
            return self.leave(ExitCode.INTERRUPTED)
        self._armed_until = now + AGAIN
        return self.interrupt()

    def ctrl_d(self, text: str) -> Decision:
        """On an empty line it leaves."""
        return Stay() if text else self.leave(ExitCode.OK)

    def leave(self, code: int) -> Leave:
        """It is over; the first reason counts."""
        self._left = self._left or Leave(code)
        return self._left

    def hint(self, now: float) -> str:
        """What a person should know now."""
        if now < self._armed_until or self._is_interrupted:
            return "interrupting; Ctrl-C again to leave" if self._is_running else AGAIN_LEAVES
        if self.is_held and not self._is_running:
            return "Enter sends what is held, Up edits it"
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
