"""Prints the answer as it comes: `python -m examples.streaming "What does this project do?"`.

For asyncio. What the agent's tools do comes to a handler, in the loop's own thread, and is told on
stderr. Ctrl-C cancels the task, the task's end is the turn's, and nothing of it comes later.
`--provider claude` (or gemini, codex) asks a real agent.
"""

import argparse
import asyncio
import sys

from avatar_actors import AvatarEngine, AvatarError, PermissionMode, ToolEvent, TurnFailed


def show_tool(event: ToolEvent) -> None:
    print(f"[{event.title or event.tool_name}: {event.status.value}]", file=sys.stderr)


async def stream(provider: str, question: str) -> int:
    call_soon = asyncio.get_running_loop().call_soon_threadsafe
    engine = AvatarEngine(provider, permissions=PermissionMode.SAFE, dispatcher=call_soon)
    engine.on(ToolEvent, show_tool)
    try:
        async with engine.chat_stream(question) as answer:
            async for text in answer:
                print(text, end="", flush=True)
        print(f"\n[{answer.result.outcome.value} in {answer.result.duration_ms} ms]")
        return 0
    except TurnFailed as failure:  # the agent crashed, failed, took too long, …
        print(f"\n[{failure}]", file=sys.stderr)
        return 1
    except asyncio.CancelledError:
        print("\n[cancelled]")
        raise
    finally:
        await engine.stop()


def main() -> int:
    parser = argparse.ArgumentParser("python -m examples.streaming", description=__doc__)
    parser.add_argument("question", nargs="?", default="What does this project do?")
    parser.add_argument("--provider", default="embedded")
    given = parser.parse_args()
    try:
        return asyncio.run(stream(given.provider, given.question))
    except AvatarError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
