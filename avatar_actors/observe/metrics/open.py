"""Which way of collecting is wanted, loaded only then, and where a host finds the figures."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from avatar_actors.avatar.messages import EventRouterMessage
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import MetricsKind, MetricsSettings
from supervisors import Address, Inbox, Supervisor

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


class MetricsOffer(Struct, frozen=True, kw_only=True):
    """`url` of the endpoint, empty if there is none; `registry` for an exporter of one's own."""

    url: str = ""
    registry: CollectorRegistry | None = None


Actor = Callable[[Inbox[Any]], Awaitable[None]]


class Metering(Protocol):
    """One way of collecting, opened."""

    @property
    def offer(self) -> MetricsOffer:
        """What the host gets to see of it."""
        ...

    def actors(
        self, root: Supervisor, event_router: Address[EventRouterMessage]
    ) -> Mapping[str, Actor]:
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
