"""Every public callable × every parameter × values that nobody would pass, on living avatars.

A call may take the value or refuse it: at once, with an error of the package (or Python's own
TypeError for a call) that names the argument. Whatever it does, an avatar beside it goes on.
"""

import faulthandler
import inspect
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from decimal import Decimal
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard, Unpack, get_args, get_origin, get_type_hints

import trio
from msgspec import Struct

import avatar_actors
from avatar_actors import (
    Avatar,
    AvatarConfig,
    AvatarEngine,
    AvatarError,
    Budget,
    ChatHandle,
    ConfigError,
    EventEmitter,
    HostStream,
    Outcome,
    Permit,
    Runtime,
    RuntimeThread,
    SettingsError,
    StoredSession,
    TextEvent,
    Timeouts,
    ToolPolicy,
    Turn,
)
from avatar_actors.hosting.runtime_thread import RuntimeCall

# A refusal takes microseconds. So generous, because the machine may be busy with others.
AT_ONCE = 1.0
# A call that has not ended by then hangs; the process shows where, and ends.
HANGS = 120.0
BATCH = 200
QUICK = Timeouts(start=10.0)
_NOWHERE = "/nonexistent/agent"


def ignore(*_: object) -> None:
    """A function that takes anything."""


async def ignore_async(*_: object) -> None:
    """The same for who awaits it."""


class Odd:
    """A foreign object that has none of the usual methods' manners."""

    def __bool__(self) -> bool:
        raise ValueError("no truth")

    def __eq__(self, _: object) -> bool:
        raise ValueError("no equality")

    __hash__ = object.__hash__


VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 10**400, 2**63, 1.5, -0.5, math.nan, math.inf, -math.inf,
    "", "text", " ", "5", "\0", "\ud83d", "-x", "../..", "safe", "x" * 200_000,
    b"", b"bytes", bytearray(b"x"), Decimal(5), 1j, [], [5], ["text"], [None], (), ("a", 5), {},
    {"a": 5}, {5: 5}, {"a": "b"}, {"a": object()}, {1}, frozenset[int](), range(3), iter([1]),
    object(), Odd(), Odd, type, int, ignore, ignore_async, lambda: 5, Exception("x"), Exception,
    Path(), Path("/nonexistent"), TextEvent, TextEvent(), Budget(), Timeouts(), ToolPolicy(),
    TextEvent(text=5),  # type: ignore[arg-type]
    Permit.ALLOW_ONCE, Outcome.FAILED, StoredSession("x"),
]  # fmt: skip

# What stands for a parameter that is not the one under test. A new one without an entry here
# and without a default fails the test: so nothing public is forgotten.
USUAL: dict[str, Any] = {
    "activity_id": "none", "answers": {}, "callback": ignore, "command": ("true",), "context": {},
    "dispatcher": None, "event": TextEvent(text="x"), "event_type": TextEvent, "handler":
    ignore, "message": "1+1", "name": "some", "parts": (), "path": Path("/nonexistent"),
    "permit": Permit.REJECT_ONCE, "prompt": "1+1", "provider": "embedded", "reason": "because",
    "request_id": "none", "session": StoredSession("x"), "session_id": "", "text": "",
    "timeout": 0.01, "tool_input": {}, "tool_name": "Read", "work": ignore_async, "budget":
    Budget(), "action": "nothing", "model": "", "mode": "", "data": b"", "mime_type":
    "text/plain", "input": 1.0, "output": 1.0, "cached": 1.0, "per_minute": 1.0, "url":
    "https://example.org", "argv": ("true",), "private_dir": Path("/nonexistent"), "plan":
    ignore, "wire": ignore,
}  # fmt: skip

# Not called by hosts, whatever their names say: made by the runtime, or called by the engine.
MADE_BY_US = {"Avatar", "ChatHandle", "HostStream", "Runtime", "Turn"}
FOR_THE_ENGINE = {
    "begin", "checked", "close_down", "covers", "deliver", "end_handler_loop", "loop_for", "push",
    "reaches", "reason", "settle_on", "soon", "sum_of", "unknown_names", "verdict",
}  # fmt: skip
CALLED_BY_US = {(kind, name) for kind in (AvatarEngine, EventEmitter) for name in ("call", "takes")}
# Values that the runtime makes and hosts read: they are data, and checked where they are passed.
SETTINGS = {
    "Attachment", "AvatarSettings", "Budget", "LaunchPlan", "LogSettings", "McpServer",
    "MetricsSettings", "Price", "Provider", "RateLimit", "Remote", "Restarts", "Retry", "Timeouts",
    "ToolPolicy",
}  # fmt: skip


# They change the process or the user's files; their arguments have tests of their own.
PROCESS_WIDE = {"stop_on_signals", "init"}
OPENED = {"AvatarEngine", "EventEmitter", "EventStream", "RuntimeThread"}
# Beside the required ones: whatever is taken must not start an agent each time.
ALSO: dict[str, dict[str, Any]] = {
    "Runtime.start": {"executable": _NOWHERE},
    "AvatarEngine.switch_provider": {"executable": _NOWHERE},
    "McpServer": {"command": "true"},
}


class Target(NamedTuple):
    """One parameter of a public callable."""

    name: str
    owner: type | None
    """Whose method it is; None for a function and a class."""
    parameter: str
    is_rest: bool
    """Whether it takes any number of values, as `*kinds`."""
    usual: dict[str, Any]

    def call(self, function: Callable[..., object], value: object) -> object:
        usual = {name: each for name, each in self.usual.items() if name != self.parameter}
        return (
            function(value, **usual)
            if self.is_rest
            else function(**usual, **{self.parameter: value})
        )


class Found(Exception):
    """A call that neither took its value nor refused it as it should."""


def targets() -> list[Target]:
    """Every parameter of everything that `avatar_actors` exports and a host calls."""
    return [target for name in avatar_actors.__all__ for target in _targets_of(name)]


def _targets_of(name: str) -> Iterator[Target]:
    thing: Any = getattr(avatar_actors, name)
    if inspect.isfunction(thing) and name not in PROCESS_WIDE:
        yield from _parameters(name, None, thing)
    if not inspect.isclass(thing) or issubclass(thing, (BaseException, Enum, dict)):
        return
    if name in SETTINGS | OPENED:
        yield from _parameters(name, None, thing)
    for method, function in inspect.getmembers(thing, inspect.isroutine):
        declared = inspect.unwrap(getattr(function, "__func__", function))
        is_ours = inspect.isfunction(declared) and declared.__module__.startswith("avatar_actors")
        is_public = not method.startswith("_") and method not in FOR_THE_ENGINE | PROCESS_WIDE
        if is_public and is_ours and (thing, method) not in CALLED_BY_US:
            yield from _parameters(f"{name}.{method}", thing, function)


def _parameters(name: str, owner: type | None, function: Callable[..., object]) -> Iterator[Target]:
    found = dict(inspect.signature(function).parameters)
    found.pop("self", None)
    required = [each for each in found.values() if each.default is each.empty]
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    usual = {each.name: USUAL[each.name] for each in required if each.kind not in kinds}
    for each in found.values():
        is_rest = each.kind is inspect.Parameter.VAR_POSITIONAL
        for parameter in _option_names(function, each.name) or [each.name]:
            yield Target(name, owner, parameter, is_rest, {**usual, **ALSO.get(name, {})})


def _option_names(function: Any, name: str) -> list[str]:
    """The options that `**name` stands for."""
    declared = inspect.unwrap(function.__init__ if inspect.isclass(function) else function)
    with suppress(TypeError, NameError):
        hint = get_type_hints(declared, include_extras=True).get(name)
        if get_origin(hint) is Unpack:
            return sorted(get_type_hints(get_args(hint)[0]))
    return []


class Subjects:
    """What is called, and the avatar beside it."""

    def __init__(self) -> None:
        self.bystander = AvatarEngine("embedded", name="bystander")
        self.engine = AvatarEngine("embedded", name="subject", timeout=5)
        self.elsewhere = AvatarEngine("embedded", executable=_NOWHERE)
        self.thread = RuntimeThread()
        self.bystander.start_sync()
        self.pid = self.bystander.get_health().pid

    def check_bystander(self) -> None:
        """It answers, from the process that it began with."""
        answer, health = self.bystander.chat_sync("1+1", timeout=HANGS), self.bystander.get_health()
        if answer.content != "2" or health.pid != self.pid:
            raise Found(f"the bystander was harmed: {answer}, {health}")

    def stop(self) -> None:
        for engine in (self.bystander, self.engine, self.elsewhere):
            engine.stop_sync()
        self.thread.stop_sync()

    def call(self, target: Target, value: object) -> None:
        """Call it, and whatever comes of that to its end."""
        if target.owner is None:
            return end(target.call(getattr(avatar_actors, target.name), value))
        method = target.name.partition(".")[2]
        if target.owner is Avatar:
            return self.engine.run_sync(
                lambda avatar: finish(target.call(getattr(avatar, method), value))
            )
        if target.owner is Runtime:
            return self.thread.run_sync(
                lambda runtime: finish(target.call(getattr(runtime, method), value))
            )
        end(target.call(getattr(self._object(target.owner, method), method), value))
        # A dispatcher that calls nothing would keep `flush` waiting, as it should.
        self.engine.clear_handlers()
        return None

    def _object(self, kind: type, method: str) -> object:
        makes: dict[type, Callable[[], object]] = {
            AvatarEngine: lambda: self.elsewhere if method == "switch_provider" else self.engine,
            RuntimeThread: lambda: RuntimeThread() if method == "stop_sync" else self.thread,
            ChatHandle: lambda: self.engine.chat_async("1+1"),
            AvatarConfig: lambda: AvatarConfig.parse(""),
        }
        is_of_class = inspect.ismethod(getattr(kind, method))
        return kind if is_of_class else makes.get(kind, kind)()


def end(result: object) -> None:
    """See a result of a call to its end, outside of any loop."""
    if inspect.isawaitable(result) and not isinstance(result, ChatHandle | RuntimeCall):
        trio.run(finish, result)
    elif isinstance(result, HostStream):
        result.close()
    elif isinstance(result, ChatHandle):
        result.result(HANGS)
    elif isinstance(result, RuntimeCall):
        result.wait_sync()
    elif inspect.isgenerator(result):
        list(islice(result, 3))


def is_manager(value: object) -> TypeGuard[AbstractAsyncContextManager[object]]:
    return isinstance(value, AbstractAsyncContextManager)


async def finish(result: object) -> None:
    """The same in a task of trio."""
    found: object = await result if inspect.isawaitable(result) else result
    if is_manager(found):
        async with found as inside:
            if isinstance(inside, Turn):
                await inside.wait()
    elif isinstance(found, Avatar):
        await found.stop()


def attempt(subjects: Subjects, target: Target, value: object) -> str:
    """How one call ended: taken, or refused by which error. Found if it should not have."""
    began = time.monotonic()
    case = f"{target.name}({target.parameter}={type(value).__name__} {ascii(value)[:60]})"
    try:
        subjects.call(target, value)
    except (SettingsError, TypeError) as error:
        _judge(target, value, error, case)
        if time.monotonic() - began > AT_ONCE:
            _time_again(subjects, target, value, case)
        return type(error).__name__
    except (AvatarError, TimeoutError, FileNotFoundError) as error:
        return type(error).__name__
    except Exception as error:
        raise Found(f"{case}: {type(error).__name__}: {error}") from error
    return "taken"


def _time_again(subjects: Subjects, target: Target, value: object, case: str) -> None:
    """The first time it may have been an avatar that was started for the call."""
    began = time.monotonic()
    with suppress(SettingsError, TypeError):
        subjects.call(target, value)
    if (seconds := time.monotonic() - began) > AT_ONCE:
        raise Found(f"{case}: refused only after {seconds:.1f} s")


def _judge(target: Target, value: object, error: Exception, case: str) -> None:
    """A refusal names the argument, or the part of it; a function's own error is its own."""
    said, name = str(error), target.parameter.removesuffix("s")
    if isinstance(error, ConfigError):  # it names the file
        return
    is_function = callable(value)
    is_shown = isinstance(value, str | Path) and ascii(str(value))[1:20].rstrip("'") in ascii(said)
    is_inside = isinstance(value, Struct | dict) and "unknown option" in said
    if not (name in said or is_shown or is_inside or isinstance(value, Struct) or is_function):
        raise Found(f"{case}: the error does not name {target.parameter}: {error}") from error


class Report(NamedTuple):
    """What came of the calls, by their ending, and how long the slowest refusal took."""

    endings: Counter[str]
    slowest: float


class Case(NamedTuple):
    """One value for one parameter."""

    target: Target
    value: Any


def cases(seed: str) -> list[Case]:
    """Every value for every parameter, in an order that the seed says."""
    found = [Case(target, value) for target in targets() for value in VALUES]
    random.Random(seed).shuffle(found)
    return found


def play(chosen: Sequence[Case]) -> Report:
    """Make these calls; Found at the first that is wrong, or when the bystander was harmed."""
    endings: Counter[str] = Counter()
    slowest = 0.0
    with living() as subjects:
        for number, case in enumerate(chosen, 1):
            faulthandler.dump_traceback_later(HANGS, exit=True)
            began = time.monotonic()
            ending = attempt(subjects, *case)
            endings[ending] += 1
            if ending in {"SettingsError", "TypeError"}:
                slowest = max(slowest, time.monotonic() - began)
            if number % BATCH == 0:
                subjects.check_bystander()
        subjects.check_bystander()
    return Report(endings, slowest)


def start_with(chosen: Sequence[Case]) -> Counter[str]:
    """Start an avatar with each value that an engine takes: it comes up, or says why not."""
    endings: Counter[str] = Counter()
    with living() as subjects:
        for case in chosen:
            faulthandler.dump_traceback_later(HANGS, exit=True)
            try:
                given: dict[str, Any] = {"timeouts": QUICK, case.target.parameter: case.value}
                engine = AvatarEngine(**given)
            except (SettingsError, TypeError):
                continue
            endings[_started(engine)] += 1
            subjects.check_bystander()
    return endings


def _started(engine: AvatarEngine) -> str:
    try:
        engine.start_sync()
        return engine.chat_sync("1+1", timeout=HANGS).outcome.value
    except AvatarError as error:
        return type(error).__name__
    finally:
        engine.stop_sync()


@contextmanager
def living() -> Generator[Subjects]:
    """The subjects, stopped at the end."""
    subjects = Subjects()
    try:
        yield subjects
    finally:
        faulthandler.cancel_dump_traceback_later()
        subjects.stop()


def look(begin: str, seed: str, number: int) -> str:
    """For the fuzzer: what was found in so many cases from this one on; nothing if all is well."""
    chosen = cases(seed)[int(begin) : int(begin) + number]
    try:
        play(chosen)
        start_with([case for case in chosen if case.target.name == "AvatarEngine"])
    except Found as found:
        return str(found)
    return ""
