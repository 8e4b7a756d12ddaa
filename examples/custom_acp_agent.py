"""An agent of one's own becomes an avatar: `python -m examples.custom_acp_agent ["some words"]`.

The agent is `examples/shouting_agent.py`, sixty lines that know nothing of this package. Its
registration is one call of `acp_provider`; then it has all that the others have: events, one
outcome per turn, interrupts, supervision.
"""

import sys
from pathlib import Path

import trio

from avatar_actors import Avatar, TextEvent, acp_provider, open_avatar

SHOUTER = acp_provider(
    "shouter",
    (sys.executable, str(Path(__file__).with_name("shouting_agent.py"))),
    install="it is in the folder examples",
)


async def show(avatar: Avatar, prompt: str, most: int = sys.maxsize) -> None:
    """Print what it says; after so many pieces of text, interrupt it."""
    heard = 0
    async with avatar.turn(prompt) as turn:
        async for event in turn:
            if isinstance(event, TextEvent):
                print(event.text, end="", flush=True)
                heard += 1
                if heard == most:
                    await avatar.interrupt()
    print(f"\n[{turn.outcome.value if turn.outcome else 'no outcome'}]")


async def main(prompt: str) -> None:
    async with open_avatar(SHOUTER, "vera") as vera:
        await show(vera, prompt)
        await show(vera, "la " * 1000, most=3)


if __name__ == "__main__":
    code = 0
    try:
        trio.run(main, " ".join(sys.argv[1:]) or "good morning, everybody")
    except* KeyboardInterrupt:
        code = 130
    sys.exit(code)
