"""What Codex's own configuration says for an avatar: model, effort, sandbox, approvals."""

from __future__ import annotations

from typing import Final

from avatar_actors.model.settings import AvatarSettings
from avatar_actors.model.values import JsonObject
from avatar_actors.providers.options import choice

SANDBOX_MODES: Final = ("read-only", "workspace-write", "danger-full-access")
APPROVAL_MODES: Final = ("untrusted", "on-request", "on-failure", "never")


def codex_config(settings: AvatarSettings) -> JsonObject:
    """What was wished, in its words."""
    config: JsonObject = {}
    # `gpt-5.5[high]` is the adapter's name for a model with an effort.
    model, _, effort = settings.model.removesuffix("]").partition("[")
    config |= {"model": model} if model else {}
    config |= {"model_reasoning_effort": effort} if effort else {}
    if "sandbox_mode" in settings.options:
        # Zed's needs `bwrap` on PATH for the first two; without it every command dies unseen.
        config["sandbox_mode"] = choice(settings, "sandbox_mode", SANDBOX_MODES, "")
    if "approval_mode" in settings.options:
        config["approval_policy"] = choice(settings, "approval_mode", APPROVAL_MODES, "")
    return config
