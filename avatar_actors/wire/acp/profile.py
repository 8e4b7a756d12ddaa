"""The quirks of an ACP agent, by its provider, and its capabilities, by the handshake."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from avatar_actors.model.values import JsonObject, PermissionBasis, ProviderCapabilities
from avatar_actors.wire.acp.choices import models_of, modes_of
from avatar_actors.wire.acp.content import attachment_kinds
from avatar_actors.wire.acp.schema import (
    AgentCapabilities,
    AgentInfo,
    AuthMethod,
    Initialized,
    SessionResult,
)
from avatar_actors.wire.json_values import at, text_at


class SystemPromptBy(Enum):
    """How an agent gets a system prompt.

    LAUNCH: the provider put it into the command. FIELD: `session/new{"systemPrompt"}`, if the agent
    advertises it. META: `session/new{"_meta": {"systemPrompt"}}`. INJECTED: a marked block before
    the first prompt, for all others.
    """

    LAUNCH = "launch"
    FIELD = "field"
    META = "meta"
    INJECTED = "injected"


class FilesOffered(Enum):
    """Which requests about text files the agent may send to us."""

    NONE = "none"
    WRITE = "write"
    READ_AND_WRITE = "read and write"


class HeldBy(Struct, frozen=True):
    """The mode that makes an agent ask, and how far it can be relied on.

    `asks_after_start`: it reports a tool as started before it asks.
    """

    mode: str = ""
    permissions: PermissionBasis = PermissionBasis.ON_TRUST
    asks_after_start: bool = False


class AcpProfile(Struct, frozen=True, kw_only=True):
    """The quirks of one agent. The defaults suit an agent that keeps to the protocol.

    `auth_method` is tried once when the agent wants authentication. `mode` is chosen when the host
    names none and the agent offers it; `permissions` and `asks_after_start` go with it, as in
    HeldBy. `known_agents` has the same by the name that an agent tells, and `asking_modes` are to
    be looked for in an agent that is not known, the best first. `mode_notice` begins a text that is
    no answer but tells a new mode; `warning_notices` begin one that warns, before any answer.
    `tool_name_end` ends the tool's name in a tool call's id. `failed_status` is where in the
    `_meta` of session_info_update a status stands, and its value that says that the turn failed;
    `retry_notice` is where the agent tells there that it tries again. `takes_any_model`: also those
    that it does not list. `replays_late`: a loaded session's history also after the answer.
    """

    system_prompt: SystemPromptBy = SystemPromptBy.INJECTED
    files: FilesOffered = FilesOffered.NONE
    auth_method: str = ""
    login_advice: str = ""
    mode: str = ""
    permissions: PermissionBasis = PermissionBasis.ON_TRUST
    known_agents: dict[str, HeldBy] = {}
    asking_modes: tuple[str, ...] = ()
    asks_after_start: bool = False
    mode_notice: str = ""
    warning_notices: tuple[str, ...] = ()
    tool_name_end: str = ""
    failed_status: tuple[tuple[str, ...], str] = ((), "")
    retry_notice: tuple[str, ...] = ()
    quiet_notifications: frozenset[str] = frozenset()
    # What the output of a cancelled tool is though its status is "completed" (gemini 0.61.0), and
    # how it ends after what was printed (opencode 1.18.33).
    cancelled_outputs: frozenset[str] = frozenset(
        {"Command cancelled by user.", "User aborted the command"}
    )
    cancelled_ending: str = "<shell_metadata>\nUser aborted the command\n</shell_metadata>"
    # Of several options "allow always", the one that allows least: gemini 0.61.0 for MCP tools,
    # codex-acp 2.6.0 and zed's 0.16.0 likewise, qwen 0.15.10.
    narrow_options: frozenset[str] = frozenset(
        {"proceed_always_tool", "allow_session", "approved-for-session", "proceed_always_project"}
    )
    tells_cost: bool = False
    takes_any_model: bool = False
    replays_late: bool = False


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
        # ACP does not advertise it: thoughts come or they do not.
        thinking_supported=True,
        cost_tracking=profile.tells_cost,
        system_prompt="injected" if is_injected else "native",
        parallel_tools=True,
        steering=can_steer(agent),
        mcp_supported=True,
        attachments=attachment_kinds(can),
        models=models_of(session).marked,
        modes=modes_of(session).marked,
    )


def has_session_method(agent: AgentCapabilities, name: str) -> bool:
    """Whether the agent advertises `session/name`: by an object, which may be empty."""
    return at(agent.session_capabilities, name) not in (None, False)


def can_steer(agent: Initialized) -> bool:
    """Whether the agent accepts text into a running turn: codex-acp 2.6.0 does."""
    return at(agent.meta, "steering", "supported") is True


def system_prompt_way(profile: AcpProfile, agent: Initialized) -> SystemPromptBy:
    """How this agent gets a system prompt; a field counts only if advertised."""
    way = profile.system_prompt
    is_advertised = has_session_method(agent.capabilities, "systemPrompt")
    if way is SystemPromptBy.FIELD and not is_advertised:
        return SystemPromptBy.INJECTED
    return way


def system_prompt_params(way: SystemPromptBy, system_prompt: str) -> JsonObject:
    """The parameters of session/new that carry the system prompt."""
    if not system_prompt:
        return {}
    if way is SystemPromptBy.FIELD:
        # codex-acp 2.6.0; it answers its mode "replace" with -32602.
        content = [{"type": "text", "text": system_prompt}]
        return {"systemPrompt": {"mode": "append", "content": content}}
    if way is SystemPromptBy.META:
        # claude-agent-acp 0.49.0.
        return {"_meta": {"systemPrompt": {"append": system_prompt}}}
    return {}


def login_advice(profile: AcpProfile, agent: Initialized) -> str:
    """What a person can do if the agent requires authentication."""
    advice = profile.login_advice or "Log in with the agent's own command line first"
    ways = ", ".join(map(_login_way, agent.auth_methods or []))
    return f"{advice}; its ways to log in: {ways}" if ways else advice


def _login_way(method: AuthMethod) -> str:
    variables = [name for each in method.vars or [] if (name := text_at(each, "name"))]
    words = [method.name] if method.name else []
    words += [f"set {' and '.join(variables)}"] if variables else []
    return f"{method.id} ({'; '.join(words)})" if words else method.id
