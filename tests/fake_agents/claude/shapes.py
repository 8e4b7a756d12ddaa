"""The lines of Claude Code 2.1.325 as it was recorded: pure functions from what is known."""

from __future__ import annotations

import os

from avatar_actors.programs.embedded.json_lines import Record
from avatar_actors.programs.embedded.session import timestamp
from avatar_actors.programs.embedded.tools import ToolUse, new_id, new_uuid

VERSION = "2.1.325"
CAPABILITIES = ("interrupt_receipt_v1", "interrupt_cancel_queued_v1", "msg_lifecycle_v1")
TOOLS = ("Task", "Bash", "Edit", "Glob", "Grep", "Read", "TodoWrite", "Write")
REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was"
    " a file edit, the new_string was NOT written to the file). STOP what you are doing and wait"
    " for the user to tell you how to proceed."
)
NO_SUBAGENTS: Record = {
    "spawned": 0,
    "requested": {"background": 0, "foreground": 0, "unset": 0},
    "started_in_background": 0,
    "max_depth": 0,
    "spawned_by_subagents": 0,
    "completed": 0,
    "failed": 0,
    "killed": {"parent": 0, "user": 0, "system": 0},
    "refused": {"depth_limit": 0, "concurrency_limit": 0, "budget": 0},
    "by_type": {},
}

# What every result has and we have nothing to say about.
RESULT: Record = {
    "type": "result",
    "duration_api_ms": 0,
    "fast_mode_state": "off",
    "fast_mode_disabled_reason": "sdk_opt_in_required",
    "safety_stops": 0,
    "subagent_stats": NO_SUBAGENTS,
    "queued_turn_count": 0,
}


def init(cwd: str, model: str, mode: str, mcp_servers: list[Record]) -> Record:
    """The line that opens every turn."""
    return {
        "type": "system",
        "subtype": "init",
        "cwd": cwd,
        "tools": list(TOOLS),
        "mcp_servers": mcp_servers,
        "model": model,
        "permissionMode": mode,
        "slash_commands": ["help"],
        "terminal_slash_commands": [],
        "apiKeySource": "none",
        "claude_code_version": VERSION,
        "output_style": "default",
        "agents": ["general-purpose"],
        "skills": [],
        "plugins": [],
        "capabilities": list(CAPABILITIES),
        "analytics_disabled": True,
        "product_feedback_disabled": True,
        "original_cwd": cwd,
        "additional_directories": [],
        "fast_mode_state": "off",
        "fast_mode_disabled_reason": "sdk_opt_in_required",
        "view_mode": "default",
    }


def stream_event(event: Record, message_id: str) -> Record:
    """A piece of a message while it is being written."""
    line: Record = {
        "type": "stream_event",
        "event": event,
        "parent_tool_use_id": None,
        "api_message_id": message_id,
    }
    if event["type"] == "message_start":
        line.update(ttft_ms=0, thinking_display="updates")
    return line


def message(message_id: str, model: str, content: list[Record]) -> Record:
    """A message of the model; a line of it carries one content block."""
    return {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": None,
        "stop_sequence": None,
        "usage": message_usage(0, 0),
    }


def assistant(message_id: str, model: str, block: Record) -> Record:
    """One content block of a message, whole."""
    return {
        "type": "assistant",
        "message": {**message(message_id, model, [block]), "context_management": None},
        "parent_tool_use_id": None,
        "timestamp": timestamp(),
        "request_id": new_id("req_"),
    }


def synthetic(ended: Record) -> Record:
    """The message that stands for one that the API refused."""
    block: Record = {"type": "text", "text": ended["result"]}
    more: Record = {"error": "invalid_request", "is_api_error_message": True}
    line = assistant(new_uuid(), "<synthetic>", block)
    status = ended["api_error_status"]
    return {**line, **more, "api_error_status": status, "api_error_type": "api_error"}


def user_text(text: str) -> Record:
    """What the program says in the user's name."""
    content: list[Record] = [{"type": "text", "text": text}]
    return {
        "type": "user",
        "message": {"role": "user", "content": content},
        "parent_tool_use_id": None,
        "timestamp": timestamp(),
    }


def replayed(text: str, uuid: str) -> Record:
    """The echo of a user's message that --replay-user-messages asks for."""
    return {
        "type": "user",
        "message": {"role": "user", "content": text},
        "parent_tool_use_id": None,
        "uuid": uuid,
        "timestamp": timestamp(),
        "isReplay": True,
    }


def can_use_tool(call: ToolUse) -> Record:
    """The question whether a tool may run."""
    suggestion: Record = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    return {
        "tool_name": call.name,
        "display_name": call.name,
        "input": call.input,
        "description": call.title,
        "permission_suggestions": [suggestion],
        "tool_use_id": call.id,
    }


def tool_result(call: ToolUse, meta: Record) -> Record:
    """How a tool ended."""
    result: Record = {
        "tool_use_id": call.id,
        "type": "tool_result",
        "content": call.output,
        "is_error": call.is_failed,
    }
    structured: object = f"Error: {call.output}"
    if not call.is_failed:
        structured = {
            "stdout": call.output,
            "stderr": "",
            "interrupted": False,
            "isImage": False,
            "noOutputExpected": False,
        }
    return {
        "type": "user",
        "message": {"role": "user", "content": [result]},
        "parent_tool_use_id": None,
        "timestamp": timestamp(),
        "tool_use_result": structured,
        "tool_result_meta": [{"id": call.id, **meta}],
    }


def message_usage(given: int, output: int) -> Record:
    """The usage of a message."""
    return {
        "input_tokens": given,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": output,
        "service_tier": "standard",
    }


def result_usage(counts: dict[str, float]) -> Record:
    """The usage of a turn."""
    return {
        **message_usage(int(counts.get("input", 0)), int(counts.get("output", 0))),
        "cache_read_input_tokens": int(counts.get("cached", 0)),
        "output_tokens_details": {"thinking_tokens": int(counts.get("thought", 0))},
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
        "inference_geo": "",
        "iterations": [],
        "speed": "standard",
        "fallback_credit": None,
    }


def model_usage(model: str, counts: dict[str, float], cost: float) -> Record:
    """What a model used, under its name; nothing for a model that used nothing."""
    if not counts and not cost:
        return {}
    return {
        model: {
            "inputTokens": int(counts.get("input", 0)),
            "outputTokens": int(counts.get("output", 0)),
            "cacheReadInputTokens": int(counts.get("cached", 0)),
            "cacheCreationInputTokens": 0,
            "webSearchRequests": 0,
            "costUSD": cost,
            "contextWindow": int(counts.get("size", 200_000)),
            "maxOutputTokens": 32_000,
            "cacheCreationEphemeral5mInputTokens": 0,
            "cacheCreationEphemeral1hInputTokens": 0,
            "thinkingTokens": int(counts.get("thought", 0)),
            "canonicalModel": model,
            "provider": "firstParty",
            "costBasis": "list",
        }
    }


def resume_refused(session_id: str) -> Record:
    """The only line of a process that was to resume what it does not know."""
    return {
        "type": "result",
        "subtype": "error_during_execution",
        "duration_ms": 0,
        "duration_api_ms": 0,
        "is_error": True,
        "num_turns": 0,
        "stop_reason": None,
        "session_id": session_id,
        "total_cost_usd": 0,
        "usage": result_usage({}),
        "modelUsage": {},
        "permission_denials": [],
        "uuid": new_uuid(),
        "errors": [f"No conversation found with session ID: {session_id}"],
        "result_index": 0,
    }


def initialized(model: str, mode: str, state: str, key: str) -> Record:
    """The answer to the control request `initialize`. `key` is where its API key comes from."""
    return {
        "commands": [{"name": "help", "description": "Says what it can do.", "argumentHint": ""}],
        "agents": [{"name": "general-purpose", "description": "Does a task"}],
        "output_style": "default",
        "available_output_styles": ["default"],
        "models": [{"value": "default", "resolvedModel": model, "displayName": "Default"}],
        "account": {"tokenSource": "none", "apiKeySource": key, "apiProvider": "firstParty"},
        "pid": os.getpid(),
        "claude_code_version": VERSION,
        "current_permission_mode": mode,
        "session_state": state,
        "capabilities": list(CAPABILITIES),
    }
