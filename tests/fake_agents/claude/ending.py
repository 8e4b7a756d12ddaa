"""How a turn of the fake Claude ended, in the fields of its result line."""

from __future__ import annotations

from avatar_actors.programs.embedded.json_lines import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from avatar_actors.programs.embedded.turn import TurnResult

# Our stop reasons as Claude tells them: subtype, is_error, terminal_reason, stop_reason.
ENDINGS: dict[str, tuple[str, bool, str, str | None]] = {
    "end_turn": ("success", False, "completed", "end_turn"),
    "max_tokens": ("success", False, "completed", "max_tokens"),
    "refusal": ("success", False, "completed", "refusal"),
    "max_turn_requests": ("error_max_turns", True, "max_turns", "tool_use"),
    "max_budget": ("error_max_budget_usd", True, "budget_exhausted", "tool_use"),
}
FAILED = ("error_during_execution", True, "error", None)
HTTP_STATUSES = range(100, 600)


def stop_reason(ending: TurnResult) -> str | None:
    """The stop reason of the last message."""
    return ENDINGS.get(ending.reason, FAILED)[3]


def ended(ending: TurnResult, last_text: str) -> Record:
    """A turn that came to its end; only a success has its text in the result."""
    subtype, is_error, why, stop = ENDINGS.get(ending.reason, FAILED)
    told: Record = {"subtype": subtype, "is_error": is_error, "terminal_reason": why}
    if subtype == "success":
        return {**told, "stop_reason": stop, "api_error_status": None, "result": last_text}
    return {**told, "stop_reason": stop, "errors": [f"The turn ended: {ending.reason}"]}


def aborted(*, is_in_tool: bool) -> Record:
    """A turn that was interrupted."""
    stop = "tool_use" if is_in_tool else None
    shown = stop or "null"
    return {
        "subtype": "error_during_execution",
        "is_error": True,
        "terminal_reason": "aborted_tools" if is_in_tool else "aborted_streaming",
        "stop_reason": stop,
        "errors": [f"[ede_diagnostic] result_type=user last_content_type=n/a stop_reason={shown}"],
    }


def refused(error: Record) -> Record:
    """A turn that the API refused: a `success` that is an error (2.1.325)."""
    code = error.get("code")
    return {
        "subtype": "success",
        "is_error": True,
        "terminal_reason": "api_error",
        "stop_reason": "stop_sequence",
        "api_error_status": code if code in HTTP_STATUSES else None,
        "result": f"API Error: {code} {error.get('message')}",
    }
