"""Three avatars share one dollar: `python -m examples.budgets`.

The runtime warns when 80 % are spent, ends what is under way when all is, refuses the next prompt
with the words that say how to go on, and goes on when the budget is raised. The embedded agent
costs nothing; here it reports a price as a real agent would.
"""

import json
import sys
import textwrap

import trio

from avatar_actors import (
    Avatar,
    Budget,
    DiagnosticEvent,
    EventStream,
    Runtime,
    open_runtime,
)

NAMES = ("aria", "bela", "cleo")
INDENT = " " * 6
SCRIPTED = {"scripts": "true"}


def work(cost: float, seconds: float = 0) -> str:
    """A prompt whose cost is told at once, and whose answer takes so long."""
    steps = [{"usage": {"input": 1000}, "cost": cost}, {"wait": seconds}, {"say": "Done."}]
    return f"SCRIPT:{json.dumps(steps)}"


async def ask(runtime: Runtime, avatar: Avatar, cost: float, seconds: float = 0) -> None:
    answer = await avatar.chat(work(cost, seconds))
    spent = (await runtime.spent()).cost_usd or 0.0
    print(f"{avatar.name}  {cost:5.2f}  {answer.outcome.value:12}  {spent:5.2f}")
    if answer.error:
        print(textwrap.fill(answer.error, 78, initial_indent=INDENT, subsequent_indent=INDENT))


async def print_warnings(stream: EventStream) -> None:
    seen: set[str] = set()  # every avatar that has prompted is warned; to say it once is enough
    async for event in stream:
        if isinstance(event, DiagnosticEvent) and event.source == "budget":
            if event.message not in seen:
                print(f"{INDENT}warning: {event.message}")
            seen.add(event.message)


async def main() -> None:
    async with (
        open_runtime(budget=Budget(cost_usd=1.0)) as runtime,
        trio.open_nursery() as nursery,
        runtime.events(DiagnosticEvent) as stream,
    ):
        nursery.start_soon(print_warnings, stream)
        aria, bela, cleo = [
            await runtime.start("embedded", name, options=SCRIPTED) for name in NAMES
        ]
        print("who    cost  outcome       spent")
        for avatar in (aria, bela, cleo):
            await ask(runtime, avatar, 0.30)
        await ask(runtime, aria, 0.30, seconds=60)  # it is ended in its middle
        await ask(runtime, bela, 0.30)  # it is not even sent
        await runtime.raise_budget(Budget(cost_usd=2.0))
        print(f"{INDENT}the budget is 2 USD now")
        await ask(runtime, bela, 0.30)


if __name__ == "__main__":
    code = 0
    try:
        trio.run(main)
    except* KeyboardInterrupt:
        code = 130
    sys.exit(code)
