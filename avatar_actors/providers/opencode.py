"""opencode over ACP. It is told to ask by a variable: see acp_permissions."""

from __future__ import annotations

from avatar_actors.providers.acp import acp_provider
from avatar_actors.providers.provider import Provider
from avatar_actors.wire.acp.profile import AcpProfile


def opencode_provider() -> Provider:
    """opencode as it is installed, logged in by its owner."""
    return acp_provider(
        "opencode",
        ("opencode", "acp"),
        AcpProfile(login_advice="Run `opencode auth login` once, or set a provider's key"),
        passes=("OPENCODE_*", "ANTHROPIC_*", "GEMINI_API_KEY", "OPENAI_*", "OPENROUTER_API_KEY"),
        install="npm install -g opencode-ai@latest",
    )
