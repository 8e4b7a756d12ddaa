"""Twenty avatars in one runtime, one of them killed: `python -m examples.many_avatars [NUMBER]`.

Each is a process of its own under a supervisor of its own. The kill ends one turn, at once and as
`crashed`; the others do not notice, and the killed one answers the next prompt in a new process.
"""

import json
import logging
import os
import signal
import sys
from dataclasses import dataclass

import trio

from avatar_actors import (
    Avatar,
    Outcome,
    PermissionEvent,
    Permit,
    Runtime,
    TextEvent,
    open_runtime,
)

MOST = 200
SCRIPTED = {"scripts": "true"}
LONG = 'SCRIPT:[{"say": "I begin"}, {"wait": 600}]'


@dataclass
class Row:
    avatar: Avatar
    outcome: Outcome | None = None
    answer: str = ""


async def work(
    row: Row, killed: trio.Event, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """A turn that is in its middle, at a question for permission, when the other is killed."""
    script = [{"ask": "Bash", "input": {"command": "make"}}, {"say": f" {row.avatar.name} is done"}]
    async with row.avatar.turn(f"SCRIPT:{json.dumps(script)}") as turn:
        async for event in turn:
            if isinstance(event, PermissionEvent):
                task_status.started()
                await killed.wait()
                await row.avatar.answer(event.request_id, Permit.ALLOW_ONCE)
    row.outcome, row.answer = turn.outcome, turn.text


async def be_killed(row: Row) -> None:
    """Its agent gets SIGKILL in the middle of a turn."""
    async with row.avatar.turn(LONG) as turn:
        async for event in turn:
            if isinstance(event, TextEvent) and (pid := (await row.avatar.health()).pid):
                os.kill(pid, signal.SIGKILL)
    row.outcome = turn.outcome
    row.answer = f"{turn.text}; then 6*7 = {(await row.avatar.chat('6*7')).content}"


async def start_all(runtime: Runtime, number: int) -> list[Row]:
    rows: dict[int, Row] = {}

    async def start(each: int) -> None:
        rows[each] = Row(await runtime.start("embedded", f"avatar-{each}", options=SCRIPTED))

    async with trio.open_nursery() as nursery:
        for each in range(1, number + 1):
            nursery.start_soon(start, each)
    return [rows[each] for each in sorted(rows)]


async def main(number: int) -> None:
    async with open_runtime(max_avatars=number) as runtime:
        rows = await start_all(runtime, number)
        victim, killed = rows[number // 2], trio.Event()
        async with trio.open_nursery() as nursery:
            for row in rows:
                if row is not victim:
                    await nursery.start(work, row, killed)
            await be_killed(victim)
            killed.set()
        print(f"{'avatar':11} {'outcome':10} {'restarts':>8}  said")
        for row in rows:
            outcome = row.outcome.value if row.outcome else "none"
            restarts = (await row.avatar.health()).restarts
            print(f"{row.avatar.name:11} {outcome:10} {restarts:8}  {row.answer}")


if __name__ == "__main__":
    count = sys.argv[1] if len(sys.argv) > 1 else "20"
    if not count.isdecimal() or not 1 <= int(count) <= MOST:
        sys.exit(f"how many? a number from 1 to {MOST}; got {count!r}")
    # The table shows the crash; without this its traceback comes too.
    logging.getLogger("supervisors").addHandler(logging.NullHandler())
    code = 0
    try:
        trio.run(main, int(count))
    except* KeyboardInterrupt:
        code = 130
    sys.exit(code)
