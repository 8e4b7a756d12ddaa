"""What a result of Claude Code means: the outcome of a turn, and why it failed."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from avatar_actors.model.values import Outcome
from avatar_actors.wire.claude.lines import ClaudeResultLine, as_texts
from avatar_actors.wire.json_values import text_at

LOGIN_ADVICE: Final = "Run `claude` once and log in there, or set ANTHROPIC_API_KEY."
LOGIN_COMMAND: Final = "/login"
UNAUTHORISED: Final = 401
REFUSAL: Final = "refusal"
ABORTED: Final = "aborted_"
EXECUTION_ERROR: Final = "error_during_execution"


class ResultVerdict(Struct, frozen=True):
    """What a result means for the turn."""

    outcome: Outcome
    stop_reason: str = ""
    error: str = ""
    data: Any = None
    needs_login: bool = False


def verdict_of(result: ClaudeResultLine, *, is_cancelling: bool) -> ResultVerdict:
    """What the result means. `is_error` decides: an API error has the subtype "success"."""
    subtype = text_at(result.subtype)
    terminal = text_at(result.terminal_reason)
    stop_reason = text_at(result.stop_reason)
    if terminal.startswith(ABORTED) or (is_cancelling and subtype == EXECUTION_ERROR):
        return ResultVerdict(Outcome.CANCELLED, terminal or subtype)
    if stop_reason == REFUSAL:
        return ResultVerdict(Outcome.REFUSED, REFUSAL, text_at(result.result))
    if result.is_error:
        return ResultVerdict(
            Outcome.FAILED,
            terminal or subtype,
            error_of(result),
            needs_login=wants_login(result),
        )
    return ResultVerdict(Outcome.COMPLETED, stop_reason, data=result.structured_output)


def error_of(result: ClaudeResultLine) -> str:
    """The words of a failed result."""
    words = _words(result)
    status = result.api_error_status
    if isinstance(status, int) and str(status) not in words:
        words = f"{words} (HTTP {status})".strip()
    if wants_login(result):
        # "Not logged in · Please run /login": a host cannot run such a command.
        words = f"{words} {LOGIN_ADVICE}"
    return words or text_at(result.subtype) or "the agent gave no reason"


def wants_login(result: ClaudeResultLine) -> bool:
    """Whether the run failed for want of a login, or of one that is accepted."""
    return LOGIN_COMMAND in _words(result) or result.api_error_status == UNAUTHORISED


def _words(result: ClaudeResultLine) -> str:
    return text_at(result.result) or "; ".join(as_texts(result.errors))


NO_RESULT = ResultVerdict(Outcome.FAILED, error="the agent ended its turn without a result")
TAKEN_BACK = ResultVerdict(Outcome.CANCELLED, "cancelled before it began")
# A prompt is folded into a run that nobody asked for: from then on it is the prompt's.
FOLDED = ResultVerdict(Outcome.COMPLETED, "a prompt was taken up")
