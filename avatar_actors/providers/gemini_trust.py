"""Whether Gemini is told that its working directory can be trusted."""

from __future__ import annotations

from typing import Final

from avatar_actors.model.settings import AvatarSettings
from avatar_actors.providers.options import choice

# 0.61.0 refuses these in a folder that is not trusted.
PRIVILEGED_MODES: Final = frozenset({"autoEdit", "yolo"})


def trusts_workspace(settings: AvatarSettings) -> bool:
    """Only where it is needed: a trusted folder's own .gemini settings and MCP servers count.

    In a folder that is not trusted 0.61.0 silently starts no MCP server, ours neither.
    """
    is_needed = bool(settings.mcp_servers) or settings.mode in PRIVILEGED_MODES
    default = "true" if is_needed else "false"
    return choice(settings, "trust_workspace", ("false", "true"), default) == "true"
