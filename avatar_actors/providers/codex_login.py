"""How Codex is logged in: by its user's own login, or by a key that the host gives."""

from __future__ import annotations

from typing import Final

from avatar_actors.model.settings import AvatarSettings

# The adapter, the environment variable that holds a key, and the method that uses it.
KEY_METHODS: Final = {
    ("acp", "OPENAI_API_KEY"): "api-key",
    ("acp", "CODEX_API_KEY"): "api-key",
    ("zed", "OPENAI_API_KEY"): "openai-api-key",
    ("zed", "CODEX_API_KEY"): "codex-api-key",
}


def auth_method(settings: AvatarSettings, adapter: str) -> str:
    """The method to try: the one of the option `auth`, or that of a key in `env`; else none."""
    if "auth" in settings.options:
        method = settings.options["auth"]
        is_key = adapter == "acp" and method in KEY_METHODS.values()
        return "api-key" if is_key else method
    for (each, name), method in KEY_METHODS.items():
        if each == adapter and settings.env.get(name):
            return method
    return ""


def needs_own_home(settings: AvatarSettings, adapter: str) -> bool:
    """Whether CODEX_HOME must not be the user's.

    Both adapters write a key to CODEX_HOME/auth.json, where it would replace the user's login.
    """
    by_key = auth_method(settings, adapter) in KEY_METHODS.values()
    return by_key and "CODEX_HOME" not in settings.env
