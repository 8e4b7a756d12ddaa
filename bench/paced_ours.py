"""A host with one runtime; each turn is read by its caller."""

import time
from collections.abc import Callable, Sequence

import trio

from avatar_actors import Avatar, AvatarOptions, Outcome, TextEvent, open_runtime
from bench.paced_load import SHORT_TURN, WARM_UP, Found, Listener, Load, run_host, turns_since


def ours(load: Load, command: Sequence[str]) -> Found:
    executable, *args = command
    options = AvatarOptions(executable=executable, args=tuple(args))
    return trio.run(_short_turns if load.turns else _streams, load, options)


async def _streams(load: Load, options: AvatarOptions) -> Found:
    async with open_runtime() as runtime:
        avatars = [await runtime.start("acp", **options) for _ in range(load.agents)]
        listener = Listener(load)
        async with trio.open_nursery() as nursery:
            for avatar, prompt in zip(avatars, listener.prompts(), strict=True):
                nursery.start_soon(_read, avatar, prompt, listener.hear)
            for moment in (listener.start, listener.end):
                await trio.sleep(max(0.0, moment - time.monotonic()))
                listener.look()
        return listener.found()


async def _short_turns(load: Load, options: AvatarOptions) -> Found:
    async with open_runtime() as runtime:
        avatar = await runtime.start("acp", **options)
        began = 0.0
        for number in range(-WARM_UP, load.turns):
            began = time.process_time() if number == 0 else began
            await _read(avatar, SHORT_TURN, len)
        return turns_since(began, load.turns)


async def _read(avatar: Avatar, prompt: str, hear: Callable[[str], object]) -> None:
    async with avatar.turn(prompt) as turn:
        async for event in turn:
            if type(event) is TextEvent:
                hear(event.text)
    assert turn.outcome is Outcome.COMPLETED, turn.reason


if __name__ == "__main__":
    run_host(ours)
