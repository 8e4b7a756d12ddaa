"""How ACP agents are told the host's permissions: by a mode of theirs, or by a variable.

An agent is known by the name that it tells in the handshake, whatever command has started it.
"""

from __future__ import annotations

from typing import Final

import msgspec

from avatar_actors.model.settings import AvatarSettings, PermissionMode
from avatar_actors.model.tool_policy import ToolPolicy
from avatar_actors.model.values import PermissionBasis
from avatar_actors.wire.acp.profile import AcpProfile, HeldBy

# Those whose mode `default` asks; the gatekeeper says no in SAFE. Their `plan` is no safer: in that
# of claude-agent-acp 0.49.0 commands that write ran unasked. qwen 0.24.4 and claude-agent-acp
# 0.99.1 would start in `auto`, in which a model decides.
ASK_IN_DEFAULT: Final = ("@agentclientprotocol/claude-agent-acp", "qwen-code")
GEMINI: Final = "gemini-cli"
CODEX: Final = ("@agentclientprotocol/codex-acp", "codex-acp")
OPENCODE: Final = "OpenCode"
# opencode 1.18.33 asks about nothing by itself. Its mode `plan` would stop edits, but no commands.
OPENCODE_VARIABLE: Final = "OPENCODE_PERMISSION"
OPENCODE_ASKS: Final = ("edit", "bash", "webfetch")

# Letters alone, the best first. Never a mode that accepts by itself (auto, yolo, bypass, accept).
LOOKING: Final = ("plan", "readonly")
ASKING: Final = ("ask", "default", "approve", "manual")


def has_to_ask(settings: AvatarSettings) -> bool:
    """Whether anything of the host's is broken by a tool that runs unasked."""
    return settings.permissions is not PermissionMode.UNRESTRICTED or settings.tools != ToolPolicy()


def permission_variables(settings: AvatarSettings) -> dict[str, str]:
    """For the environment of any ACP agent: only opencode looks at it."""
    if not has_to_ask(settings):
        return {}
    servers = [f"{server.name}_*" for server in settings.mcp_servers]
    asks = dict.fromkeys((*OPENCODE_ASKS, *servers), "ask")
    return {OPENCODE_VARIABLE: msgspec.json.encode(asks).decode()}


def with_permissions(profile: AcpProfile, settings: AvatarSettings) -> AcpProfile:
    """The profile with the modes of known and unknown agents that suit these settings."""
    enforced = PermissionBasis.ENFORCED
    is_safe = settings.permissions is PermissionMode.SAFE
    known: dict[str, HeldBy] = dict.fromkeys(ASK_IN_DEFAULT, HeldBy("default", enforced))
    known[GEMINI] = HeldBy("plan" if is_safe else "default", enforced)
    if has_to_ask(settings):
        codex = HeldBy("read-only", enforced, asks_after_start=True)
        known.update(dict.fromkeys(CODEX, codex))
        is_told = not settings.url and OPENCODE_VARIABLE not in settings.env
        basis = PermissionBasis.ASKED if is_told else PermissionBasis.ON_TRUST
        known[OPENCODE] = HeldBy("", basis, asks_after_start=True)
    return msgspec.structs.replace(
        profile, known_agents=known, asking_modes=_asking_modes(settings)
    )


def _asking_modes(settings: AvatarSettings) -> tuple[str, ...]:
    if not has_to_ask(settings):
        return ()
    is_safe = settings.permissions is PermissionMode.SAFE
    return (*LOOKING, *ASKING) if is_safe else (*ASKING, *LOOKING[1:])
