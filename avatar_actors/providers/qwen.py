"""Qwen Code over ACP. It is put into its mode that asks: see acp_permissions."""

from __future__ import annotations

from avatar_actors.providers.acp import acp_provider
from avatar_actors.providers.provider import Provider
from avatar_actors.wire.acp.profile import AcpProfile


def qwen_provider() -> Provider:
    """Qwen Code as it is installed, logged in by its owner."""
    return acp_provider(
        "qwen",
        ("qwen", "--acp"),
        AcpProfile(
            login_advice="Run `qwen` once and log in there, or set OPENAI_API_KEY",
            # 0.24.4 proposes a next prompt after each turn.
            quiet_notifications=frozenset({"qwen/notify/session/prompt-suggestion"}),
        ),
        passes=("QWEN_*", "DASHSCOPE_API_KEY", "OPENAI_*"),
        install="npm install -g @qwen-code/qwen-code@latest",
    )
