"""What an engine is made with, and what that means for its avatar."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar

import msgspec
from msgspec.structs import replace

from avatar_actors.hosting.engine_avatar import (
    SHARED,
    EngineSpec,
    GivenRuntime,
    RuntimeSource,
    SharedRuntime,
)
from avatar_actors.hosting.executors import Dispatcher
from avatar_actors.hosting.futures import finished
from avatar_actors.hosting.handlers import EventEmitter, running_loop
from avatar_actors.hosting.runtime_thread import RuntimeThread
from avatar_actors.model.events import AvatarEvent
from avatar_actors.model.fields import AvatarName
from avatar_actors.model.settings import (
    AvatarOptions,
    ProviderType,
    RuntimeOptions,
    SharedOptions,
    Timeouts,
    settings_from,
)
from avatar_actors.model.values import JsonObject
from avatar_actors.providers.provider import Provider
from avatar_actors.providers.registry import provider_named

if TYPE_CHECKING:
    import asyncio

E = TypeVar("E", bound=AvatarEvent)

# A host that waits for a whole answer wants an end of it; who wants none says math.inf.
TURN_TIMEOUT = 120.0


class EngineOptions(SharedOptions, total=False):
    """The further keyword arguments of AvatarEngine.

    `dispatcher` brings handlers into the host's thread. `runtime` is one that engines share, or the
    options for one of this engine's own.
    """

    name: AvatarName
    dispatcher: Dispatcher | None
    runtime: RuntimeThread | RuntimeOptions | None


class AnswerDetails(TypedDict, total=False):
    """What can be said with the answer to a PermissionEvent; see `Avatar.answer`."""

    option_id: str
    message: str
    updated_input: JsonObject | None


class EngineArguments(msgspec.Struct, frozen=True):
    """An engine's arguments, sorted and checked."""

    spec: EngineSpec
    source: RuntimeSource
    dispatcher: Dispatcher | None


def engine_arguments(
    provider: str | ProviderType | Provider,
    model: str,
    working_dir: str | Path,
    timeout: float | None,
    options: EngineOptions,
) -> EngineArguments:
    """What these arguments mean; a SettingsError comes now, not at the start."""
    rest = options.copy()
    name = rest.pop("name", "")
    dispatcher = rest.pop("dispatcher", None)
    runtime = rest.pop("runtime", None)
    timeouts = rest.pop("timeouts", None) or Timeouts(turn=TURN_TIMEOUT)
    if timeout is not None:
        timeouts = msgspec.structs.replace(timeouts, turn=timeout)
    shared: SharedOptions = rest
    wanted: AvatarOptions = {
        "model": model,
        "working_dir": working_dir or Path(),
        **shared,
        "timeouts": timeouts,
    }
    settings_from(wanted)
    name_of_kind = provider.value if isinstance(provider, ProviderType) else provider
    kind = provider_named(name_of_kind) if isinstance(name_of_kind, str) else name_of_kind
    return EngineArguments(EngineSpec(kind, name, wanted), _source(runtime), dispatcher)


def _source(runtime: RuntimeThread | RuntimeOptions | None) -> RuntimeSource:
    if runtime is None:
        return SHARED
    return GivenRuntime(runtime) if isinstance(runtime, RuntimeThread) else SharedRuntime(runtime)


class HostedFunction(Generic[E]):
    """A function of the host, as a coroutine function of the runtime's loop.

    A plain one is called in a worker thread, or where the dispatcher brings it; one that hangs
    there is waited for no longer than the question is open. A coroutine function is called on the
    host's asyncio loop, and cancelled with the question.
    """

    def __init__(
        self,
        function: Callable[[E], object],
        emitter: EventEmitter,
        loop: asyncio.AbstractEventLoop | None,
    ) -> None:
        self._function, self._emitter, self._loop = function, emitter, loop

    async def __call__(self, event: E) -> Any:
        """The function's result, or its exception."""
        future = self._emitter.call(self._function, event, self._loop)
        try:
            await finished(future)
        except BaseException:
            future.cancel()
            raise
        return future.result()


def hosted(spec: EngineSpec, emitter: EventEmitter) -> EngineSpec:
    """The same avatar, with its functions called where the handlers run."""
    options: AvatarOptions = {**spec.options}
    permissions, questions = options.get("permissions"), options.get("questions")
    if callable(permissions):
        options["permissions"] = HostedFunction(permissions, emitter, running_loop())
    if questions is not None:
        options["questions"] = HostedFunction(questions, emitter, running_loop())
    return replace(spec, options=options)


class Configured(msgspec.Struct, frozen=True):
    """An engine's arguments, as a configuration has them."""

    provider: str | Provider
    model: str
    working_dir: str | Path
    options: EngineOptions


def configured(path: str | Path | None, provider: str) -> Configured:
    """What the configuration says of this provider, or of the one that it chooses."""
    from avatar_actors.config.config import AvatarConfig  # noqa: PLC0415 - only who has one pays for it

    config = AvatarConfig.load(path)
    kind, avatar = config.chosen(provider)
    model, working_dir = avatar.pop("model", ""), avatar.pop("working_dir", "")
    shared: SharedOptions = avatar
    runtime = config.runtime or None
    options: EngineOptions = {**shared, "name": "", "dispatcher": None, "runtime": runtime}
    return Configured(kind, model, working_dir, options)
