"""The program of the README, one turn and its events: `python -m examples.hello_avatar`."""

import trio

from avatar_actors import TextEvent, ToolEvent, open_avatar


async def main() -> None:
    async with open_avatar("embedded", working_dir=".") as aria:  # or "claude", "gemini", "codex"
        async with aria.turn("What does this project do?") as turn:
            async for event in turn:
                if isinstance(event, TextEvent):
                    print(event.text, end="")
                elif isinstance(event, ToolEvent):
                    print(f"[{event.title}: {event.status.value}]")
        print(f"\n{turn.outcome}, cost: {turn.cost}")
        answer = await aria.chat("What did I say?")
        print(answer.content)


if __name__ == "__main__":
    trio.run(main)
