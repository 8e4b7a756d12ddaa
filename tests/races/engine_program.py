"""A synchronous host, and one of asyncio, as programs of their own that ask for a graceful stop.

`python -m tests.races.engine_program STYLE PLACE STEPS…` says `up`, starts its engine, plays the
scripts and stops it; then it begins anew, until a signal ends it.
"""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable
from pathlib import Path
from typing import Protocol

from avatar_actors import AvatarEngine, BridgeResponse, stop_on_signals
from avatar_actors.processes.sweep import host_identity, process_identity
from tests.conformance.subject import script

DEADLINE = 30.0


class Play(Protocol):
    def __call__(self, engine: AvatarEngine, prompts: list[str]) -> Awaitable[None] | None: ...


def say(word: str, **more: object) -> None:
    sys.stdout.write(json.dumps({"word": word, **more}) + "\n")
    sys.stdout.flush()


def tell(answer: BridgeResponse) -> None:
    say("answer", outcome=answer.outcome.value, text=answer.content, error=answer.error)


def in_threads(engine: AvatarEngine, prompts: list[str]) -> None:
    while True:
        engine.start_sync()
        say("ready")
        for prompt in prompts:
            tell(engine.chat_sync(prompt))
        engine.stop_sync()


async def in_asyncio(engine: AvatarEngine, prompts: list[str]) -> None:
    while True:
        await engine.start()
        say("ready")
        for prompt in prompts:
            tell(await engine.chat(prompt))
        await engine.stop()


def main(style: str, place: Path, scripts: list[str]) -> None:
    place.mkdir(exist_ok=True)
    env = {"AVATAR_EMBEDDED_HOME": str(place / "store")}
    engine = AvatarEngine("embedded", working_dir=place, env=env, timeout=1000)
    stop_on_signals(engine, deadline=DEADLINE)
    prompts = [script(*json.loads(steps)) for steps in scripts]
    say("up", host=host_identity(), process=process_identity(os.getpid()))
    if style == "sync":
        in_threads(engine, prompts)
    else:
        asyncio.run(in_asyncio(engine, prompts))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
