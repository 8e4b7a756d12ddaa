"""Structured output: a JSON Schema in, a validated value out, or the words why there is none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote

import msgspec
from msgspec import Struct

from avatar_actors.errors import SettingsError
from avatar_actors.types import JsonObject
from avatar_actors.wire.json_values import is_array, is_object

_FENCED: Final = re.compile(r"```[\w-]*\n(.*?)```", re.DOTALL)
_OPENING: Final = re.compile(r"[{\[]")
# An answer that has more brackets than this before its JSON has none.
_PLACES: Final = 200
_LONGEST_REASON: Final = 300


class Answer(Struct, frozen=True):
    """What was found in an answer: the value, or what is wrong with it."""

    data: Any = None
    fault: str = ""


def check_schema(schema: JsonObject) -> None:
    """SettingsError if this is no JSON Schema, or refers to what is not in it."""
    # It takes 60 ms to import, and few need it.
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415 - only who gives a schema pays
    from jsonschema.validators import validator_for  # noqa: PLC0415 - the same

    try:
        msgspec.json.encode(schema)
        validator_for(schema).check_schema(schema)
    except SchemaError as error:
        raise SettingsError(f"no JSON Schema: {error.json_path}: {error.message}") from error
    except TypeError as error:
        raise SettingsError(f"no JSON Schema: {error}") from error
    for reference in _references(schema):
        if not _leads_somewhere(reference, schema):
            raise SettingsError(f"the schema refers to {reference!r}, which is not in it")


def answer_in(text: str, schema: JsonObject) -> Answer:
    """The JSON in an answer that fits the schema: the whole text, a fenced block, or bare in it."""
    fault = "there is no JSON in the answer"
    for value in _values_in(text):
        found = fitting(value, schema)
        if not found.fault:
            return found
        fault = found.fault
    return Answer(fault=fault)


def fitting(value: Any, schema: JsonObject) -> Answer:
    """The value, if it fits; else where it does not, and what was expected there."""
    from jsonschema.validators import validator_for  # noqa: PLC0415 - only who gives a schema pays
    from referencing import Registry  # noqa: PLC0415 - the same

    # A registry of its own, or jsonschema would fetch a remote reference.
    registry: Registry[Any] = Registry()
    validator = validator_for(schema)(schema, registry=registry)
    # The one nearest to the root says most.
    faults = validator.iter_errors(value)
    error = min(faults, key=lambda fault: len(fault.absolute_path), default=None)
    if error is None:
        return Answer(value)
    reason = f"the answer does not fit the schema: {error.json_path}: {error.message}"
    return Answer(fault=reason[:_LONGEST_REASON])


def instruction(schema: JsonObject) -> str:
    """What an agent without structured output of its own is told with the prompt."""
    return (
        "<output_format>\n"
        "Answer with one JSON value that fits this JSON Schema, and with nothing else:\n"
        f"{msgspec.json.encode(schema).decode()}\n"
        "</output_format>"
    )


def _values_in(text: str) -> Iterator[Any]:
    """The JSON values, the likeliest answer first: the last of several blocks is the final one."""
    for whole in (text, *reversed(_FENCED.findall(text))):
        try:
            yield _decoder().decode(whole.strip())
        except (ValueError, RecursionError):
            continue
    place = 0
    for _ in range(_PLACES):
        start = _OPENING.search(text, place)
        if start is None:
            return
        try:
            value, place = _decoder().raw_decode(text, start.start())
            yield value
        except (ValueError, RecursionError):
            place = start.end()


def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder(parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _references(schema: object) -> Iterator[str]:
    """Every `$ref` in it."""
    for part in _parts_of(schema):
        reference = part.get("$ref")
        if isinstance(reference, str):
            yield reference


def _leads_somewhere(reference: str, schema: JsonObject) -> bool:
    """Whether it is a pointer to a part of the schema, or the name of one; others are remote."""
    if not reference.startswith("#"):
        return False
    if not reference.startswith("#/"):
        anchors = [part.get("$anchor") for part in _parts_of(schema)]
        return reference == "#" or reference[1:] in anchors
    place: object = schema
    for step in unquote(reference[2:]).split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        if is_object(place) and key in place:
            place = place[key]
        elif is_array(place) and key.isdigit() and int(key) < len(place):
            place = place[int(key)]
        else:
            return False
    return True


def _parts_of(schema: object) -> Iterator[JsonObject]:
    if is_object(schema):
        yield schema
    inner = schema.values() if is_object(schema) else schema if is_array(schema) else ()
    for part in inner:
        yield from _parts_of(part)
