"""The host's answer to can_use_tool, as the turn can act on it."""

from __future__ import annotations

from avatar_actors.programs.embedded.json_lines import (
    Record,
    is_record,
    record_in,
    records_in,
    text_in,
)


class Verdict:
    """Whether the tool may run, with which input, and what else the answer asks for."""

    def __init__(self, reply: object) -> None:
        answer = record_in(reply if is_record(reply) else {}, "response")
        self.is_allowed = text_in(answer, "behavior") == "allow"
        self.input = record_in(answer, "updatedInput")
        self.interrupts = answer.get("interrupt") is True and not self.is_allowed
        self.reason = _reason(reply, answer)
        self.allowed_tools: set[str] = set()
        self.mode = ""
        for update in records_in(answer, "updatedPermissions"):
            self.allowed_tools |= {
                text_in(rule, "toolName") for rule in records_in(update, "rules")
            }
            self.mode = text_in(update, "mode", self.mode)


def _reason(reply: object, answer: Record) -> str:
    if not is_record(reply):
        return "Tool permission stream closed before response received"
    if text_in(reply, "subtype") == "error":
        return f"Tool permission request failed: Error: {text_in(reply, 'error')}"
    if text_in(answer, "behavior") == "deny":
        return text_in(answer, "message", "denied")
    return "The canUseTool callback returned an invalid permission result."
