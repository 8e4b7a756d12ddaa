"""A host as a program of its own, for tests that kill it or take away what it needs.

`python -m tests.conformance.host_program DIALECT PLACE STEPS…` opens an avatar, plays each of the
scripts, says on stdout how far it is, and then waits. SIGTERM ends it with 143, cleanly.
"""

import json
import os
import signal
import sys
from pathlib import Path

import trio

from avatar_actors import AvatarError, open_avatar
from avatar_actors.processes.sweep import host_identity, process_identity
from tests.conformance.dialects import dialect_named
from tests.conformance.subject import script, subject_options

EXIT_ON_TERM = 128 + signal.SIGTERM


def say(word: str, **more: object) -> None:
    sys.stdout.write(json.dumps({"word": word, **more}) + "\n")
    sys.stdout.flush()


async def perform(name: str, place: Path, scripts: list[str]) -> None:
    dialect = dialect_named(name)
    async with open_avatar(dialect.provider, **subject_options(dialect, place)) as avatar:
        say("ready", pid=(await avatar.health()).pid)
        for steps in scripts:
            answer = await avatar.chat(script(*json.loads(steps)))
            say("answer", outcome=answer.outcome.value, text=answer.content, error=answer.error)
        say("played")
        await trio.sleep_forever()


async def end_on_sigterm(scope: trio.CancelScope) -> None:
    with trio.open_signal_receiver(signal.SIGTERM) as signals:
        say("up", host=host_identity(), process=process_identity(os.getpid()))
        async for _ in signals:
            scope.cancel()


async def main(name: str, place: Path, scripts: list[str]) -> int:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(end_on_sigterm, nursery.cancel_scope)
        try:
            await perform(name, place, scripts)
        except (AvatarError, OSError) as error:
            say("error", kind=type(error).__name__, text=str(error))
        await trio.sleep_forever()
    return EXIT_ON_TERM


if __name__ == "__main__":
    sys.exit(trio.run(main, sys.argv[1], Path(sys.argv[2]), sys.argv[3:]))
