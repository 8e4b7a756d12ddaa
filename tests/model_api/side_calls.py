"""Harmless answers to what an agent asks beside its main loop: titles, classifiers, probes."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct, field

from tests.model_api.recorded import SCHEMA_TOOLS, Json, ModelRequest
from tests.model_api.script import Text, ToolCall, Utterance

TITLE = "A short title"


class _Schema(Struct, rename="camel"):
    type: str | list[str] = "object"
    enum: list[Any] | None = None
    any_of: list[Json] | None = None
    properties: dict[str, Json] = field(default_factory=dict[str, Json])
    # Agents ask for scores from 1 to 100 without saying so in the schema (Gemini CLI 0.61).
    minimum: int | float = 1


def harmless(request: ModelRequest) -> Sequence[Utterance]:
    """The least that fits: an instance of the schema if there is one, else a few words."""
    for tool in request.offered:
        if tool.name in SCHEMA_TOOLS:
            return [ToolCall(tool.name, example(tool.parameters))]
    if request.schema is not None:
        return [Text(msgspec.json.encode(example(request.schema)).decode())]
    return [Text(TITLE)]


def example(schema: Json) -> Any:
    """The plainest value that the schema allows; of a choice the first."""
    asked = msgspec.convert(schema, _Schema)
    if asked.enum:
        return asked.enum[0]
    if asked.any_of:
        return example(asked.any_of[0])
    # Gemini writes its types in capitals.
    kind = (asked.type if isinstance(asked.type, str) else asked.type[0]).lower()
    if kind == "object":
        return {name: example(each) for name, each in asked.properties.items()}
    if kind in {"integer", "number"}:
        return asked.minimum
    return {"boolean": False, "array": list[Json]()}.get(kind, "none")
