"""Interprets one headless run of Gemini: its prompt, its tool calls, and its outcome."""

from __future__ import annotations

from typing import Final

import msgspec

from avatar_actors.model.events import ToolEvent
from avatar_actors.model.values import Attachment, Outcome, ToolStatus, Usage
from avatar_actors.wire.commands import Prompt
from avatar_actors.wire.facts import TurnOver
from avatar_actors.wire.gemini.lines import ExitLine, GeminiResultLine, ToolResultLine, ToolUseLine
from avatar_actors.wire.json_values import count_at, text_at
from avatar_actors.wire.phases import RecentIds
from avatar_actors.wire.shared_events import titled

# The kinds of ACP, so that the tools of all agents have the same ones.
KINDS: Final = {
    "glob": "search",
    "google_web_search": "fetch",
    "grep_search": "search",
    "list_directory": "search",
    "read_file": "read",
    "read_many_files": "read",
    "replace": "edit",
    "run_shell_command": "execute",
    "search_file_content": "search",
    "web_fetch": "fetch",
    "write_file": "edit",
    "write_todos": "think",
}
TITLES: Final = ("description", "command", "file_path", "path", "pattern", "query", "prompt")


class GeminiTools:
    """The open calls, and the ids of those that an earlier turn left open."""

    def __init__(self) -> None:
        self._open: dict[str, ToolEvent] = {}
        self._past = RecentIds()

    def started(self, line: ToolUseLine) -> list[ToolEvent]:
        """A new call; nothing if it belongs to an earlier turn."""
        if line.tool_id in self._past:
            return []
        event = ToolEvent(
            tool_name=line.tool_name,
            tool_id=line.tool_id,
            parameters=line.parameters,
            kind=KINDS.get(line.tool_name, "other"),
            title=titled(line.tool_name, line.parameters, TITLES),
        )
        self._open[line.tool_id] = event
        return [event]

    def finished(self, line: ToolResultLine) -> list[ToolEvent]:
        """The result of a call; nothing if no such call is open."""
        event = self._open.pop(line.tool_id, None)
        if event is None:
            return []
        output = text_at(line.output)
        if line.status == "success":
            done = ToolStatus.COMPLETED
            return [msgspec.structs.replace(event, status=done, result=output)]
        error = text_at(line.error, "message") or output
        return [msgspec.structs.replace(event, status=ToolStatus.FAILED, error=error)]

    def end_turn(self, status: ToolStatus) -> list[ToolEvent]:
        """End the calls that were never finished."""
        left = [msgspec.structs.replace(event, status=status) for event in self._open.values()]
        self._past.add(*self._open)
        self._open.clear()
        return left


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
NEED_LOGIN: Final = frozenset({41, 145})
STOP_REASONS: Final = {53: "max_turn_requests"}


def turn_over(
    exit_line: ExitLine, result: GeminiResultLine | None, *, usage: Usage, is_cancelling: bool
) -> TurnOver:
    """The end of the turn."""
    code = exit_line.returncode
    outcome = _outcome(code, result, is_cancelling=is_cancelling)
    has_failed = outcome in {Outcome.FAILED, Outcome.CRASHED}
    error = _error(exit_line, result) if has_failed else ""
    stop_reason = STOP_REASONS.get(code or 0, "end_turn" if outcome is Outcome.COMPLETED else "")
    return TurnOver(
        turn_id=exit_line.turn,
        outcome=outcome,
        stop_reason=stop_reason,
        error=error,
        usage=usage,
        needs_login=has_failed and code in NEED_LOGIN,
    )


def usage_of(result: GeminiResultLine) -> Usage:
    """The tokens of this run; there is no cost. Thoughts count only in the total (0.61.0)."""
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


def _outcome(code: int | None, result: GeminiResultLine | None, *, is_cancelling: bool) -> Outcome:
    if result is not None and result.status == "success" and code == 0:
        return Outcome.COMPLETED
    # After a signal gemini exits with 0 and without a result.
    if is_cancelling:
        return Outcome.CANCELLED
    has_said_why = result is not None or code is None or code in MEANINGS
    return Outcome.FAILED if has_said_why else Outcome.CRASHED


def _error(exit_line: ExitLine, result: GeminiResultLine | None) -> str:
    code = exit_line.returncode
    said = text_at(result.error, "message") if result is not None else ""
    if code is None:
        return f"gemini could not start: {exit_line.error}"
    if said or code in MEANINGS:
        return said or MEANINGS[code]
    if code < 0:
        return f"gemini was killed by signal {-code}"
    return f"gemini ended without a result, with exit code {code}"


# Gemini reads no more than this from its stdin, which carries a long prompt.
LONGEST: Final = 8 * 1024 * 1024


def unacceptable(prompt: Prompt) -> str:
    """Why the prompt cannot be sent, or nothing."""
    for attachment in prompt.attachments:
        if attachment.kind != "text":
            kind = attachment.mime_type
            return f"gemini takes only text in this mode, no attachment of type {kind!r}"
    if len(prompt_text(prompt).encode("utf-8", "replace")) > LONGEST:
        return f"gemini takes no prompt of more than {LONGEST} bytes in this mode"
    return ""


def prompt_text(prompt: Prompt) -> str:
    """The whole text to send."""
    return "\n\n".join([*map(_file, prompt.attachments), prompt.text])


def _file(attachment: Attachment) -> str:
    text = attachment.data.decode("utf-8", "replace")
    return f'<file name="{attachment.name or "attachment"}">\n{text}\n</file>'
