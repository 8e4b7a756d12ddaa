"""The messages of ACP as each flavour writes them: pure functions from what is known to records."""

from __future__ import annotations

from avatar_actors import __version__
from avatar_actors.programs.embedded.dialects.acp.variants import AcpVariant
from avatar_actors.programs.embedded.json_lines import Record, text_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from avatar_actors.programs.embedded.session import Session
    from avatar_actors.programs.embedded.tool_call import ToolUse
    from avatar_actors.programs.embedded.turn import AgentTurn

CONTEXT_SIZE = 258_400


def text_block(text: str) -> Record:
    """A text as a content block."""
    return {"type": "text", "text": text}


def tool_text(text: str) -> list[Record]:
    """A tool's text as its content."""
    return [{"type": "content", "content": text_block(text)}] if text else []


def absolute(name: str, cwd: str) -> str:
    """The path of a file as the protocol wants it."""
    return name if name.startswith("/") else f"{cwd.rstrip('/')}/{name}"


def initialized(flavour: AcpVariant, version: int, *, can_load: bool) -> Record:
    """The answer to `initialize`."""
    capabilities: Record = {
        "loadSession": can_load,
        "promptCapabilities": flavour.prompt_capabilities,
        "mcpCapabilities": flavour.mcp_capabilities,
        **flavour.extra_capabilities,
    }
    names = [n for n in flavour.session_capabilities if can_load or n not in ("resume", "fork")]
    if names:
        capabilities["sessionCapabilities"] = {name: {} for name in names}
    answer: Record = {
        "protocolVersion": version,
        "agentInfo": {"version": __version__, **flavour.info},
        "agentCapabilities": capabilities,
        "authMethods": list(flavour.auth_methods),
    }
    if flavour.initialize_meta:
        answer["_meta"] = flavour.initialize_meta
    return answer


def session_state(flavour: AcpVariant, session: Session) -> Record:
    """The modes, models and options of a session, as its creation and its loading tell them."""
    modes = [{"id": mode, "name": name} for mode, name in flavour.modes]
    state: Record = {"modes": {"availableModes": modes, "currentModeId": session.mode}}
    if flavour.lists_models:
        models = [{"modelId": model, "name": model} for model in flavour.models]
        state["models"] = {"availableModels": models, "currentModelId": session.model}
    if "session/set_config_option" in flavour.methods:
        state["configOptions"] = config_options(flavour, session)
    return state


def config_options(flavour: AcpVariant, session: Session) -> list[Record]:
    """The options of a session with their values."""
    modes = [{"value": mode, "name": name} for mode, name in flavour.modes]
    # It has no model, so it goes by whatever name it was started with.
    known = dict.fromkeys((*flavour.models, session.model))
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


def tool_started(flavour: AcpVariant, call: ToolUse, cwd: str) -> Record:
    """What is shown when a tool begins."""
    shown: Record = {"toolCallId": call.id, "title": call.title, "kind": call.kind}
    if call.path:
        shown["locations"] = [{"path": absolute(call.path, cwd)}]
    if flavour.name == "gemini":
        where = f"[current working directory {cwd}]" if call.kind == "execute" else ""
        return {"locations": [], **shown, "status": "in_progress", "content": tool_text(where)}
    if flavour.name == "codex-acp" and call.kind == "execute":
        shown["content"] = [{"type": "terminal", "terminalId": call.id}]
        shown["_meta"] = {"terminal_info": {"cwd": cwd, "terminal_id": call.id}}
    if flavour.name == "plain":
        # As qwen 0.15.10 tells it: ACP itself has no name for a tool.
        shown["_meta"] = {"toolName": call.name}
    return {**shown, "status": "in_progress", "rawInput": call.input}


def tool_pending(flavour: AcpVariant, call: ToolUse, cwd: str) -> Record:
    """What a permission request shows of the tool that it is about."""
    shown = {**tool_started(flavour, call, cwd), "status": "pending"}
    if flavour.name == "codex-acp":
        keys = ("toolCallId", "title", "rawInput", "kind", "status")
        return {key: shown[key] for key in keys}
    if flavour.name == "codex-zed":
        shown["content"] = tool_text(f"Approve {call.title}?")
    return shown


def tool_ended(flavour: AcpVariant, call: ToolUse) -> Record:
    """What is shown when a tool has ended; Gemini never sends what a command printed."""
    status = "failed" if call.is_failed else "completed"
    shown: Record = {"toolCallId": call.id, "status": status}
    if flavour.name == "gemini":
        hides = call.kind in ("execute", "read") and not call.is_failed
        shown.update(title=call.title, kind=call.kind, locations=[])
        return {**shown, "content": tool_text("" if hides else call.output)}
    if flavour.name == "codex-acp" and call.kind == "execute":
        code = 1 if call.is_failed else 0
        printed = {"data": call.output, "terminal_id": call.id}
        ended = {"exit_code": code, "signal": None, "terminal_id": call.id}
        return {**shown, "_meta": {"terminal_output_delta": printed, "terminal_exit": ended}}
    if flavour.name == "codex-zed" and call.kind == "execute":
        code = 1 if call.is_failed else 0
        raw = {"stdout": call.output, "stderr": "", "exit_code": code, "status": status}
        return {**shown, "content": tool_text(f"```sh\n{call.output}\n```\n"), "rawOutput": raw}
    return {**shown, "content": tool_text(call.output), "rawOutput": call.output}


def replayed(entry: Record) -> list[Record]:
    """What the loading of a session tells of one stored message."""
    kinds = {"user": "user_message_chunk", "assistant": "agent_message_chunk"}
    kind, text = kinds.get(text_in(entry, "role")), text_in(entry, "text")
    if kind is None or not text:
        return []
    return [{"sessionUpdate": kind, "content": text_block(text)}]


def permission_options(flavour: AcpVariant) -> list[Record]:
    """The choices that a permission request offers."""
    return [
        {"optionId": option, "name": name, "kind": kind}
        for option, name, kind in flavour.permission
    ]


def usage_update(turn: AgentTurn, *, has_cost: bool) -> Record:
    """How much of the context is in use, and what the session has cost."""
    used = turn.usage.get("used", turn.usage.get("input", 0) + turn.usage.get("output", 0))
    size = turn.usage.get("size", CONTEXT_SIZE)
    update: Record = {"sessionUpdate": "usage_update", "used": int(used), "size": int(size)}
    if has_cost:
        update["cost"] = {"amount": turn.session.cost, "currency": "USD"}
    return update


def prompt_answered(flavour: AcpVariant, turn: AgentTurn) -> Record:
    """The answer to a prompt that ended with a stop reason."""
    answer: Record = {"stopReason": turn.ending.reason}
    counts = {key: int(value) for key, value in turn.usage.items()}
    if "response" in flavour.usage_forms and (counts or flavour.name == "codex-acp"):
        answer["usage"] = _usage(counts) if counts else None
    # Gemini CLI 0.61.0 tells nothing of a cancelled turn, codex-acp 2.6.0 an empty quota.
    is_told = flavour.name == "codex-acp" or turn.ending.reason != "cancelled"
    if "quota" in flavour.usage_forms and is_told:
        answer["_meta"] = {"quota": _quota(flavour, turn, counts)}
    return answer


def _usage(counts: dict[str, int]) -> Record:
    names = ("input", "output", "cached", "thought")
    given, output, cached, thought = (counts.get(name, 0) for name in names)
    return {
        "totalTokens": given + output + cached,
        "inputTokens": given,
        "cachedReadTokens": cached,
        "cachedWriteTokens": 0,
        "outputTokens": output,
        "thoughtTokens": thought,
    }


def _quota(flavour: AcpVariant, turn: AgentTurn, counts: dict[str, int]) -> Record:
    if flavour.name == "gemini":
        count: Record = {
            "input_tokens": counts.get("input", 0),
            "output_tokens": counts.get("output", 0),
        }
        models = [{"model": turn.session.model, "token_count": count}]
        return {"token_count": count, "model_usage": models}
    if not counts:
        return {"token_count": None, "model_usage": []}
    usage = _usage(counts)
    count = {
        "totalTokens": usage["totalTokens"],
        "inputTokens": usage["inputTokens"],
        "cachedInputTokens": usage["cachedReadTokens"],
        "cacheWriteInputTokens": 0,
        "outputTokens": usage["outputTokens"],
        "reasoningOutputTokens": usage["thoughtTokens"],
    }
    model = turn.session.model.partition("[")[0]
    return {"token_count": count, "model_usage": [{"model": model, "token_count": count}]}
