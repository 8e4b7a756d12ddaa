"""How a turn of Claude Code ends: which result is its own, and what that means."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from avatar_actors.model.values import Outcome
from avatar_actors.wire.claude.lines import ResultLine, as_object, as_texts
from avatar_actors.wire.json_values import text_at

LOGIN_ADVICE: Final = "Run `claude` once and log in there, or set ANTHROPIC_API_KEY."
REFUSAL: Final = "refusal"
ABORTED: Final = "aborted_"
EXECUTION_ERROR: Final = "error_during_execution"


class Verdict(Struct, frozen=True):
    """What a result says about the turn."""

    outcome: Outcome
    stop_reason: str = ""
    error: str = ""
    data: Any = None


class Turn(Struct):
    """The present turn.

    One user message is not one result: it may be folded into a run that a background task began,
    and such a run may follow the answer. `has_begun` says that the CLI has taken up the prompt,
    so that what comes now belongs to it.
    """

    turn_id: int
    uuid: str
    has_begun: bool
    is_running: bool = False
    verdict: Verdict | None = None

    def owns(self, result: ResultLine) -> bool:
        """Whether the result is that of this turn's prompt.

        2.1.325 names the messages that were answered and gives an `origin` to results of runs that
        nobody prompted; 2.1.197 does neither and has no such runs.
        """
        answered = as_texts(result.user_message_uuids)
        return self.uuid in answered if answered else not as_object(result.origin)


def verdict_of(result: ResultLine, *, is_cancelling: bool) -> Verdict:
    """What the result means. `is_error` decides: an API error has the subtype "success"."""
    subtype = text_at(result.subtype)
    terminal = text_at(result.terminal_reason)
    stop_reason = text_at(result.stop_reason)
    if terminal.startswith(ABORTED) or (is_cancelling and subtype == EXECUTION_ERROR):
        return Verdict(Outcome.CANCELLED, terminal or subtype)
    if stop_reason == REFUSAL:
        return Verdict(Outcome.REFUSED, REFUSAL, text_at(result.result))
    if result.is_error:
        return Verdict(Outcome.FAILED, terminal or subtype, error_of(result))
    return Verdict(Outcome.COMPLETED, stop_reason, data=result.structured_output)


def error_of(result: ResultLine) -> str:
    """The words of a failed result."""
    words = text_at(result.result) or "; ".join(as_texts(result.errors))
    status = result.api_error_status
    if isinstance(status, int) and str(status) not in words:
        words = f"{words} (HTTP {status})".strip()
    if "/login" in words:
        # "Not logged in · Please run /login": there is no such command for a host to run.
        words = f"{words} {LOGIN_ADVICE}"
    return words or text_at(result.subtype) or "the agent gave no reason"
