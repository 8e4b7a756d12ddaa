"""The messages of ACP as this agent writes them: pure functions from what is known to records."""

from __future__ import annotations

from avatar_actors import __version__
from avatar_actors.programs.embedded.json_lines import Record, items_in, record_in, text_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar

    from avatar_actors.programs.embedded.session import Session
    from avatar_actors.programs.embedded.tools import ToolUse
    from avatar_actors.programs.embedded.turn import AgentTurn

CONTEXT_SIZE = 258_400

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
AUTH_REQUIRED = -32000
NOT_FOUND = -32002


class RpcRefused(Exception):
    """A request is refused; `error` is what its sender reads."""

    def __init__(self, code: int, message: str, data: Record | None = None) -> None:
        super().__init__(message)
        self.error: Record = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data


class AcpFeatures:
    """What the agent announces and offers."""

    info: ClassVar[Record] = {"name": "avatar-embedded", "title": "Embedded agent"}
    auth_methods: tuple[Record, ...] = (
        {"id": "none", "name": "No login", "description": "Nothing is checked"},
    )
    prompt_capabilities: ClassVar[Record] = {"embeddedContext": True}
    mcp_capabilities: ClassVar[Record] = {"http": True, "sse": True}
    session_capabilities: tuple[str, ...] = ("list", "resume", "close", "delete", "fork")
    modes: tuple[tuple[str, str], ...] = (("ask", "Ask before writing"), ("auto", "Write freely"))
    mode = "ask"
    free_modes: tuple[str, ...] = ("auto",)
    """The modes in which no permission is asked."""
    models: tuple[str, ...] = ("none", "none-at-all")
    model = "none"
    methods: tuple[str, ...] = ("session/set_mode", "session/set_config_option")
    permission: tuple[tuple[str, str, str], ...] = (
        ("allow", "Allow", "allow_once"),
        ("always", "Allow always", "allow_always"),
        ("reject", "Reject", "reject_once"),
    )
    """The options of a permission request: id, name and kind."""
    load_error = (NOT_FOUND, "Resource not found", "Session not found")
    """How the loading of an unknown session is refused: code, message and details."""


def text_block(text: str) -> Record:
    """A text as a content block."""
    return {"type": "text", "text": text}


def tool_text(text: str) -> list[Record]:
    """A tool's text as its content."""
    return [{"type": "content", "content": text_block(text)}] if text else []


def absolute(name: str, cwd: str) -> str:
    """The absolute path of a file, as the protocol wants it."""
    return name if name.startswith("/") else f"{cwd.rstrip('/')}/{name}"


def initialized(features: AcpFeatures, version: int, *, can_load: bool) -> Record:
    """The answer to `initialize`."""
    capabilities: Record = {
        "loadSession": can_load,
        "promptCapabilities": features.prompt_capabilities,
        "mcpCapabilities": features.mcp_capabilities,
    }
    names = [n for n in features.session_capabilities if can_load or n not in ("resume", "fork")]
    if names:
        capabilities["sessionCapabilities"] = {name: {} for name in names}
    return {
        "protocolVersion": version,
        "agentInfo": {"version": __version__, **features.info},
        "agentCapabilities": capabilities,
        "authMethods": list(features.auth_methods),
    }


def session_state(features: AcpFeatures, session: Session) -> Record:
    """The modes and options of a session, as its creation and its loading tell them."""
    modes = [{"id": mode, "name": name} for mode, name in features.modes]
    return {
        "modes": {"availableModes": modes, "currentModeId": session.mode},
        "configOptions": config_options(features, session),
    }


def config_options(features: AcpFeatures, session: Session) -> list[Record]:
    """The options of a session with their values."""
    modes = [{"value": mode, "name": name} for mode, name in features.modes]
    # It has no model, so it goes by whatever name it was started with.
    known = dict.fromkeys((*features.models, session.model))
    models = [{"value": model, "name": model} for model in known]
    both = (("mode", "Mode", session.mode, modes), ("model", "Model", session.model, models))
    return [
        {
            "id": key,
            "name": name,
            "category": key,
            "type": "select",
            "currentValue": value,
            "options": options,
        }
        for key, name, value, options in both
    ]


def tool_started(call: ToolUse, cwd: str) -> Record:
    """A tool call that begins."""
    shown: Record = {"toolCallId": call.id, "title": call.title, "kind": call.kind}
    if call.path:
        shown["locations"] = [{"path": absolute(call.path, cwd)}]
    return {**shown, "status": "in_progress", "rawInput": call.input}


def tool_ended(call: ToolUse) -> Record:
    """A tool call that has ended."""
    status = "failed" if call.is_failed else "completed"
    shown: Record = {"toolCallId": call.id, "status": status}
    return {**shown, "content": tool_text(call.output), "rawOutput": call.output}


def replayed(entry: Record) -> list[Record]:
    """The updates by which the loading of a session repeats one stored message."""
    kinds = {"user": "user_message_chunk", "assistant": "agent_message_chunk"}
    kind, text = kinds.get(text_in(entry, "role")), text_in(entry, "text")
    if kind is None or not text:
        return []
    return [{"sessionUpdate": kind, "content": text_block(text)}]


def permission_options(features: AcpFeatures) -> list[Record]:
    """The choices of a permission request."""
    return [
        {"optionId": option, "name": name, "kind": kind}
        for option, name, kind in features.permission
    ]


def question_form(question: Record, session_id: str) -> Record:
    """The form of a question: its options, and a field for words of one's own if it takes them."""
    options = [{"const": str(one), "title": str(one)} for one in items_in(question, "options")]
    answer: Record = {"type": "string", "title": text_in(question, "header", "Answer")}
    if question.get("multiple") is True:
        answer |= {"type": "array", "items": {"anyOf": options}}
    elif options:
        answer["oneOf"] = options
    properties: Record = {"answer": answer}
    if options and question.get("text") is True:
        properties["answer_custom"] = {"type": "string", "title": "Other"}
    return {
        "mode": "form",
        "sessionId": session_id,
        "message": text_in(question, "question"),
        "requestedSchema": {"type": "object", "properties": properties},
    }


def form_answer(result: Record) -> str:
    """What the client has filled in, or what it did instead."""
    if text_in(result, "action") != "accept":
        return text_in(result, "action", "no answer")
    content = record_in(result, "content")
    given = [*items_in(content, "answer"), content.get("answer"), content.get("answer_custom")]
    return ", ".join(text for text in given if isinstance(text, str))


def usage_update(turn: AgentTurn) -> Record:
    """How much of the context is in use, and what the session has cost."""
    used = turn.usage.get("used", turn.usage.get("input", 0) + turn.usage.get("output", 0))
    size = turn.usage.get("size", CONTEXT_SIZE)
    cost = {"amount": turn.session.cost, "currency": "USD"}
    return {"sessionUpdate": "usage_update", "used": int(used), "size": int(size), "cost": cost}


def usage(counts: dict[str, float]) -> Record:
    """The tokens of a turn."""
    names = ("input", "output", "cached", "thought")
    given, output, cached, thought = (int(counts.get(name, 0)) for name in names)
    return {
        "totalTokens": given + output + cached,
        "inputTokens": given,
        "cachedReadTokens": cached,
        "cachedWriteTokens": 0,
        "outputTokens": output,
        "thoughtTokens": thought,
    }
