"""Who looks on at a runtime besides its host: the log and the metrics, without its secrets."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from functools import partial

from avatar_actors.actors.chronicler import chronicler
from avatar_actors.avatar import Wanted
from avatar_actors.host_settings import LogSettings, RuntimeOptions
from avatar_actors.launching import Launcher
from avatar_actors.log_redaction import SecretsFilter, hiding_secrets
from avatar_actors.metrics.offer import MetricsOffer
from avatar_actors.metrics.opening import Metering, open_metering
from avatar_actors.runtime_messages import HeraldMessage
from supervisors import Address, Backoff, ChildSpec, Supervisor

# An observer that keeps crashing is a nuisance to nobody.
_BACKOFF = Backoff(minimum=0.01, maximum=10.0, factor=4.0, reset_after=10.0)


class Observers:
    """Those of one runtime."""

    def __init__(self, secrets: SecretsFilter, metering: Metering | None) -> None:
        self.secrets = secrets
        self._metering = metering

    @property
    def metrics(self) -> MetricsOffer | None:
        """Where the figures are, if they are wanted."""
        return self._metering.offer if self._metering is not None else None

    def meet(self, wanted: Wanted, present: Collection[str]) -> None:
        """An avatar is about to start: what is secret of it, the log must not show."""
        launcher = Launcher(wanted.provider, wanted.settings, wanted.private_dir)
        self.secrets.learn(wanted.name, launcher.redactor(), present)

    async def start(self, root: Supervisor, herald: Address[HeraldMessage]) -> None:
        """Their actors, before the first avatar comes."""
        telling = partial(chronicler, herald=herald)
        await root.start(ChildSpec("chronicler", telling, backoff=_BACKOFF))
        if self._metering is not None:
            for name, actor in self._metering.actors(root, herald).items():
                await root.start(ChildSpec(name, actor, backoff=_BACKOFF))


@asynccontextmanager
async def open_observers(options: RuntimeOptions) -> AsyncGenerator[Observers]:
    """What they need from outside the tree: log file, port, registry. SettingsError if it fails."""
    with hiding_secrets() as secrets:
        async with (
            _open_log(options.get("log"), secrets),
            open_metering(options.get("metrics")) as metering,
        ):
            yield Observers(secrets, metering)


@asynccontextmanager
async def _open_log(settings: LogSettings | None, secrets: SecretsFilter) -> AsyncGenerator[None]:
    if settings is None:
        yield
    else:
        from avatar_actors.log_output import open_log  # noqa: PLC0415 - with pickle and sockets

        async with open_log(settings, secrets):
            yield
