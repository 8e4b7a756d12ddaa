"""What the next life remembers, and when there is no next one: each with the reason why."""

import time
from pathlib import Path

import pytest
import trio

from avatar_actors import (
    Avatar,
    AvatarDown,
    Continuity,
    Outcome,
    Restarts,
    SupervisionEvent,
    open_runtime,
)
from tests.conformance.dialects import Dialect, Trait, every_dialect
from tests.conformance.subject import PATIENCE, Step, open_subject, script, subject_options

WEARY = Restarts(max_restarts=3, period=60, first_delay=0.001, factor=4)


@every_dialect(Trait.RESUME_CHECK)
@pytest.mark.parametrize("loss", [{"no_load": True}, {"lose_sessions": True}])
async def test_session_that_cannot_be_resumed_is_said_to_be_fresh_and_why(
    dialect: Dialect, tmp_path: Path, loss: Step
) -> None:
    async with open_subject(dialect, tmp_path, loss) as subject:
        assert await subject.says("before")
        await subject.kill()
        continuity = await subject.back_again()
        assert continuity.continuity is Continuity.FRESH
        assert continuity.why
        assert await subject.memory() == []


@every_dialect()
async def test_it_remembers_all_turns_over_many_deaths(dialect: Dialect, tmp_path: Path) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        said: list[str] = []
        for number in range(3):
            assert await subject.says(f"turn {number}")
            said.append(script({"say": f"turn {number}"}))
            await subject.kill()
            assert (await subject.back_again()).continuity is dialect.when_resumed
        assert await subject.memory() == said
        assert [line.content for line in await subject.avatar.history()][1::2][:3] == [
            "turn 0",
            "turn 1",
            "turn 2",
        ]


@every_dialect(Trait.HANDSHAKE)
async def test_crash_loop_backs_off_and_gives_up_with_the_reason(
    dialect: Dialect, tmp_path: Path
) -> None:
    starts = tmp_path / "starts"
    count: Step = {"times": 0, "file": str(starts), "steps": []}
    async with open_subject(dialect, tmp_path, count, restarts=WEARY) as subject:
        with pytest.raises(AvatarDown):
            await crash_for_ever(subject.avatar, {"stderr": "out of cheese"}, {"exit": 7})
        with pytest.raises(AvatarDown, match=r"code 7\nout of cheese"):
            await subject.avatar.wait()
    delays = [event.delay for event in subject.recorder.all(SupervisionEvent) if event.delay]
    assert len(delays) == WEARY.max_restarts
    assert delays == sorted(delays)
    assert int(starts.read_text()) == 1 + WEARY.max_restarts


@every_dialect()
async def test_crash_loop_does_not_slow_down_a_healthy_sibling(
    dialect: Dialect, tmp_path: Path
) -> None:
    options = subject_options(dialect, tmp_path)
    with trio.fail_after(PATIENCE):
        async with open_runtime() as runtime, trio.open_nursery() as nursery:
            healthy = await runtime.start(**options)
            alone = await slowest_of(healthy)
            crasher = await runtime.start(**options)
            nursery.start_soon(crash_for_ever, crasher, {"kill": 9})
            beside = await slowest_of(healthy)
            nursery.cancel_scope.cancel()
    # Both share the cores with the crasher's new processes; a held-up one would wait for a backoff.
    assert beside < 20 * alone + 1


async def slowest_of(avatar: Avatar) -> float:
    """The longest of some short turns, in seconds."""
    took: list[float] = []
    for _ in range(20):
        start = time.monotonic()
        assert (await avatar.chat(script({"say": "hello"}))).content == "hello"
        took.append(time.monotonic() - start)
    return max(took)


async def crash_for_ever(avatar: Avatar, *steps: Step) -> None:
    while True:
        assert (await avatar.chat(script(*steps))).outcome is Outcome.CRASHED
