"""Claude Code by its ACP adapter. It is put into its mode that asks: see acp_permissions."""

from __future__ import annotations

from msgspec.structs import replace

from avatar_actors.providers.acp import acp_provider
from avatar_actors.providers.claude import claude_sign_in
from avatar_actors.providers.provider import Provider
from avatar_actors.wire.acp.profile import AcpProfile


def claude_agent_acp_provider() -> Provider:
    """claude-agent-acp as it is installed; unlike `claude` it uses the user's own settings."""
    provider = acp_provider(
        "claude-agent-acp",
        ("claude-agent-acp",),
        AcpProfile(login_advice="Run `claude` once and log in there, or set ANTHROPIC_API_KEY"),
        passes=("ANTHROPIC_*", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_*", "CLAUDE_CODE_USE_*"),
        install="npm install -g @agentclientprotocol/claude-agent-acp@latest",
    )
    return replace(provider, sign_in=claude_sign_in)
