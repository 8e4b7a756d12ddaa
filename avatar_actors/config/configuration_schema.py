"""The table as a JSON Schema, for editors that complete and check YAML."""

from __future__ import annotations

from avatar_actors.config.schema import ROOT
from avatar_actors.model.values import JsonObject


def config_schema() -> JsonObject:
    """A JSON Schema (2020-12) of the configuration file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Configuration of avatar-actors",
        **ROOT.schema(),
    }
