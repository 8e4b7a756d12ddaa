"""What the end of a headless run of Gemini means: its result if it had one, and its exit code."""

from __future__ import annotations

from typing import Final

from avatar_actors.model.values import Outcome, Usage
from avatar_actors.wire.facts import TurnOver
from avatar_actors.wire.gemini.lines import ExitLine, ResultLine
from avatar_actors.wire.json_values import count_at, text_at

# 41 and the last two were seen with 0.61.0, which ends with the API's HTTP status & 255; the others
# are documented.
MEANINGS: Final = {
    41: "gemini is not logged in. Run `gemini` once and log in there, or set GEMINI_API_KEY and"
    ' choose "gemini-api-key" in its settings.',
    42: "gemini did not accept its arguments or the prompt",
    53: "gemini reached its limit of turns",
    144: "the model API refused the request (HTTP 400)",
    145: "the model API refused the login (HTTP 401)",
}
STOP_REASONS: Final = {53: "max_turn_requests"}


def turn_over(
    exit_line: ExitLine, result: ResultLine | None, *, usage: Usage, is_cancelling: bool
) -> TurnOver:
    """The end of the turn."""
    code = exit_line.returncode
    outcome = _outcome(code, result, is_cancelling=is_cancelling)
    has_failed = outcome in {Outcome.FAILED, Outcome.CRASHED}
    error = _error(exit_line, result) if has_failed else ""
    stop_reason = STOP_REASONS.get(code or 0, "end_turn" if outcome is Outcome.COMPLETED else "")
    return TurnOver(
        turn_id=exit_line.turn, outcome=outcome, stop_reason=stop_reason, error=error, usage=usage
    )


def usage_of(result: ResultLine) -> Usage:
    """This run's tokens; nobody tells money. Thoughts count only in the total (0.61.0)."""
    output = count_at(result.stats, "output_tokens")
    given = count_at(result.stats, "input_tokens")
    cached = count_at(result.stats, "cached")
    thought = max(0, count_at(result.stats, "total_tokens") - given - output)
    return Usage(
        input_tokens=max(0, given - cached),
        output_tokens=output + thought,
        cached_tokens=cached,
        reasoning_tokens=thought,
    )


def _outcome(code: int | None, result: ResultLine | None, *, is_cancelling: bool) -> Outcome:
    if result is not None and result.status == "success" and code == 0:
        return Outcome.COMPLETED
    # After a signal gemini exits with 0 and without a result.
    if is_cancelling:
        return Outcome.CANCELLED
    has_said_why = result is not None or code is None or code in MEANINGS
    return Outcome.FAILED if has_said_why else Outcome.CRASHED


def _error(exit_line: ExitLine, result: ResultLine | None) -> str:
    code = exit_line.returncode
    said = text_at(result.error, "message") if result is not None else ""
    if code is None:
        return f"gemini could not start: {exit_line.error}"
    if said or code in MEANINGS:
        return said or MEANINGS[code]
    if code < 0:
        return f"gemini was killed by signal {-code}"
    return f"gemini ended without a result, with exit code {code}"
