"""The messages of ACP as each of the agents writes them, where it differs from the embedded one."""

from __future__ import annotations

from avatar_actors.programs.embedded.acp import messages
from avatar_actors.programs.embedded.acp.messages import tool_text
from avatar_actors.programs.embedded.json_lines import Record
from tests.fake_agents.acp.variants import AcpVariant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from avatar_actors.programs.embedded.session import Session
    from avatar_actors.programs.embedded.tools import ToolUse
    from avatar_actors.programs.embedded.turn import AgentTurn


def initialized(variant: AcpVariant, version: int, *, can_load: bool) -> Record:
    """The answer to `initialize`."""
    answer = messages.initialized(variant, version, can_load=can_load)
    capabilities = answer["agentCapabilities"]
    assert isinstance(capabilities, dict)
    answer["agentCapabilities"] = {**capabilities, **variant.extra_capabilities}
    if variant.initialize_meta:
        answer["_meta"] = variant.initialize_meta
    return answer


def session_state(variant: AcpVariant, session: Session) -> Record:
    """The modes, models and options of a session."""
    state = messages.session_state(variant, session)
    if variant.lists_models:
        models = [{"modelId": model, "name": model} for model in variant.models]
        state["models"] = {"availableModels": models, "currentModelId": session.model}
    if "session/set_config_option" not in variant.methods:
        del state["configOptions"]
    return state


def tool_started(variant: AcpVariant, call: ToolUse, cwd: str) -> Record:
    """What is shown of a tool that begins."""
    shown = messages.tool_started(call, cwd)
    if variant.name == "gemini":
        del shown["rawInput"]
        where = f"[current working directory {cwd}]" if call.kind == "execute" else ""
        return {"locations": [], **shown, "content": tool_text(where)}
    if variant.name == "codex-acp" and call.kind == "execute":
        shown["content"] = [{"type": "terminal", "terminalId": call.id}]
        shown["_meta"] = {"terminal_info": {"cwd": cwd, "terminal_id": call.id}}
    return shown


def tool_pending(variant: AcpVariant, call: ToolUse, cwd: str) -> Record:
    """What a permission request shows of its tool."""
    shown = {**tool_started(variant, call, cwd), "status": "pending"}
    if variant.name == "codex-acp":
        keys = ("toolCallId", "title", "rawInput", "kind", "status")
        return {key: shown[key] for key in keys}
    if variant.name == "codex-zed":
        shown["content"] = tool_text(f"Approve {call.title}?")
    return shown


def tool_ended(variant: AcpVariant, call: ToolUse) -> Record:
    """What is shown of a tool that has ended; Gemini never sends what a command printed."""
    plain = messages.tool_ended(call)
    shown: Record = {"toolCallId": plain["toolCallId"], "status": plain["status"]}
    if variant.name == "gemini":
        hides = call.kind in ("execute", "read") and not call.is_failed
        shown.update(title=call.title, kind=call.kind, locations=[])
        return {**shown, "content": tool_text("" if hides else call.output)}
    code = 1 if call.is_failed else 0
    if variant.name == "codex-acp" and call.kind == "execute":
        printed = {"data": call.output, "terminal_id": call.id}
        ended = {"exit_code": code, "signal": None, "terminal_id": call.id}
        return {**shown, "_meta": {"terminal_output_delta": printed, "terminal_exit": ended}}
    if variant.name == "codex-zed" and call.kind == "execute":
        raw = {"stdout": call.output, "stderr": "", "exit_code": code, "status": plain["status"]}
        return {**shown, "content": tool_text(f"```sh\n{call.output}\n```\n"), "rawOutput": raw}
    return plain


def result(variant: AcpVariant, turn: AgentTurn) -> Record:
    """The answer to a prompt that ended with a stop reason."""
    answer: Record = {"stopReason": turn.ending.reason}
    if variant.name == "codex-acp":
        answer["usage"] = messages.usage(turn.usage) if turn.usage else None
    # Gemini CLI 0.61.0 tells nothing of a cancelled turn, codex-acp 2.6.0 an empty quota.
    is_told = variant.name == "codex-acp" or turn.ending.reason != "cancelled"
    if "quota" in variant.usage_forms and is_told:
        answer["_meta"] = {"quota": _quota(variant, turn)}
    return answer


def _quota(variant: AcpVariant, turn: AgentTurn) -> Record:
    if variant.name == "gemini":
        count: Record = {
            "input_tokens": int(turn.usage.get("input", 0)),
            "output_tokens": int(turn.usage.get("output", 0)),
        }
        models = [{"model": turn.session.model, "token_count": count}]
        return {"token_count": count, "model_usage": models}
    if not turn.usage:
        return {"token_count": None, "model_usage": []}
    usage = messages.usage(turn.usage)
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
