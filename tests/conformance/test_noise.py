"""What is no message, or too much of it: a remark, never a crash, and the turn goes on."""

import base64
import time
from pathlib import Path

import pytest
import trio

from avatar_actors import DiagnosticEvent, Outcome, UnrecognisedEvent, open_avatar
from tests.conformance.dialects import Dialect, Trait, dialect_named, every_dialect
from tests.conformance.remains import growing_at_most
from tests.conformance.subject import PATIENCE, Step, open_subject, script, subject_options
from tests.thorough import for_conformance

MEBIBYTE = 1 << 20


def raw(data: bytes) -> Step:
    return {"raw": {"base64": base64.b64encode(data).decode()}}


NOISES: dict[str, Step] = {
    "random-bytes": {"garbage": 100_000, "seed": 1},
    "binary": raw(bytes(range(256)) * 8 + b"\n"),
    "invalid-utf-8": raw(b'{"jsonrpc": "2.0", "method": "\xff\xfe"}\n'),
    "not-json": raw(b"Loading configuration...\n"),
    "null": raw(b"null\n"),
    "array": raw(b"[1]\n"),
    "batch": raw(b'[{"jsonrpc": "2.0", "id": 1, "result": {}}]\n'),
    "string": raw(b'"hello"\n'),
    "empty-object": raw(b"{}\n"),
    "unknown-type": raw(b'{"type": "of tomorrow", "with": ["more"]}\n'),
    "unknown-method": raw(b'{"jsonrpc": "2.0", "method": "of/tomorrow", "params": {}}\n'),
    "wrong-types": raw(b'{"jsonrpc": 2, "method": 7, "params": 1, "type": [], "id": {}}\n'),
    "deep": raw(b"[" * 200_000 + b"\n"),
    "deep-object": raw(b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"\n"),
    "huge-number": raw(b'{"type": "of tomorrow", "n": ' + b"9" * 5000 + b"}\n"),
    "infinite-number": raw(b'{"type": "of tomorrow", "n": 1e999}\n'),
}
a_noise = pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES.keys())


@every_dialect()
@a_noise
async def test_what_is_no_message_is_remarked_upon_and_the_turn_goes_on(
    dialect: Dialect, tmp_path: Path, noise: Step
) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        answer = await subject.play({"say": "one "}, noise, {"say": "two"})
        assert (answer.outcome, answer.content) == (Outcome.COMPLETED, "one two")
        assert await subject.says("and now")
        assert (await subject.avatar.health()).restarts == 0
    remarks = subject.recorder.all(DiagnosticEvent) + subject.recorder.all(UnrecognisedEvent)
    assert [remark for remark in remarks if "one" not in str(remark)]


@every_dialect()
async def test_line_below_the_cap_is_a_text_and_one_above_fails_alone(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path, max_line=2 * MEBIBYTE) as subject:
        answer = await subject.play({"say": "a"}, {"line": 1}, {"say": "b"})
        assert (answer.outcome, len(answer.content)) == (Outcome.COMPLETED, MEBIBYTE + 2)
        too_long = b'{"type": "message", "text": "' + b"x" * (3 * MEBIBYTE) + b'"}\n'
        answer = await subject.play({"say": "a"}, raw(too_long), {"say": "b"})
        assert (answer.outcome, answer.content) == (Outcome.COMPLETED, "ab")
        assert (await subject.avatar.health()).restarts == 0
    remarks = [event.message for event in subject.recorder.all(DiagnosticEvent)]
    assert [text for text in remarks if "left out" in text]


@every_dialect()
async def test_eight_mebibytes_in_a_line_are_a_text(dialect: Dialect, tmp_path: Path) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        answer = await subject.play({"say": "a"}, {"line": 8}, {"say": "b"})
        assert (answer.outcome, len(answer.content)) == (Outcome.COMPLETED, 8 * MEBIBYTE + 2)


@for_conformance
async def test_full_size_just_under_64_mebibytes_pass_and_65_fail_alone(tmp_path: Path) -> None:
    options = subject_options(dialect_named("acp"), tmp_path)
    options["max_answer"] = 64 * MEBIBYTE
    with trio.fail_after(PATIENCE):
        async with open_avatar("embedded", **options) as avatar:
            answer = await avatar.chat(script({"say": "a"}, {"line": 63.5}, {"say": "b"}))
            assert answer.outcome is Outcome.COMPLETED
            assert len(answer.content) == int(63.5 * MEBIBYTE) + 2
            answer = await avatar.chat(script({"say": "a"}, {"line": 65}, {"say": "b"}))
            assert (answer.outcome, answer.content) == (Outcome.COMPLETED, "ab")
            assert (await avatar.health()).restarts == 0


@every_dialect()
@for_conformance
async def test_time_is_linear_in_the_bytes_of_a_line(dialect: Dialect, tmp_path: Path) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        took: list[float] = []
        for size in (1, 8):
            start = time.process_time()
            await subject.play({"line": size})
            took.append(time.process_time() - start)
        # Eight times the bytes: sixty-four times the time would be quadratic.
        assert took[1] < 30 * took[0] + 0.5


@every_dialect()
async def test_many_tiny_lines_of_text_are_all_there(dialect: Dialect, tmp_path: Path) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        answer = await subject.play({"flood": 20_000, "text": "ab"}, {"say": "."})
        assert (answer.outcome, answer.content) == (Outcome.COMPLETED, "ab" * 20_000 + ".")


@every_dialect()
async def test_many_tiny_lines_of_garbage_are_survived(dialect: Dialect, tmp_path: Path) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        tiny = {"repeat": 20, "steps": [raw(b"1\n" * 500)]}
        answer = await subject.play({"say": "a"}, tiny, {"say": "b"})
        assert (answer.outcome, answer.content) == (Outcome.COMPLETED, "ab")


@for_conformance
async def test_full_size_a_million_tiny_lines_cost_the_memory_of_their_text(tmp_path: Path) -> None:
    options = subject_options(dialect_named("acp"), tmp_path)
    with trio.fail_after(PATIENCE):
        async with open_avatar("embedded", **options) as avatar:
            with growing_at_most(50 * MEBIBYTE):
                answer = await avatar.chat(script({"flood": 1_000_000, "text": "x"}))
            assert (answer.outcome, len(answer.content)) == (Outcome.COMPLETED, 1_000_000)


@every_dialect()
async def test_flood_of_stderr_holds_up_nothing(dialect: Dialect, tmp_path: Path) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        answer = await subject.play({"say": "a"}, {"stderr": 5_000_000}, {"say": "b"})
        assert (answer.outcome, answer.content) == (Outcome.COMPLETED, "ab")
    shown = [event for event in subject.recorder.all(DiagnosticEvent) if event.source == "stderr"]
    assert 0 < len(shown) < 1000


@for_conformance
async def test_full_size_100_megabytes_of_stderr_do_not_fill_the_memory(tmp_path: Path) -> None:
    async with open_subject(dialect_named("acp"), tmp_path) as subject:
        with growing_at_most(50 * MEBIBYTE):
            answer = await subject.play({"say": "a"}, {"stderr": 100_000_000}, {"say": "b"})
        assert (answer.outcome, answer.content) == (Outcome.COMPLETED, "ab")


@every_dialect()
async def test_last_words_on_stderr_are_shown(dialect: Dialect, tmp_path: Path) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        await subject.play({"stderr": "out of cheese"}, {"exit": 3})
    shown = [event.message for event in subject.recorder.all(DiagnosticEvent)]
    assert "out of cheese" in shown


@every_dialect(Trait.LIFE_AFTER_RESULT)
async def test_last_words_on_stderr_are_in_the_reason(dialect: Dialect, tmp_path: Path) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        answer = await subject.play({"stderr": "out of cheese"}, {"exit": 3})
        assert "out of cheese" in answer.error
