"""The work itself, the same for every contestant; what it found goes to stdout, a line of JSON."""

import json
import os
import signal
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from bench.comparison.work.interface import Client, Library, Loop, NotCompleted, Ready, Setting
from bench.comparison.work.memory import Memory

WORDS = "some words "
WARM_UP = 200
FIRSTS = 5
# How long a caller waits for word of a dead agent, and for its next prompt's answer after that. The
# second is longer than the 30 s that avatar-engine lets pass between two looks at its process.
NEVER = 10.0
NO_RECOVERY = 40.0
STUCK = 20.0
LONG = 60
ATTEMPTS = 20
KINDS = ("sleeper", "setsid", "daemon")

Found: TypeAlias = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Stage:
    """Where the work is played: the library, its event loop, and how much of it."""

    library: Library
    loop: Loop
    n: int
    mark: str


Task: TypeAlias = Callable[[Stage], Awaitable[Found]]


def script(*steps: Mapping[str, object]) -> str:
    """The prompt that makes the embedded agent play these steps."""
    return f"SCRIPT:{json.dumps(steps)}"


def tell(**facts: object) -> None:
    print(json.dumps(facts), flush=True)


async def stream(stage: Stage) -> Found:
    """Start, first event, and n pieces of text as fast as they can be written."""
    client, start = await _started(stage.library)
    firsts = [await _first_event(client) for _ in range(FIRSTS)]
    await client.count(script({"flood": WARM_UP, "text": WORDS}))
    began, cpu = time.perf_counter(), time.process_time()
    came = await client.count(script({"flood": stage.n, "text": WORDS}))
    wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    return {
        "start": start * 1e3,
        "first_event": _median(firsts),
        "throughput": came.pieces / wall if came.pieces else None,
        "cpu": cpu / came.pieces * 1e6 if came.pieces else None,
        "arrived": 100 * came.characters / (stage.n * len(WORDS)),
    }


async def _started(library: Library) -> tuple[Client, float]:
    """An agent, and the seconds to the end of its first call: not all wait for it to be ready."""
    began = time.perf_counter()
    client = await library.open()
    await client.call(script({"say": "x"}))
    return client, time.perf_counter() - began


async def _first_event(client: Client) -> float | None:
    began, first = time.perf_counter(), None
    async for _ in client.stream(script({"say": "x"})):
        first = first or time.perf_counter() - began
    return first


def _median(seconds: list[float | None]) -> float | None:
    """In milliseconds; none if for one of them nothing came."""
    known = [each for each in seconds if each is not None]
    return statistics.median(known) * 1e3 if len(known) == len(seconds) else None


async def memory(stage: Stage) -> Found:
    """What n more agents, each with a turn behind it, take of the host and of its own processes."""
    agents = [await _pid(await stage.library.open())]
    before = Memory.now(agents)
    starts: list[float] = []
    for _ in range(stage.n):
        client, start = await _started(stage.library)
        starts.append(start)
        agents.append(await _pid(client))
    after = Memory.now(agents)
    return {
        "start_more": statistics.median(starts) * 1e3,
        "memory_host": (after.host - before.host) / stage.n / 1024,
        "memory_all": (after.all - before.all) / stage.n / 1024,
    }


async def _pid(client: Client) -> int:
    """The agent's process. An earlier call's text may come late, and this one's not at all."""
    for _ in range(ATTEMPTS):
        pieces = [piece async for piece in client.stream(script({"echo": "pid"}, {"wait": 0.02}))]
        numbers = [int(piece) for piece in pieces if piece.isdigit()]
        if numbers:
            return numbers[0]
    raise NotCompleted("the agent's text did not come")


async def kill(stage: Stage) -> Found:
    """SIGKILL of the agent in the middle of a turn: when the caller hears of it, and what then."""
    client = await stage.library.open()
    killed: list[float] = []

    async def turn() -> None:
        async for piece in client.stream(script({"echo": "pid"}, {"wait": LONG})):
            if not killed and piece.isdigit():
                os.kill(int(piece), signal.SIGKILL)
                killed.append(time.perf_counter())

    told = await _told(stage.loop, turn)
    heard = time.perf_counter() - killed[0]

    async def again() -> None:
        answer = await client.call(script({"say": "back"}))
        if answer != "back":
            raise NotCompleted(f"answered {answer!r}")

    try:
        await stage.loop.within(NO_RECOVERY, again)
    except Exception as error:  # noqa: BLE001 - the library's own, whatever it is
        return {"told": told, "outcome": heard * 1e3, "recovery": None, "why": _named(error)}
    back = time.perf_counter() - killed[0]
    return {"told": told, "outcome": heard * 1e3, "recovery": back * 1e3, "why": ""}


async def _told(loop: Loop, turn: Callable[[], Awaitable[None]]) -> str:
    """How the caller learnt that its turn is over: "" is an end like any other."""
    try:
        await loop.within(NEVER, turn)
    except TimeoutError:
        return "never"
    except Exception as error:  # noqa: BLE001 - the library's own, whatever it is
        return _named(error)
    return ""


def _named(error: Exception) -> str:
    match error:
        case NotCompleted():
            return str(error)
        case TimeoutError() if not str(error):
            return "no answer"
        case _:
            return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


async def calls(stage: Stage) -> Found:
    """So many calls at once on one client: whose answer is whose."""
    client = await stage.library.open()
    found = await answers(stage, [client] * stage.n)
    clients = await stage.library.apart(stage.n)
    if not clients:
        return found
    apart = await answers(stage, clients)
    return {**found, "apart": apart["right"]}


async def answers(stage: Stage, clients: Sequence[Client]) -> dict[str, int]:
    """One call for each; an answer that holds another's words is mixed."""

    async def one(number: int) -> str:
        steps = {"say": f"<{number}"}, {"wait": 0.05}, {"say": f"{number}>"}
        try:
            return await stage.loop.within(STUCK, lambda: clients[number].call(script(*steps)))
        except Exception:  # noqa: BLE001 - the library's own, whatever it is
            return "error"

    works = [_numbered(one, number) for number in range(len(clients))]
    said = await stage.loop.together(works)
    tally = {"right": 0, "mixed": 0, "incomplete": 0, "errors": 0}
    for number, answer in enumerate(said):
        tally[_verdict(number, answer)] += 1
    return tally


def _numbered(one: Callable[[int], Awaitable[str]], number: int) -> Callable[[], Awaitable[str]]:
    return lambda: one(number)


def _verdict(number: int, answer: str) -> str:
    if answer == "error":
        return "errors"
    if answer == f"<{number}{number}>":
        return "right"
    return "incomplete" if f"<{number}{number}>".startswith(answer) else "mixed"


async def host_killed(stage: Stage) -> Found:
    """An agent with tools, until somebody kills this process."""

    async def tell_and_wait() -> None:
        tell(ready=True)
        signal.pause()

    await _with_tools(stage, tell_and_wait)
    return {}


async def closed(stage: Stage) -> Found:
    """An agent with tools in the middle of a turn, closed in the library's normal way."""
    took: list[float] = []

    async def close() -> None:
        tell(ready=True)
        sys.stdin.readline()
        began = time.perf_counter()
        await stage.library.close()
        took.append(time.perf_counter() - began)

    await _with_tools(stage, close)
    return {"close": took[0] * 1e3}


async def _with_tools(stage: Stage, then: Callable[[], Awaitable[None]]) -> None:
    client = await stage.library.open()
    spawns = [{"spawn": kind, "seconds": LONG, "mark": stage.mark} for kind in KINDS]
    prompt = script(*spawns, {"say": "ready"}, {"tool": "Bash", "seconds": LONG})

    async def turn(ready: Ready) -> None:
        async for _ in client.stream(prompt):
            ready()

    await stage.loop.beside(turn, then)


TASKS: Mapping[str, Task] = {
    "stream": stream,
    "memory": memory,
    "kill": kill,
    "calls": calls,
    "host_killed": host_killed,
    "closed": closed,
}


def main(made: Callable[[Setting], Library], loop: Loop) -> NoReturn:
    """`python -m … TASK SETTINGS`, the second a JSON object."""
    name, settings = sys.argv[1], json.loads(sys.argv[2])
    loop.run(lambda: _play(TASKS[name], settings, made, loop))
    # What a library has left running must not keep a result that is already told.
    sys.stdout.flush()
    os._exit(0)


async def _play(
    task: Task, settings: Mapping[str, Any], made: Callable[[Setting], Library], loop: Loop
) -> None:
    setting = Setting(settings["wire"], settings["launcher"], settings["home"])
    library = made(setting)
    try:
        found = await task(Stage(library, loop, settings["n"], settings["mark"]))
    except Exception as error:  # noqa: BLE001 - the reason is the cell
        tell(failed=_named(error))
    else:
        tell(found=found)
    if task is not closed:
        await library.close()
