"""Builds the events that all wires share: thinking, titles of tools, cost, diagnostics."""

from __future__ import annotations

import re
from typing import Final

from avatar_actors.model.events import CostEvent, DiagnosticEvent, ThinkingEvent, UnrecognisedEvent
from avatar_actors.model.values import CostSource, JsonObject, Level, ThinkingPhase, Usage
from avatar_actors.wire.json_values import is_figure, is_object, raw_text, text_at

# Where a subject is searched: agents write it first, as "**Considering options**\n…".
HEAD_LENGTH: Final = 256
SUBJECT: Final = re.compile(r"\s*\*\*([^*\n]+)\*\*")

# How much of a piece is searched for keywords, and how much of a cut word is kept for the next.
SCANNED: Final = 4096
LONGEST_WORD: Final = 24

# By their first four letters: a lookup per word, 0.1 µs, where a regular expression took 1 µs.
STEM: Final = 4
KEY_WORDS: Final = {
    ThinkingPhase.ANALYZING: "analyze analyse looking examine read investigate inspect",
    ThinkingPhase.PLANNING: "plan approach strategy steps",
    ThinkingPhase.CODING: "write writing implement code coding function refactor",
    ThinkingPhase.REVIEWING: "check verify review test",
    ThinkingPhase.TOOL_PLANNING: "tool call use using execute run running",
}
PHASES: Final = {word[:STEM]: phase for phase, words in KEY_WORDS.items() for word in words.split()}


def phase_of(text: str) -> ThinkingPhase | None:
    """The phase of the last keyword in the text, if there is one."""
    phase = None
    for word in text[:SCANNED].lower().replace("*", " ").split():
        phase = PHASES.get(word[:STEM], phase)
    return phase


class Thoughts:
    """One stream of thoughts, block after block.

    `chunk` starts a block if none is open; `open` starts one with the agent's own id. The phase of
    a block is that of its latest keyword.
    """

    def __init__(self) -> None:
        self._blocks = 0
        self._block_id = ""
        self._head = ""
        self._subject = ""
        self._cut_word = ""
        self._phase = ThinkingPhase.GENERAL
        self._fresh = False

    @property
    def block_id(self) -> str:
        """The id of the open block, or empty."""
        return self._block_id

    def open(self, block_id: str = "") -> None:
        """Start a block; an open one must be closed first."""
        self._blocks += 1
        self._block_id = block_id or f"thought-{self._blocks}"
        self._head = self._subject = self._cut_word = ""
        self._phase = ThinkingPhase.GENERAL
        self._fresh = True

    def chunk(self, text: str, token_count: int = 0) -> ThinkingEvent:
        """The event for the next piece of the open block."""
        if not self._block_id:
            self.open()
        is_start, self._fresh = self._fresh, False
        self._note_subject(text)
        self._note_phase(text)
        return ThinkingEvent(
            thought=text,
            subject=self._subject,
            phase=self._phase,
            is_start=is_start,
            block_id=self._block_id,
            token_count=token_count,
        )

    def close(self, token_count: int = 0) -> ThinkingEvent | None:
        """The last event of the open block, without text; None if none is open."""
        if not self._block_id:
            return None
        block_id, self._block_id = self._block_id, ""
        return ThinkingEvent(
            subject=self._subject,
            phase=self._phase,
            is_start=self._fresh,
            is_complete=True,
            block_id=block_id,
            token_count=token_count,
        )

    def _note_subject(self, text: str) -> None:
        if self._subject or len(self._head) >= HEAD_LENGTH:
            return
        self._head += text[: HEAD_LENGTH - len(self._head)]
        if found := SUBJECT.match(self._head):
            self._subject = found[1].strip()

    def _note_phase(self, text: str) -> None:
        self._phase = phase_of(self._cut_word + text) or self._phase
        self._cut_word = text[-LONGEST_WORD:].rpartition(" ")[2]


TITLE_LENGTH: Final = 200


def titled(name: str, parameters: JsonObject, keys: tuple[str, ...]) -> str:
    """The title of a tool call: its first text under these keys, else the tool's name."""
    texts = (text_at(parameters, key) for key in keys)
    return next((text for text in texts if text), name)[:TITLE_LENGTH]


def remark(message: str) -> DiagnosticEvent:
    """A warning by the wire itself."""
    return DiagnosticEvent(message=message, level=Level.WARNING, source="wire")


def agent_warning(message: str) -> DiagnosticEvent:
    """A warning by the agent, which is no part of its answer."""
    return DiagnosticEvent(message=message, level=Level.WARNING, source="agent")


def unrecognised(raw: bytes, source: str) -> UnrecognisedEvent:
    """A line of a kind that the wire does not know."""
    return UnrecognisedEvent(raw=raw_text(raw), source=source)


_LEVELS: Final = 3
_MOST_NAMES: Final = 8


def cost_event(usage: Usage) -> CostEvent:
    """The event for this usage."""
    return CostEvent(
        cost_usd=usage.cost_usd,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cached_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        source=CostSource.UNKNOWN if usage.cost_usd is None else CostSource.REPORTED,
    )


def impossible(report: object) -> list[DiagnosticEvent]:
    """A warning about impossible figures, which are not counted."""
    names = ", ".join(_impossible(report, _LEVELS))
    words = f"the agent tells figures that cannot be, not counted: {names}"
    return [remark(words)] if names else []


def _impossible(report: object, levels: int) -> list[str]:
    names: list[str] = []
    for key, value in report.items() if is_object(report) and levels else ():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        names += [key[:80]] if is_number and not is_figure(value) else []
        names += _impossible(value, levels - 1)
    return names[:_MOST_NAMES]
