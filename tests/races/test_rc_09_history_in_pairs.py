"""RC-9: the history read while turns run: whole pairs, never what was added to a prompt."""

import threading
from pathlib import Path

import trio

from tests.conformance.dialects import Dialect, every_dialect
from tests.conformance.subject import Subject, open_subject, script
from tests.hosting.engines import Engines


async def read_history(subject: Subject, reads: list[int]) -> None:
    while True:
        history = await subject.avatar.history()
        pairs = list(zip(history[::2], history[1::2], strict=True))
        for asked, answered in pairs:
            assert (asked.role, answered.role) == ("user", "assistant")
            assert asked.turn_id == answered.turn_id
            assert asked.content == script({"say": answered.content})
        reads.append(len(pairs))


@every_dialect()
async def test_rc_09_history_that_is_read_during_turns_has_whole_pairs(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path, system_prompt="You are a lamp.") as subject:
        reads: list[int] = []
        async with trio.open_nursery() as nursery:
            nursery.start_soon(read_history, subject, reads)
            for number in range(10):
                assert await subject.says(f"answer {number}")
            nursery.cancel_scope.cancel()
        assert len(await subject.avatar.history()) == 20
        assert reads == sorted(reads)


READS = 100_000


def test_rc_09_history_of_an_engine_read_by_another_thread_has_whole_pairs(tmp_path: Path) -> None:
    engines = Engines(tmp_path)
    engine = engines.make(system_prompt="You are a lamp.")
    done = threading.Event()
    failures: list[str] = []
    sizes: list[int] = []

    def read() -> None:
        for _ in range(READS):
            history = engine.get_history()
            for asked, answered in zip(history[::2], history[1::2], strict=True):
                if asked.content != script({"say": answered.content}):
                    failures.append(asked.content)
            sizes.append(len(history))
        done.set()

    reading = threading.Thread(target=read)
    reading.start()
    turns = 0
    while not done.is_set() or turns < 10:
        engine.chat_sync(script({"say": f"answer {turns}"}))
        turns += 1
    reading.join()
    engines.stop_all()
    assert failures == []
    assert sizes == sorted(sizes)
