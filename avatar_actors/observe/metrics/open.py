"""Which way of collecting is wanted, loaded only then."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol

from avatar_actors.avatar.runtime_messages import HeraldMessage
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.host_settings import MetricsKind, MetricsSettings
from avatar_actors.observe.metrics.offer import MetricsOffer
from supervisors import Address, Inbox, Supervisor

Actor = Callable[[Inbox[Any]], Awaitable[None]]


class Metering(Protocol):
    """One way of collecting, opened."""

    @property
    def offer(self) -> MetricsOffer:
        """What the host gets to see of it."""
        ...

    def actors(self, root: Supervisor, herald: Address[HeraldMessage]) -> Mapping[str, Actor]:
        """Those who do it, by name."""
        ...


@asynccontextmanager
async def open_metering(settings: MetricsSettings | None) -> AsyncGenerator[Metering | None]:
    """For the length of a block; None if nobody wants any."""
    if settings is None:
        yield None
    elif settings.kind is MetricsKind.PROMETHEUS:
        from avatar_actors.observe.metrics.prometheus import open_prometheus  # noqa: PLC0415 - if chosen

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
