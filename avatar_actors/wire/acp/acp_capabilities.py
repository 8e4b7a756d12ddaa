"""What an ACP agent can do, from what it said at the handshake and what its provider knows."""

from __future__ import annotations

from avatar_actors.model.values import JsonObject, ProviderCapabilities
from avatar_actors.wire.acp.choices import models_of, modes_of
from avatar_actors.wire.acp.content import attachment_kinds
from avatar_actors.wire.acp.profile import AcpProfile, SystemPromptBy
from avatar_actors.wire.acp.schema import (
    AgentCapabilities,
    AgentInfo,
    AuthMethod,
    Initialized,
    SessionResult,
)
from avatar_actors.wire.json_values import at, text_at


def capabilities_of(
    agent: Initialized, session: SessionResult, profile: AcpProfile
) -> ProviderCapabilities:
    """The capabilities of an opened session."""
    can, info = agent.capabilities, agent.agent_info or AgentInfo()
    can_list = has_session_method(can, "list")
    can_load = can.load_session or has_session_method(can, "resume")
    is_injected = system_prompt_way(profile, agent) is SystemPromptBy.INJECTED
    return ProviderCapabilities(
        agent=info.name or "",
        version=info.version or "",
        can_list_sessions=can_list,
        can_load_session=can_load,
        can_continue_last=can_list and can_load,
        can_fork_session=has_session_method(can, "fork"),
        # ACP has no word for it: thoughts come or they do not.
        thinking_supported=True,
        cost_tracking=profile.tells_cost,
        system_prompt="injected" if is_injected else "native",
        parallel_tools=True,
        steering=can_steer(agent),
        mcp_supported=True,
        attachments=attachment_kinds(can),
        models=models_of(session).all,
        modes=modes_of(session).all,
    )


def has_session_method(agent: AgentCapabilities, name: str) -> bool:
    """Whether the agent advertises `session/name`: by an object, which may be empty."""
    return at(agent.session_capabilities, name) not in (None, False)


def can_steer(agent: Initialized) -> bool:
    """Whether the agent takes words into a running turn: codex-acp 2.6.0 does."""
    return at(agent.meta, "steering", "supported") is True


def system_prompt_way(profile: AcpProfile, agent: Initialized) -> SystemPromptBy:
    """How this agent takes a system prompt; a field that it does not advertise is no way."""
    way = profile.system_prompt
    is_advertised = has_session_method(agent.capabilities, "systemPrompt")
    if way is SystemPromptBy.FIELD and not is_advertised:
        return SystemPromptBy.INJECTED
    return way


def system_prompt_params(way: SystemPromptBy, system_prompt: str) -> JsonObject:
    """What session/new gets besides, so that the agent has the system prompt."""
    if not system_prompt:
        return {}
    if way is SystemPromptBy.FIELD:
        # codex-acp 2.6.0; its mode "replace" is answered with -32602.
        content = [{"type": "text", "text": system_prompt}]
        return {"systemPrompt": {"mode": "append", "content": content}}
    if way is SystemPromptBy.META:
        # claude-agent-acp 0.49.0.
        return {"_meta": {"systemPrompt": {"append": system_prompt}}}
    return {}


def login_advice(profile: AcpProfile, agent: Initialized) -> str:
    """What a person can do when the agent wants authentication."""
    advice = profile.login_advice or "log in with the agent's own command line first"
    ways = ", ".join(map(_login_way, agent.auth_methods or []))
    return f"{advice}; its ways to log in: {ways}" if ways else advice


def _login_way(method: AuthMethod) -> str:
    variables = [name for each in method.vars or [] if (name := text_at(each, "name"))]
    words = [method.name] if method.name else []
    words += [f"set {' and '.join(variables)}"] if variables else []
    return f"{method.id} ({'; '.join(words)})" if words else method.id
