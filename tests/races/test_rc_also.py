"""The line below the table: concurrent starts, abandoned streams, streams side by side."""

from pathlib import Path

import trio

from avatar_actors import Avatar, Outcome, Runtime, SettingsError, TextEvent, open_runtime
from avatar_actors.processes.sweep import host_identity
from tests.conformance.dialects import Dialect, every_dialect
from tests.conformance.remains import processes_of
from tests.conformance.subject import PATIENCE, Subject, open_subject, script, subject_options

Starts = list[Avatar | SettingsError]


async def start(runtime: Runtime, dialect: Dialect, place: Path, results: Starts) -> None:
    try:
        results.append(
            await runtime.start(dialect.provider, "aria", **subject_options(dialect, place))
        )
    except SettingsError as error:
        results.append(error)


@every_dialect()
async def test_rc_also_concurrent_starts_of_one_name_give_one_child(
    dialect: Dialect, tmp_path: Path
) -> None:
    with trio.fail_after(PATIENCE):
        async with open_runtime() as runtime:
            results: Starts = []
            async with trio.open_nursery() as nursery:
                for _ in range(8):
                    nursery.start_soon(start, runtime, dialect, tmp_path, results)
            [avatar] = [result for result in results if isinstance(result, Avatar)]
            assert runtime.avatars() == [avatar]
            assert processes_of(host_identity()) == {(await avatar.health()).pid}


@every_dialect()
async def test_rc_also_abandoned_stream_ends_its_turn(dialect: Dialect, tmp_path: Path) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        async with subject.turn({"say": "up"}, {"wait": 1000}) as turn:
            async for event in turn:
                if isinstance(event, TextEvent):
                    break
        assert turn.outcome is Outcome.CANCELLED
        assert await subject.says("and now")


async def read(subject: Subject, letter: str, texts: dict[str, str]) -> None:
    async with subject.avatar.turn(script({"flood": 500, "text": letter})) as turn:
        seen = [event.text async for event in turn if isinstance(event, TextEvent)]
    assert "".join(seen) == turn.text
    texts[letter] = turn.text


@every_dialect()
async def test_rc_also_two_streams_and_a_chat_keep_their_own_text(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        texts: dict[str, str] = {}
        async with trio.open_nursery() as nursery:
            nursery.start_soon(read, subject, "a", texts)
            nursery.start_soon(read, subject, "b", texts)
            assert await subject.says("chat")
        assert texts == {"a": "a" * 500, "b": "b" * 500}
