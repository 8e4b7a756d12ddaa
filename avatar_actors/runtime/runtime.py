"""The runtime: many avatars in one tree, above one warden."""

from __future__ import annotations

import gc
import itertools
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Unpack

import trio
from msgspec import Struct

from avatar_actors.avatar.actor_client import ask_runtime_budget, follow_all
from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.handle import Avatar
from avatar_actors.avatar.messages import (
    EventRouterMessage,
    Follow,
    RaiseBudget,
    RuntimeBudgetMessage,
    TotalSpent,
)
from avatar_actors.avatar.structured_output import check_schema
from avatar_actors.avatar.tree import AvatarSpec, start_avatar
from avatar_actors.model.checks import checked
from avatar_actors.model.errors import AvatarDown, AvatarStartError, SettingsError
from avatar_actors.model.events import AvatarEvent
from avatar_actors.model.fields import AvatarName, PositiveCount
from avatar_actors.model.redaction import Redactor
from avatar_actors.model.settings import AvatarOptions, Budget, RuntimeOptions, settings_from
from avatar_actors.model.values import Usage
from avatar_actors.observe.log_lines import SecretsFilter
from avatar_actors.observe.metrics.collector import MetricsOffer
from avatar_actors.processes import PrivateRootRefused, open_private_root
from avatar_actors.providers.provider import Provider
from avatar_actors.providers.registry import provider_named
from avatar_actors.runtime.event_router import event_router
from avatar_actors.runtime.observers import Observers, open_observers
from avatar_actors.runtime.runtime_budget import Books, runtime_budget
from avatar_actors.runtime.warden import warden
from avatar_actors.session import messages
from avatar_actors.session.launch import Launcher, settled
from supervisors import (
    ActorDown,
    Address,
    Backoff,
    ChildSpec,
    StartFailed,
    Strategy,
    Supervisor,
    SupervisorSpec,
    TreeNode,
    open_supervisor,
)

# The warden is replaced however often it is killed; an agent's crashes are its avatar's budget.
_WARDEN_LIVES = 1000
_WARDEN_BACKOFF = Backoff(minimum=0.001, maximum=1.0, factor=4.0, reset_after=5.0)
# Objects that come before a collection of the youngest; such collections before one of the younger
# half, at most 24,000 objects and some 20 ms; those before one of all, 0.3 s with 1,000 avatars.
_COLLECTOR_THRESHOLDS = (8_000, 1, 60)


class RuntimeActors(Struct, frozen=True):
    """The actors beside the avatars, which every avatar knows."""

    warden: Address[messages.Admit]
    event_router: Address[EventRouterMessage]
    runtime_budget: Address[RuntimeBudgetMessage]


class AvatarRegistry:
    """The avatars by name: who starts, who is up, whose secrets the log hides.

    The event router tells it of each end. Nothing but `up` depends on how many there are.
    """

    def __init__(self, secrets: SecretsFilter) -> None:
        self._secrets = secrets
        self._starting: set[str] = set()
        self._avatars: dict[str, Avatar] = {}

    @contextmanager
    def starting(self, name: str, redactor: Redactor) -> Generator[None]:
        """Reserve a name while its avatar starts; SettingsError if it is taken."""
        if name in self._starting or self._is_up(name):
            raise SettingsError(f"an avatar {name!r} is up already; choose another name")
        self._starting.add(name)
        self._secrets.learn(name, redactor)
        try:
            yield
        finally:
            self._starting.discard(name)
            self.let_go(name)

    def add(self, avatar: Avatar) -> None:
        """The avatar has started."""
        self._avatars[avatar.name] = avatar

    def up(self) -> list[Avatar]:
        """The avatars that are up."""
        return [avatar for avatar in self._avatars.values() if not avatar.is_down]

    def let_go(self, name: str) -> bool:
        """Forget an avatar, unless one of this name is up or starting; whether it is forgotten."""
        if name in self._starting or self._is_up(name):
            return False
        self._avatars.pop(name, None)
        self._secrets.let_go(name)
        return True

    def _is_up(self, name: str) -> bool:
        avatar = self._avatars.get(name)
        return avatar is not None and not avatar.is_down


class Runtime:
    """Avatars come and go; each has its own restart budget, so a crasher harms nobody else."""

    def __init__(
        self,
        root: Supervisor,
        actors: RuntimeActors,
        private_root: Path,
        observers: Observers,
        registry: AvatarRegistry,
    ) -> None:
        self._root, self._actors = root, actors
        self._private_root, self._observers = private_root, observers
        self._registry = registry
        self._numbers = itertools.count(1)

    @checked
    async def start(
        self,
        provider: str | Provider = "embedded",
        name: AvatarName = "",
        listener: EventStream | None = None,
        **options: Unpack[AvatarOptions],
    ) -> Avatar:
        """Start an avatar and wait until it takes prompts; AvatarStartError if it does not.

        `listener` gets the events of its start too; it ends with the avatar.
        """
        kind = provider_named(provider) if isinstance(provider, str) else provider
        number = next(self._numbers)
        wanted = AvatarSpec(
            name=name or f"{kind.name}-{number}",
            provider=kind,
            settings=settled(kind, settings_from(options)),
            private_dir=self._private_root / f"avatar-{number}",
            listener=listener,
            runtime_budget=self._actors.runtime_budget,
        )
        if wanted.settings.output_schema is not None:
            check_schema(wanted.settings.output_schema)
        launcher = Launcher(wanted.provider, wanted.settings, wanted.private_dir)
        with self._registry.starting(wanted.name, launcher.redactor()):
            avatars, router = self._root.supervisor("avatars"), self._actors.event_router
            actors = await start_avatar(avatars, wanted, self._actors.warden, router)
            avatar = Avatar(wanted.name, wanted.settings, actors, avatars, launcher)
            self._registry.add(avatar)
        return avatar

    def avatars(self) -> list[Avatar]:
        """The avatars that are up."""
        return self._registry.up()

    async def spent(self) -> Usage:
        """What all its avatars have used, including those that are gone."""
        return await ask_runtime_budget(self._actors.runtime_budget, TotalSpent())

    @checked
    async def raise_budget(self, budget: Budget) -> None:
        """Replace the budget of all avatars together; what was spent stays spent."""
        await ask_runtime_budget(self._actors.runtime_budget, RaiseBudget(budget))

    @checked
    @asynccontextmanager
    async def events(
        self, *kinds: type[AvatarEvent], capacity: PositiveCount = 4096
    ) -> AsyncGenerator[EventStream]:
        """Subscribe to all avatars, those to come included, until the runtime ends."""
        follow = Follow(EventStream(kinds=kinds, capacity=capacity))
        try:
            async with follow_all(self._actors.event_router, follow) as stream:
                yield stream
        except ActorDown as error:
            raise AvatarDown("the runtime has ended") from error

    @property
    def metrics(self) -> MetricsOffer | None:
        """Where the metrics are; None if `metrics` was not given."""
        return self._observers.metrics

    @property
    def tree_socket(self) -> Path | None:
        """The socket where other programs watch its tree; None unless it is `observable`."""
        return self._observers.tree_socket

    @property
    def dead_letters(self) -> int:
        """How many messages between its actors found nobody to read them, since it began."""
        return self._root.dead_letters

    def tree(self) -> TreeNode:
        """The whole supervision tree as it is now; `print()` it."""
        return self._root.tree()

    async def read_tree(self) -> TreeNode:
        """The same for hundreds of avatars: one after the other, while all go on."""
        return await self._root.read_tree()

    @staticmethod
    def tune_collector() -> None:
        """Make Python's garbage collector pause this process rarely and shortly.

        It holds for the whole process, so no runtime does it by itself: a host of many avatars
        calls it once. Turns leave no cyclic garbage, and 1,000 avatars are 700,000 objects: by
        Python's defaults up to half of the host's CPU goes into looking through them.
        """
        gc.set_threshold(*_COLLECTOR_THRESHOLDS)

    async def close_down(self, reason: str) -> None:
        """End all turns, as a first step of the stop."""
        async with trio.open_nursery() as nursery:
            for avatar in self.avatars():
                nursery.start_soon(avatar.close_down, reason)


@checked
@asynccontextmanager
async def open_runtime(**options: Unpack[RuntimeOptions]) -> AsyncGenerator[Runtime]:
    """Run avatars for the length of a block; leaving it stops them all and leaves nothing."""
    warden_spec = ChildSpec("warden", warden, backoff=_WARDEN_BACKOFF)
    # The books are made here: a next life with empty ones would lie about what was spent.
    keeping = partial(runtime_budget, books=Books(options.get("budget", Budget())))
    budget_spec = ChildSpec("runtime budget", keeping)
    first = [warden_spec, budget_spec]
    async with AsyncExitStack() as stack:
        with _explained():
            private_root = stack.enter_context(open_private_root())
            observers = await stack.enter_async_context(open_observers(options, private_root))
            root = await stack.enter_async_context(
                open_supervisor("runtime", intensity=_WARDEN_LIVES, period=1.0, children=first)
            )
        # Before the avatars, so that observers see the last of them leave.
        registry = AvatarRegistry(observers.secrets)
        routing = partial(
            event_router, notices=root.notices, tree=root.tree, let_go=registry.let_go
        )
        router = await root.start(ChildSpec("event router", routing))
        await observers.start(root, router)
        most = options.get("max_avatars")
        await root.start(SupervisorSpec("avatars", strategy=Strategy.DYNAMIC, max_children=most))
        actors = RuntimeActors(root.address(warden_spec), router, root.address(budget_spec))
        runtime = Runtime(root, actors, private_root, observers, registry)
        try:
            yield runtime
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + 1):
                await runtime.close_down("the runtime stops")


@checked
@asynccontextmanager
async def open_avatar(
    provider: str | Provider = "embedded", name: AvatarName = "", **options: Unpack[AvatarOptions]
) -> AsyncGenerator[Avatar]:
    """Run one avatar for the length of a block, in a runtime of its own."""
    async with open_runtime() as runtime:
        yield await runtime.start(provider, name, **options)


@contextmanager
def _explained() -> Generator[None]:
    """Turn what keeps a runtime from starting into this package's own errors."""
    try:
        yield
    except PrivateRootRefused as error:
        raise SettingsError(str(error)) from error
    except (StartFailed, OSError) as error:
        cause: BaseException = error
        while isinstance(cause, StartFailed) and cause.__cause__ is not None:
            cause = cause.__cause__
        advice = "Look at this program's limits (ulimit -a), and at XDG_RUNTIME_DIR and TMPDIR."
        raise AvatarStartError(f"the runtime could not start: {cause}", advice) from error
