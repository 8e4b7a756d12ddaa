"""Gemini's generation options as the settings file that 0.61.0 takes them from."""

from __future__ import annotations

from typing import Final

import msgspec

from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import AvatarSettings
from avatar_actors.model.values import JsonObject
from avatar_actors.providers.options import choice, number

GENERATION: Final = (
    "include_thoughts", "max_output_tokens", "temperature", "thinking_budget", "thinking_level",
    "top_k", "top_p",
)  # fmt: skip


def generation_settings(settings: AvatarSettings) -> str:
    """The text of the file; raises SettingsError without a model to apply them to."""
    if not settings.model:
        raise SettingsError("gemini's generation options belong to a model: name one")
    if settings.options.get("auth_method") == "oauth-personal":
        # Another settings file than that of HOME has to be root's (0.61.0).
        raise SettingsError(
            "gemini's generation options need a HOME of its own, where the browser's login "
            "(oauth-personal) is not; log in by GEMINI_API_KEY, or leave one of them out"
        )
    options = settings.options
    temperature = number(options, "temperature")
    config: JsonObject = {"temperature": 1.0 if temperature is None else temperature}
    config |= {"topP": number(options, "top_p")} if "top_p" in options else {}
    config |= {"topK": number(options, "top_k")} if "top_k" in options else {}
    if "max_output_tokens" in options:
        config["maxOutputTokens"] = number(options, "max_output_tokens")
    thinking: JsonObject = {}
    if "thinking_budget" in options:
        thinking["thinkingBudget"] = number(options, "thinking_budget")
    if "thinking_level" in options:
        thinking["thinkingLevel"] = options["thinking_level"].upper()
    if thinking or "include_thoughts" in options:
        told = choice(settings, "include_thoughts", ("false", "true"), "true") == "true"
        config["thinkingConfig"] = {"includeThoughts": told, **thinking}
    override = {
        "match": {"model": settings.model},
        "modelConfig": {"generateContentConfig": config},
    }
    return msgspec.json.encode({"modelConfigs": {"overrides": [override]}}).decode()
