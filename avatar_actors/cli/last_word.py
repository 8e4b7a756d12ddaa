"""Why a turn did not end well, in one line that says what to do next."""

from __future__ import annotations

from typing import Final

from avatar_actors import Outcome, TurnEndedEvent
from avatar_actors.cli.terminal.text import plain

_LONGEST: Final = 500
ADVICE: Final = {
    Outcome.TIMED_OUT: "; a longer --timeout gives it more time",
    Outcome.OVER_BUDGET: "; a higher --budget lets it go on",
    Outcome.REFUSED: "; ask in another way",
    Outcome.CRASHED: "; go on with: --continue",
}


def last_word(ended: TurnEndedEvent) -> str:
    """For stderr; nothing if it was answered."""
    if ended.outcome is Outcome.COMPLETED:
        return ""
    # What the library advises of a budget is for programs, as ours is for a command line.
    reason = ended.reason.partition("; raise it")[0]
    reason = " ".join(plain(reason).split()).rstrip(".")
    if len(reason) > _LONGEST:
        reason = f"{reason[:_LONGEST]}…"
    return f"{_named(ended.outcome, reason)}{_advice(ended)}"


def _named(outcome: Outcome, reason: str) -> str:
    word = "interrupted" if outcome is Outcome.CANCELLED else outcome.value.replace("_", " ")
    return f"{word}: {reason}" if reason not in {"", word} else word


def _advice(ended: TurnEndedEvent) -> str:
    if ended.outcome is Outcome.CRASHED and ended.can_retry:
        return "; nothing had been done yet: send it again"
    if ended.outcome is Outcome.CRASHED and ended.unknown_tools:
        names = {call.tool_id: plain(call.tool_name) for call in ended.tool_calls}
        tools = ", ".join(names.get(tool, tool) for tool in ended.unknown_tools)
        return f"; look at what its tools have done ({tools}), then go on with: --continue"
    return ADVICE.get(ended.outcome, "")
