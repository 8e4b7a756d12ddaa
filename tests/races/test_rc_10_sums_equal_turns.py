"""RC-10: fifty avatars at once: the sums equal the turns."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import trio

from avatar_actors import Avatar, AvatarEngine, Runtime, open_runtime
from tests.conformance.dialects import Dialect, Trait, dialects_with
from tests.conformance.subject import PATIENCE, script, subject_options
from tests.hosting.engines import Engines

AVATARS = 50
TURNS = 4


async def work(runtime: Runtime, dialect: Dialect, place: Path, avatars: list[Avatar]) -> None:
    avatar = await runtime.start(**subject_options(dialect, place))
    avatars.append(avatar)
    for number in range(TURNS):
        spend = {"usage": {"input": 10, "output": 1}}
        answer = await avatar.chat(script(spend, {"say": f"{number}"}))
        assert answer.content == f"{number}"


async def test_rc_10_sums_of_fifty_avatars_equal_their_turns(tmp_path: Path) -> None:
    dialects = itertools.cycle(dialects_with(Trait.TOKENS))
    with trio.fail_after(PATIENCE):
        async with open_runtime() as runtime:
            avatars: list[Avatar] = []
            async with trio.open_nursery() as nursery:
                for _, dialect in zip(range(AVATARS), dialects, strict=False):
                    nursery.start_soon(work, runtime, dialect, tmp_path, avatars)
            health = [await avatar.health() for avatar in avatars]
    assert sum(each.turns for each in health) == AVATARS * TURNS
    assert sum(each.history_length for each in health) == 2 * AVATARS * TURNS
    assert sum(each.restarts for each in health) == 0
    assert {each.total.output_tokens for each in health} == {TURNS}


def test_rc_10_sums_of_fifty_engines_equal_their_turns(tmp_path: Path) -> None:
    engines = Engines(tmp_path)
    made = [engines.make() for _ in range(AVATARS)]

    def work_with(engine: AvatarEngine) -> None:
        for number in range(TURNS):
            spend = {"usage": {"input": 10, "output": 1}}
            assert engine.chat_sync(script(spend, {"say": f"{number}"})).content == f"{number}"

    with ThreadPoolExecutor(AVATARS) as threads:
        list(threads.map(work_with, made))
    health = [engine.get_health() for engine in made]
    engines.stop_all()
    assert sum(each.turns for each in health) == AVATARS * TURNS
    assert sum(each.history_length for each in health) == 2 * AVATARS * TURNS
    assert sum(each.restarts for each in health) == 0
    assert sum(each.total.output_tokens for each in health) == AVATARS * TURNS
