"""Structured output: finds the JSON in an answer that fits a schema, or says why none does."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final
from urllib.parse import unquote

import msgspec
import trio
from msgspec import Struct

from avatar_actors.model.errors import SettingsError
from avatar_actors.model.values import JsonObject
from avatar_actors.programs import schema_check
from avatar_actors.wire.json_values import is_array, is_object

# Up to here an answer is looked through in 10 ms, however it is made.
_SHORT: Final = 16 * 1024
# So many parts of values meet parts of schemas in 0.2 s.
_MOMENT: Final = 20_000
# Keywords that are quickly looked at, or not at all. Those with schemas in them stand in _is_plain.
_PLAIN: Final = frozenset({
    "$comment", "$schema", "const", "default", "deprecated", "description", "enum", "examples",
    "exclusiveMaximum", "exclusiveMinimum", "maxItems", "maxLength", "maxProperties", "maximum",
    "minItems", "minLength", "minProperties", "minimum", "readOnly", "required", "title", "type",
    "writeOnly",
})  # fmt: skip


class StructuredAnswer(Struct, frozen=True):
    """The value found in an answer, or what is wrong with it."""

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
    except (TypeError, ValueError, RecursionError) as error:
        raise SettingsError(f"no JSON Schema: {error}") from error
    for reference in _references(schema):
        if not _leads_somewhere(reference, schema):
            raise SettingsError(f"the schema refers to {reference!r}, which is not in it")


async def answer_in(text: str, schema: JsonObject) -> StructuredAnswer:
    """Find the JSON in an answer that fits the schema, without blocking the event loop."""
    # No value in the text has more parts than this.
    parts = 1 + text.count(",") + text.count("[") + text.count("{")
    if len(text) <= _SHORT and _is_cheap(parts, schema):
        return StructuredAnswer(*schema_check.find(text, schema))
    return await _checked_elsewhere({"text": text, "schema": schema})


async def fitting(value: Any, schema: JsonObject) -> StructuredAnswer:
    """The value, if it fits; else where it does not, and what was expected there."""
    if _is_cheap(_parts_in(value), schema):
        fault = schema_check.why_not(value, schema)
        return StructuredAnswer(fault=fault) if fault else StructuredAnswer(value)
    return await _checked_elsewhere({"value": value, "schema": schema})


def instruction(schema: JsonObject) -> str:
    """What an agent without structured output of its own is told with the prompt."""
    return (
        "<output_format>\n"
        "Answer with one JSON value that fits this JSON Schema, and with nothing else:\n"
        f"{msgspec.json.encode(schema).decode()}\n"
        "</output_format>"
    )


def _is_cheap(parts: int, schema: JsonObject) -> bool:
    """Whether any value of so many parts can be checked quickly.

    Each part may meet each part of the schema; patterns, uniqueness and references cost more than
    that, or call themselves.
    """
    return parts * _parts_in(schema) <= _MOMENT and _is_plain(schema)


def _parts_in(value: object) -> int:
    count, level = 0, [value]
    while level and count <= _MOMENT:
        count += len(level)
        level = [inner for each in level for inner in _inside(each)]
    return count


def _is_plain(schema: JsonObject) -> bool:
    parts: list[object] = [schema]
    while parts:
        part = parts.pop()
        if isinstance(part, bool):
            continue
        if not is_object(part):
            return False
        for key, inner in part.items():
            if key == "properties" and is_object(inner):
                parts += inner.values()
            elif key in {"anyOf", "oneOf", "allOf"} and is_array(inner):
                parts += inner
            elif key in {"items", "additionalProperties"}:
                parts.append(inner)
            elif key not in _PLAIN:
                return False
    return True


async def _checked_elsewhere(question: JsonObject) -> StructuredAnswer:
    """Ask the program: a process can be ended, a thread in a regular expression cannot."""
    asked = json.dumps({**question, "path": [place for place in sys.path if place]})
    command = [sys.executable, "-I", schema_check.__file__]
    with trio.move_on_after(schema_check.CLOCK_SECONDS):
        try:
            done = await trio.run_process(
                command,
                stdin=asked.encode("ascii"),
                capture_stdout=True,
                capture_stderr=True,
                check=False,
                deliver_cancel=_kill,
            )
        except OSError as error:
            return StructuredAnswer(fault=f"the answer cannot be checked: {error}")
        if done.returncode == 0:
            found = json.loads(done.stdout)
            return StructuredAnswer(found["data"], found["fault"])
        if done.returncode not in {-signal.SIGXCPU, -signal.SIGKILL, -signal.SIGALRM}:
            last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            return StructuredAnswer(
                fault=f"the answer cannot be checked: {last or done.returncode}"
            )
    late = f"the answer cannot be checked within {schema_check.CPU_SECONDS} s of computing"
    return StructuredAnswer(fault=late)


async def _kill(process: trio.Process) -> None:
    process.kill()


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
    for part in _inside(schema):
        yield from _parts_of(part)


def _inside(value: object) -> Iterable[object]:
    return value.values() if is_object(value) else value if is_array(value) else ()
