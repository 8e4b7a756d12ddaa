"""Answers made to break the check of a schema: the turn fails, and nobody else notices."""

import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import trio

from avatar_actors import Outcome, open_runtime
from avatar_actors.avatar.structured_output import answer_in, fitting
from avatar_actors.model.values import JsonObject
from avatar_actors.programs.schema_check import find, why_not
from tests.hostile.lines import END, PATIENCE, line_avatar, orders, text, write
from tests.thorough import for_conformance

RECURSIVE: JsonObject = {"type": "array", "items": {"$ref": "#"}}
UNIQUE: JsonObject = {"type": "array", "uniqueItems": True}
PATTERN: JsonObject = {"type": "string", "pattern": "^(a+)+$"}
HALVES: JsonObject = {"type": "number", "multipleOf": 0.01}
SLOW = {
    "unique": (UNIQUE, json.dumps([{"n": n} for n in range(9000)])),
    "pattern": (PATTERN, json.dumps("a" * 40 + "!")),
}


@pytest.mark.parametrize(
    ("schema", "answer", "words"),
    [
        (RECURSIVE, "[" * 300 + "]" * 300, "nested more deeply than 100 levels"),
        (HALVES, "1" + "0" * 400, "out of the range"),
        ({"type": "number"}, "1e999", "out of the range"),
        ({"type": "integer"}, "-" + "9" * 400, "out of the range"),
        ({"type": "string", "pattern": "("}, '"a"', "cannot be held against the schema"),
    ],
)
async def test_h6_an_answer_that_breaks_the_check_does_not_fit(
    schema: JsonObject, answer: str, words: str
) -> None:
    assert words in find(answer, schema)[1]
    assert words in (await answer_in(answer, schema)).fault


async def test_h6_native_data_is_held_to_the_same() -> None:
    nest: Any = []
    for _ in range(300):
        nest = [nest]
    assert "nested" in (await fitting(nest, RECURSIVE)).fault
    assert "range" in why_not(math.inf, {})
    assert (await fitting(["x"], UNIQUE)).data == ["x"]


NESTS: Any = [[], [[]]]


@pytest.mark.parametrize(
    ("schema", "value"), [(UNIQUE, [1, 2]), (RECURSIVE, NESTS), ({"items": {}}, [1])]
)
@pytest.mark.parametrize("before", ["", " " * 20_000])
async def test_h6_what_fits_comes_back_as_it_was(
    schema: JsonObject, value: object, before: str
) -> None:
    answer = f"{before}So:\n```json\n{json.dumps(value)}\n```"
    assert (await answer_in(answer, schema)).data == value


@pytest.mark.parametrize("kind", ["pattern", pytest.param("unique", marks=for_conformance)])
async def test_h6_a_check_without_end_fails_the_turn_and_holds_up_nobody(
    tmp_path: Path, kind: str
) -> None:
    schema, answer = SLOW[kind]
    said = write(text(answer.replace('"', '\\"')))
    answered: list[int] = []
    with trio.fail_after(PATIENCE):
        async with open_runtime() as runtime:
            evil = await line_avatar(runtime, tmp_path, "evil")
            good = await line_avatar(runtime, tmp_path, "good")

            async def serve_neighbour() -> None:
                while True:
                    assert (await good.chat(orders(END))).success
                    answered.append(1)

            async with trio.open_nursery() as nursery:
                nursery.start_soon(serve_neighbour)
                ended = await evil.chat(orders(said, END), schema=schema)
                nursery.cancel_scope.cancel()
            assert ended.outcome is Outcome.FAILED
            assert "cannot be checked within 5 s" in ended.error
            assert (await evil.chat(orders(write(text("[1]")), END), schema={})).data == [1]
    # The check took 5 s of computing; a loop that stood still would have answered once.
    assert len(answered) > 5


async def test_h6_a_cancelled_check_leaves_no_process() -> None:
    before = _children()
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(answer_in, SLOW["pattern"][1], PATTERN)
            while _children() == before:  # noqa: ASYNC110 - nobody tells of a new process
                await trio.sleep(0.01)
            nursery.cancel_scope.cancel()
    assert _children() == before


def _children() -> set[str]:
    # A child is its thread's, and a thread may end at any moment.
    found: set[str] = set()
    for listed in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            found.update(listed.read_text("ascii").split())
    return found
