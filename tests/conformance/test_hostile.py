"""A hostile agent: the runtime does not crash, its memory stays bounded, its neighbour is well.

HOSTILE_SECONDS in the environment says for how long; a second for each agent by default.
"""

import itertools
import os
import time
from pathlib import Path

import trio

from avatar_actors import Avatar, Outcome, PermissionMode, open_runtime
from tests.conformance.babble import Babbler
from tests.conformance.dialects import Dialect, every_dialect
from tests.conformance.remains import growing_at_most
from tests.conformance.subject import PATIENCE, Step, script, subject_options

SECONDS = float(os.environ.get("HOSTILE_SECONDS", "1"))
MOST_MEMORY = 64 << 20


@every_dialect()
async def test_hostile_agent_harms_nobody(dialect: Dialect, tmp_path: Path) -> None:
    options = subject_options(dialect, tmp_path)
    options["permissions"] = PermissionMode.SAFE
    with trio.fail_after(PATIENCE + SECONDS):
        async with open_runtime() as runtime:
            neighbour = await runtime.start(dialect.provider, "neighbour", **options)
            hostile = await runtime.start(dialect.provider, "hostile", **options)
            end = time.monotonic() + SECONDS
            with growing_at_most(MOST_MEMORY):
                async with hostile.events(capacity=64):
                    await suffer(hostile, end)
            assert (await neighbour.chat(script({"say": "well"}))).content == "well"
            assert not hostile.is_down


async def suffer(hostile: Avatar, end: float) -> None:
    """Turn after turn of noise; how each ends is the agent's choice."""
    for seed in itertools.count():
        noise: list[Step] = [{"garbage": 200_000, "seed": seed}]
        answer = await hostile.chat(script(*noise, *Babbler(seed).steps(100)), timeout=10)
        assert answer.outcome in Outcome
        if time.monotonic() > end:
            return
