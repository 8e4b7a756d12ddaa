"""What it costs to import the package, and what it leaves alone."""

import resource
import subprocess
import sys

HEAVY = ("pydantic", "trio_asyncio", "yaml", "prometheus_client", "jsonschema", "acp", "asyncio")
ROUNDS = 7


def processor_time(statement: str) -> float:
    """What a fresh Python with this statement uses; waiting for a busy machine does not count."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", statement], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return done.stdout


def test_importing_the_package_costs_at_most_1_4_times_trio() -> None:
    times: dict[str, list[float]] = {"import trio": [], "import avatar_actors": []}
    for _ in range(ROUNDS):
        for statement, taken in times.items():
            taken.append(processor_time(statement))
    assert min(times["import avatar_actors"]) <= 1.4 * min(times["import trio"])


def test_the_engine_is_imported_without_what_only_some_need() -> None:
    program = f"""
import sys
from avatar_actors import AvatarEngine, open_avatar, open_runtime
print([name for name in {HEAVY} if name in sys.modules])
"""
    assert run(program) == "[]\n"


def test_asyncio_of_the_host_is_its_own_after_the_import() -> None:
    program = """
import asyncio
before = asyncio.get_event_loop_policy()
from avatar_actors import AvatarEngine
async def main():
    return type(asyncio.get_running_loop()).__module__
print(asyncio.get_event_loop_policy() is before, asyncio.run(main()))
"""
    assert run(program) == "True asyncio.unix_events\n"


def test_asyncio_of_the_host_is_its_own_beside_handlers_that_need_a_loop() -> None:
    program = """
import asyncio, threading
from avatar_actors import EventEmitter, TextEvent
emitter, heard = EventEmitter(), threading.Event()
async def handler(event):
    await asyncio.sleep(0)
    heard.set()
emitter.on(TextEvent, handler)
emitter.emit(TextEvent(text="x"))
heard.wait(60)
async def main():
    return type(asyncio.get_running_loop()).__module__
print(asyncio.get_event_loop_policy()._local._loop, asyncio.run(main()))
emitter.end_handler_loop().result(60)
"""
    assert run(program) == "None asyncio.unix_events\n"


def test_asyncio_of_the_host_is_its_own_beside_remote_agents() -> None:
    """These run through trio-asyncio, whose import would change `asyncio.run`."""
    program = """
import asyncio, sys, trio
from avatar_actors.session.remote.asyncio_loop import open_asyncio_loop
async def remote():
    async with open_asyncio_loop(print):
        pass
trio.run(remote)
async def main():
    return type(asyncio.get_running_loop()).__module__
print("trio_asyncio" in sys.modules, asyncio.run(main()))
"""
    assert run(program) == "True asyncio.unix_events\n"


def test_coroutine_handlers_get_their_loop_beside_remote_agents() -> None:
    """Once imported, trio-asyncio lets asyncio's policy make no loop in a trio task."""
    program = """
import asyncio, threading, trio
from avatar_actors import EventEmitter, TextEvent
from avatar_actors.session.remote.asyncio_loop import open_asyncio_loop
emitter, heard = EventEmitter(), threading.Event()
async def handler(event):
    await asyncio.sleep(0)
    heard.set()
emitter.on(TextEvent, handler)
async def remote():
    async with open_asyncio_loop(print):
        pass
    emitter.emit(TextEvent(text="x"))
trio.run(remote)
print(heard.wait(60))
emitter.end_handler_loop().result(60)
"""
    assert run(program) == "True\n"


def test_commands_without_avatars_do_without_trio() -> None:
    program = """
import sys
from avatar_actors.cli.commands import run
code = run(["version"])
print(code, "trio" in sys.modules)
"""
    assert run(program).splitlines()[-1] == "0 False"
