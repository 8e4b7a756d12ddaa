"""Opens a runtime's observers (log, metrics, tree socket) and keeps secrets out of them."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import (
    AbstractAsyncContextManager,
    ExitStack,
    asynccontextmanager,
    contextmanager,
)
from functools import partial
from pathlib import Path

import trio

from avatar_actors.avatar.actor_client import follow_all
from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.messages import EventRouterMessage, Follow
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import LogSettings, MetricsKind, MetricsSettings, RuntimeOptions
from avatar_actors.observe.event_logger import event_logger
from avatar_actors.observe.log_lines import SecretsFilter, hiding_secrets
from avatar_actors.observe.metrics.collector import Metering, MetricsOffer
from avatar_actors.observe.tree.server import TreeSource, tree_endpoint
from avatar_actors.observe.tree.snapshot import HEARD, TreeRecord
from avatar_actors.processes import PrivateRootRefused, listening_for_watchers
from supervisors import Address, Backoff, ChildSpec, Supervisor

_NO_SCRIPT = ("", "-", "-c")
# An observer that keeps crashing must not disturb the runtime.
_BACKOFF = Backoff(minimum=0.01, maximum=10.0, factor=4.0, reset_after=10.0)


class Observers:
    """The observers of one runtime."""

    def __init__(
        self, secrets: SecretsFilter, metering: Metering | None, watchers: socket.socket | None
    ) -> None:
        self.secrets = secrets
        self._metering, self._watchers = metering, watchers

    @property
    def metrics(self) -> MetricsOffer | None:
        """Where the metrics are, if they are collected."""
        return self._metering.offer if self._metering is not None else None

    @property
    def tree_socket(self) -> Path | None:
        """The socket that shows the tree, if the runtime is observable."""
        return Path(self._watchers.getsockname()) if self._watchers is not None else None

    async def start(self, root: Supervisor, router: Address[EventRouterMessage]) -> None:
        """Start the observers' actors, before the first avatar."""
        telling = partial(event_logger, router=router)
        await root.start(ChildSpec("event logger", telling, backoff=_BACKOFF))
        if self._metering is not None:
            for name, actor in self._metering.actors(root, router).items():
                await root.start(ChildSpec(name, actor, backoff=_BACKOFF))
        if self._watchers is not None:
            showing = partial(tree_endpoint, source=_tree_source(self._watchers, root, router))
            await root.start(ChildSpec("tree endpoint", showing, backoff=_BACKOFF))


@asynccontextmanager
async def open_observers(options: RuntimeOptions, private_root: Path) -> AsyncGenerator[Observers]:
    """Open the log file, port and socket that observers need; SettingsError if one fails."""
    with hiding_secrets() as secrets, _listening(options, private_root) as watchers:
        async with (
            _open_log(options.get("log"), secrets),
            _open_metrics(options.get("metrics")) as metering,
        ):
            yield Observers(secrets, metering, watchers)


@asynccontextmanager
async def _open_log(settings: LogSettings | None, secrets: SecretsFilter) -> AsyncGenerator[None]:
    if settings is None:
        yield
    else:
        from avatar_actors.observe.log_output import open_log  # noqa: PLC0415 - with pickle and sockets

        async with open_log(settings, secrets):
            yield


@asynccontextmanager
async def _open_metrics(settings: MetricsSettings | None) -> AsyncGenerator[Metering | None]:
    if settings is None:
        yield None
    elif settings.kind is MetricsKind.PROMETHEUS:
        from avatar_actors.observe.metrics.prometheus import open_prometheus  # noqa: PLC0415 - only if it is chosen

        async with open_prometheus(settings) as prometheus:
            yield prometheus
    else:
        try:
            from avatar_actors.observe.metrics.otel import open_otel  # noqa: PLC0415 - an extra
        except ImportError as error:
            words = "metrics of the kind opentelemetry need a package that is not installed"
            raise SettingsError(f"{words}: pip install 'avatar-actors[otel]'") from error
        with open_otel() as otel:
            yield otel


@contextmanager
def _listening(options: RuntimeOptions, private_root: Path) -> Generator[socket.socket | None]:
    with ExitStack() as stack:
        listener = None
        if options.get("observable", False):
            try:
                listener = stack.enter_context(listening_for_watchers(private_root))
            except (PrivateRootRefused, OSError) as error:
                raise SettingsError(f"observable: no socket can be made: {error}") from error
        yield listener


def _tree_source(
    listener: socket.socket, root: Supervisor, router: Address[EventRouterMessage]
) -> TreeSource:
    def events() -> AbstractAsyncContextManager[EventStream]:
        return follow_all(router, Follow(EventStream(kinds=HEARD)))

    now = trio.current_time()
    return TreeSource(
        listener=listener,
        pid=os.getpid(),
        program=_program(),
        record=TreeRecord(now, time.time() - now),
        tree=root.read_tree,
        notices=root.notices,
        events=events,
    )


def _program() -> str:
    """The script's name, never its arguments: they may be private."""
    script = Path(sys.argv[0] if sys.argv else "")
    if script.name == "__main__.py":
        return script.parent.name
    return script.name if script.name not in _NO_SCRIPT else "python"
