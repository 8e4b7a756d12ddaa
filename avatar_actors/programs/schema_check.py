"""Finds the JSON in an answer and validates it against a schema; also a program of its own.

As a program (run by its path, nothing of this package imported) it reads one JSON object from
stdin and writes one to stdout. It ends by itself: after CPU_SECONDS of work, and in any case soon
after.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any, Final

CPU_SECONDS: Final = 5
CLOCK_SECONDS: Final = 30
_MOST_MEMORY: Final = 1 << 30

# jsonschema calls itself for each level.
DEEPEST: Final = 100
_FENCED: Final = re.compile(r"```[\w-]*\n(.*?)```", re.DOTALL)
_OPENING: Final = re.compile(r"[{\[]")
# An answer that has more brackets than this before its JSON has none.
_PLACES: Final = 200
_LONGEST_REASON: Final = 300


def find(text: str, schema: dict[str, Any]) -> tuple[Any, str]:
    """The JSON in an answer that fits (all of it, a fenced block, bare in the text), or why not."""
    fault = "there is no JSON in the answer"
    for value in _values_in(text):
        fault = why_not(value, schema)
        if not fault:
            return value, ""
    return None, fault


def why_not(value: Any, schema: dict[str, Any]) -> str:
    """Where the value does not fit, and what was expected there; nothing if it fits."""
    from jsonschema.validators import validator_for  # noqa: PLC0415 - only who gives a schema pays
    from referencing import Registry  # noqa: PLC0415 - the same

    if fault := _unfit(value):
        return f"the answer does not fit the schema: {fault}"
    # A registry of its own, or jsonschema would fetch a remote reference.
    registry: Registry[Any] = Registry()
    try:
        validator = validator_for(schema)(schema, registry=registry)
        # The one nearest to the root says most.
        faults = validator.iter_errors(value)
        error = min(faults, key=lambda fault: len(fault.absolute_path), default=None)
    except Exception as error:  # noqa: BLE001 - foreign code, and a value that nobody vouches for
        return f"the answer cannot be held against the schema: {error!r}"[:_LONGEST_REASON]
    if error is None:
        return ""
    reason = f"the answer does not fit the schema: {error.json_path}: {error.message}"
    return reason[:_LONGEST_REASON]


def _unfit(value: object) -> str:
    """What no schema accepts: nesting that is too deep, a number out of range."""
    level = [value]
    for _ in range(DEEPEST):
        for each in level:
            # Beyond the largest float there is no number that everybody reads alike.
            if isinstance(each, int | float) and not abs(each) <= sys.float_info.max:
                return "a number is out of the range of JSON"
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return ""
    return f"it is nested more deeply than {DEEPEST} levels"


def _inside(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _values_in(text: str) -> Iterator[Any]:
    """The JSON values, the likeliest first: the last of several blocks is the final answer."""
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


def main() -> None:
    """Answers one request."""
    import resource  # noqa: PLC0415 - not on every system, and only the program needs it
    import signal  # noqa: PLC0415 - the same

    # Whoever asked may die meanwhile: nothing but these limits ends this process then.
    signal.setitimer(signal.ITIMER_REAL, CLOCK_SECONDS)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    asked = json.load(sys.stdin)
    # Where the host has its libraries.
    sys.path[:] = asked["path"]
    if "text" in asked:
        data, fault = find(asked["text"], asked["schema"])
    else:
        data, fault = asked["value"], why_not(asked["value"], asked["schema"])
    json.dump({"data": None if fault else data, "fault": fault}, sys.stdout)


if __name__ == "__main__":
    main()
