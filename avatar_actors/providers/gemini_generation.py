"""Gemini's generation options as the settings file that 0.61.0 takes them from."""

from __future__ import annotations

from typing import Final

import msgspec

from avatar_actors.errors import SettingsError
from avatar_actors.providers.options import number
from avatar_actors.settings import AvatarSettings
from avatar_actors.types import JsonObject

GENERATION: Final = ("temperature", "top_k", "top_p", "thinking_budget", "thinking_level")


def generation_settings(settings: AvatarSettings) -> str:
    """The text of the file; raises SettingsError without a model to apply them to."""
    if not settings.model:
        raise SettingsError("gemini's generation options belong to a model: name one")
    options = settings.options
    temperature = number(options, "temperature")
    config: JsonObject = {"temperature": 1.0 if temperature is None else temperature}
    config |= {"topP": number(options, "top_p")} if "top_p" in options else {}
    config |= {"topK": number(options, "top_k")} if "top_k" in options else {}
    thinking: JsonObject = {}
    if "thinking_budget" in options:
        thinking["thinkingBudget"] = number(options, "thinking_budget")
    if "thinking_level" in options:
        thinking["thinkingLevel"] = options["thinking_level"].upper()
    if thinking:
        config["thinkingConfig"] = {"includeThoughts": True, **thinking}
    override = {
        "match": {"model": settings.model},
        "modelConfig": {"generateContentConfig": config},
    }
    return msgspec.json.encode({"modelConfigs": {"overrides": [override]}}).decode()
