"""Where a host finds the figures of its runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


class MetricsOffer(Struct, frozen=True, kw_only=True):
    """`url` of the endpoint, empty if there is none; `registry` for an exporter of one's own."""

    url: str = ""
    registry: CollectorRegistry | None = None
