"""Turns Claude Code's notices about itself into events, if they say something new."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from avatar_actors.model.events import AvatarEvent, DiagnosticEvent, SessionInfoEvent
from avatar_actors.model.values import JsonObject, Level
from avatar_actors.wire.claude.lines import as_object, as_objects
from avatar_actors.wire.json_values import text_at

# Known, but reported by other lines or useless for a host: hooks come from settings files, which
# the avatar does not load; task lists repeat task_…; the mirror is a copy of the transcript.
SILENT: Final = frozenset(
    {
        "auth_status",
        "background_tasks_changed",
        "hook_progress",
        "hook_response",
        "hook_started",
        "keep_alive",
        "prompt_suggestion",
        "tool_progress",
        "tool_use_summary",
        "transcript_mirror",
        "ui_invalidate",
    }
)
BAD_SERVER: Final = frozenset({"failed", "needs-auth"})


class Notices:
    """Remembers what notices have said, so that only changes are reported."""

    def __init__(self) -> None:
        self.model: str = ""
        self._mode: str = ""
        self._servers: dict[str, str] = {}
        self._handlers: dict[str, Callable[[JsonObject], list[AvatarEvent]]] = {
            "init": self.init,
            "status": self._status,
            "api_retry": _api_retry,
            "model_fallback": self._model_fallback,
            "permission_denied": _permission_denied,
            "compact_boundary": _compact_boundary,
            "conversation_reset": _conversation_reset,
            "session_title_changed": _session_title_changed,
            "informational": _informational,
            "rate_limit_event": _rate_limit,
        }

    def notice(self, kind: str, fields: JsonObject) -> list[AvatarEvent] | None:
        """The events of a notice; None for an unknown kind."""
        if kind in SILENT:
            return []
        handler = self._handlers.get(kind)
        return handler(fields) if handler else None

    def chosen(self, *, model: str = "", mode: str = "") -> list[AvatarEvent]:
        """The current model and mode."""
        new_model = model if model != self.model else ""
        new_mode = mode if mode != self._mode else ""
        self.model = model or self.model
        self._mode = mode or self._mode
        if not (new_model or new_mode):
            return []
        return [SessionInfoEvent(model=new_model or None, mode=new_mode or None)]

    def init(self, fields: JsonObject) -> list[AvatarEvent]:
        """The line at the start of every run."""
        model, mode = text_at(fields, "model"), text_at(fields, "permissionMode")
        events = self.chosen(model=model, mode=mode)
        for server in as_objects(fields.get("mcp_servers")):
            name, status = text_at(server, "name"), text_at(server, "status")
            if status in BAD_SERVER and self._servers.get(name) != status:
                events += _remark(f"MCP server {name!r}: {status}", Level.WARNING)
            self._servers[name] = status
        return events

    def _status(self, fields: JsonObject) -> list[AvatarEvent]:
        events = self.chosen(mode=text_at(fields, "permissionMode"))
        if fields.get("status") == "compacting":
            events += _remark("the agent is compacting its context", Level.INFO)
        return events

    def _model_fallback(self, fields: JsonObject) -> list[AvatarEvent]:
        model = text_at(fields, "fallback_model")
        words = text_at(fields, "content") or f"the agent fell back to {model}"
        return [*self.chosen(model=model), *_remark(words, Level.WARNING)]


def _api_retry(fields: JsonObject) -> list[AvatarEvent]:
    status = fields.get("error_status") or "no answer"
    return _remark(
        f"model API: {text_at(fields, 'error') or 'error'} ({status}); "
        f"attempt {fields.get('attempt')} of {fields.get('max_retries')}, "
        f"next in {fields.get('retry_delay_ms')} ms",
        Level.WARNING,
    )


def _permission_denied(fields: JsonObject) -> list[AvatarEvent]:
    name, message = text_at(fields, "tool_name"), text_at(fields, "message")
    return _remark(f"{name} was denied by the agent's own rules: {message}", Level.WARNING)


def _compact_boundary(_fields: JsonObject) -> list[AvatarEvent]:
    return _remark("the agent has compacted its context", Level.INFO)


def _conversation_reset(_fields: JsonObject) -> list[AvatarEvent]:
    return _remark("the agent has cleared its conversation", Level.WARNING)


def _session_title_changed(fields: JsonObject) -> list[AvatarEvent]:
    title = text_at(fields, "title") or text_at(fields, "session_title")
    return [SessionInfoEvent(title=title)] if title else []


def _informational(fields: JsonObject) -> list[AvatarEvent]:
    words = text_at(fields, "content") or text_at(fields, "message")
    return _remark(words, Level.INFO) if words else []


def _rate_limit(fields: JsonObject) -> list[AvatarEvent]:
    # Not seen in any recording; its fields are those of the public issue threads.
    info = as_object(fields.get("rate_limit_info"))
    status = text_at(info, "status")
    if status in {"", "allowed"}:
        return []
    return _remark(f"rate limit {text_at(info, 'rateLimitType')}: {status}", Level.WARNING)


def _remark(message: str, level: Level) -> list[AvatarEvent]:
    return [DiagnosticEvent(message=message, level=level, source="agent")]
