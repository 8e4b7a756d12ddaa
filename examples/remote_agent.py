"""Talks to an ACP agent that runs elsewhere: `python -m examples.remote_agent ws://… [prompt]`.

A token comes from the environment variable AGENT_TOKEN.
"""

import os
import sys

import trio

from avatar_actors import AvatarStartError, Outcome, TextEvent, ToolEvent, open_avatar


async def main(url: str, prompt: str) -> int:
    token = os.environ.get("AGENT_TOKEN", "")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        async with open_avatar("acp", url=url, headers=headers) as aria:
            async with aria.turn(prompt) as turn:
                async for event in turn:
                    if isinstance(event, TextEvent):
                        print(event.text, end="", flush=True)
                    elif isinstance(event, ToolEvent):
                        print(f"[{event.title}: {event.status.value}]")
            print(f"\n{turn.outcome}")
            return 0 if turn.outcome is Outcome.COMPLETED else 1
    except AvatarStartError as error:
        print(error)
        return 1


if __name__ == "__main__":
    address, *words = sys.argv[1:] or [""]
    sys.exit(trio.run(main, address, " ".join(words) or "Hello!") if address else __doc__)
