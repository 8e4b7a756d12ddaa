"""Exports the metrics by prometheus_client, and serves the page that Prometheus scrapes.

The library's own server knows neither a path nor a limit on idle connections, so ours stands here.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator, Generator, Iterable, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from io import BytesIO

import trio
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from avatar_actors.avatar.messages import EventRouterMessage
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import MetricsSettings
from avatar_actors.observe.metrics import catalogue
from avatar_actors.observe.metrics.account import COUNTED, MetricsAccount
from avatar_actors.observe.metrics.catalogue import BUCKETS, METRICS, OF_THE_TREE, MetricBehaviour
from avatar_actors.observe.metrics.collector import (
    Actor,
    MetricsOffer,
    Sources,
    TreeFigures,
    collector,
)
from avatar_actors.session.messages import Nothing
from supervisors import Address, Inbox, Supervisor

_LONGEST = 16 * 1024
_PATIENCE = 10.0
# Further scrapers wait in the kernel's backlog, where they cost no descriptor.
MOST_SCRAPERS = 32
_ALLOWED = ("GET", "HEAD")


@asynccontextmanager
async def open_endpoint(
    settings: MetricsSettings, registry: CollectorRegistry
) -> AsyncGenerator[Endpoint]:
    """Listen on the port for the length of a block; SettingsError if it cannot be opened."""
    listener = await _listen(settings)
    try:
        yield Endpoint(listener, settings, registry)
    finally:
        listener.close()


class Endpoint:
    """A listening socket, which outlives a crash of the actor that serves it."""

    def __init__(
        self, listener: socket.socket, settings: MetricsSettings, registry: CollectorRegistry
    ) -> None:
        self._listener, self._path, self._registry = listener, settings.endpoint, registry
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        self.url = f"http://{host}:{listener.getsockname()[1]}{settings.endpoint}"

    async def serve(self, inbox: Inbox[Nothing]) -> None:
        """Answer each connection in a task of its own."""
        listener = _BoundedListener(self._listener.dup(), MOST_SCRAPERS)
        inbox.ready()
        async with listener:
            await trio.serve_listeners(partial(self._answer, listener.slots), [listener])

    async def _answer(self, slots: trio.Semaphore, stream: trio.SocketStream) -> None:
        try:
            with suppress(trio.BrokenResourceError), trio.move_on_after(_PATIENCE):
                async with stream:
                    await stream.send_all(await self._response(await _head(stream)))
        finally:
            slots.release()

    async def _response(self, head: bytes) -> bytes:
        request = _Request(head)
        if not request.is_sound:
            return request.answer
        if request.path.partition("?")[0] != self._path:
            return request.replied(HTTPStatus.NOT_FOUND, f"the metrics are at {self._path}\n")
        if request.command not in _ALLOWED:
            return request.replied(HTTPStatus.METHOD_NOT_ALLOWED, "only GET and HEAD\n")
        encode, kind = choose_encoder(request.headers.get("Accept", ""))
        page = await trio.to_thread.run_sync(encode, self._registry, abandon_on_cancel=True)
        return request.replied(HTTPStatus.OK, page.decode(), kind)


class _BoundedListener(trio.abc.Listener[trio.SocketStream]):
    """Accepts at most so many connections at a time; each releases its slot at its end."""

    def __init__(self, listener: socket.socket, most: int) -> None:
        self._listener = trio.SocketListener(trio.socket.from_stdlib_socket(listener))
        self.slots = trio.Semaphore(most)

    async def accept(self) -> trio.SocketStream:
        """The next connection."""
        await self.slots.acquire()
        try:
            return await self._listener.accept()
        except BaseException:
            self.slots.release()
            raise

    async def aclose(self) -> None:
        """Close the listening socket."""
        await self._listener.aclose()


class _Request(BaseHTTPRequestHandler):
    """One request, which the standard library parses from bytes instead of a socket."""

    server_version = "avatar-actors"
    sys_version = ""

    def __init__(self, head: bytes) -> None:
        self._written = BytesIO()
        self.rfile, self.wfile = BytesIO(head), self._written
        self.command, self.path, self.requestline = "", "", ""
        self.request_version = self.default_request_version
        self.raw_requestline = self.rfile.readline(_LONGEST)
        self.is_sound = bool(self.raw_requestline.strip()) and self.parse_request()

    @property
    def answer(self) -> bytes:
        """What was written so far."""
        return self._written.getvalue()

    def replied(
        self, status: HTTPStatus, body: str, kind: str = "text/plain; charset=utf-8"
    ) -> bytes:
        """The whole response; the connection is closed after it."""
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Connection", "close")
        if status is HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", ", ".join(_ALLOWED))
        self.end_headers()
        return self.answer + (b"" if self.command == "HEAD" else data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Scrapes are not logged."""


async def _head(stream: trio.SocketStream) -> bytes:
    """The request up to the blank line; of one that is too long only the beginning."""
    data = b""
    while b"\r\n\r\n" not in data and b"\n\n" not in data and len(data) < _LONGEST:
        more = await stream.receive_some(_LONGEST)
        if not more:
            break
        data += more
    return data


async def _listen(settings: MetricsSettings) -> socket.socket:
    host, port = settings.host, settings.port or 0
    try:
        [listener, *others] = await trio.open_tcp_listeners(port, host=host)
    except OSError as error:
        words = f"metrics.port: {host}:{port} cannot be opened: {error.strerror or error}"
        raise SettingsError(f"{words}; choose another port, or 0 for a free one") from error
    for other in others:
        await other.aclose()
    ours = socket.socket(fileno=listener.socket.detach())
    ours.setblocking(False)
    return ours


@asynccontextmanager
async def open_prometheus(settings: MetricsSettings) -> AsyncGenerator[PrometheusMetering]:
    """Registry and port for the length of a block."""
    with _registry(settings) as registry, PrometheusMeters(registry) as meters:
        if settings.port is None:
            yield PrometheusMetering(meters, None)
        else:
            async with open_endpoint(settings, registry) as endpoint:
                yield PrometheusMetering(meters, endpoint)


class PrometheusMeters:
    """The registered metrics; they leave the registry with the runtime."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        self._collectors: list[Collector] = []
        self._counters: dict[str, Counter] = {}
        self._gauges: dict[str, Gauge] = {}
        self._histograms: dict[str, Histogram] = {}

    def __enter__(self) -> PrometheusMeters:
        for metric in METRICS:
            if metric not in OF_THE_TREE:
                self.register(self._made(metric))
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._collectors:
            self.registry.unregister(each)

    def register(self, each: Collector) -> None:
        """Add it to the registry."""
        try:
            self.registry.register(each)
        except ValueError as error:
            self.__exit__()
            words = "metrics.registry has the metrics of another runtime already"
            raise SettingsError(f"{words}; give each runtime a registry of its own") from error
        self._collectors.append(each)

    def add(self, metric: catalogue.Metric, amount: float, **labels: str) -> None:
        """Increase a counter."""
        self._counters[metric.name].labels(**labels).inc(amount)

    def observe(self, metric: catalogue.Metric, value: float, **labels: str) -> None:
        """Record a value in a histogram."""
        self._histograms[metric.name].labels(**labels).observe(value)

    def set(self, metric: catalogue.Metric, value: float) -> None:
        """Set a gauge."""
        self._gauges[metric.name].set(value)

    def _made(self, metric: catalogue.Metric) -> MetricWrapperBase:
        name, words, labels, unit = metric.name, help_of(metric), metric.labels, unit_of(metric)
        if metric.kind is MetricBehaviour.COUNTER:
            counter = Counter(name, words, labels, unit=unit, registry=None)
            self._counters[name] = counter
            return counter
        if metric.kind is MetricBehaviour.GAUGE:
            gauge = Gauge(name, words, labels, unit=unit, registry=None)
            self._gauges[name] = gauge
            return gauge
        histogram = Histogram(name, words, labels, unit=unit, registry=None, buckets=BUCKETS)
        self._histograms[name] = histogram
        return histogram


class PrometheusMetering:
    """Updates the metrics and serves them."""

    def __init__(self, meters: PrometheusMeters, endpoint: Endpoint | None) -> None:
        self._meters, self._endpoint = meters, endpoint

    @property
    def offer(self) -> MetricsOffer:
        """Registry and address."""
        url = self._endpoint.url if self._endpoint is not None else ""
        return MetricsOffer(url=url, registry=self._meters.registry)

    def actors(self, root: Supervisor, router: Address[EventRouterMessage]) -> Mapping[str, Actor]:
        """The collector, and the endpoint if one is wanted."""
        self._meters.register(_TreeCollector(TreeFigures(root.tree)))
        sources = Sources(router, root.notices, COUNTED)
        counting = partial(collector, sources=sources, account=MetricsAccount(self._meters))
        actors: dict[str, Actor] = {"metrics collector": counting}
        if self._endpoint is not None:
            actors["metrics endpoint"] = self._endpoint.serve
        return actors


class _TreeCollector(Collector):
    """Reads the tree when it is scraped."""

    def __init__(self, figures: TreeFigures) -> None:
        self._figures = figures

    def describe(self) -> Iterable[Metric]:
        """Its metrics, without reading the tree."""
        return [_family(metric) for metric in OF_THE_TREE]

    def collect(self) -> Iterable[Metric]:
        """Their values now."""
        now = self._figures.now()
        sessions, depth = _family(catalogue.SESSIONS), _family(catalogue.DEPTH)
        sessions.add_metric([], now.sessions)
        for part, waiting in now.depths.items():
            depth.add_metric([part], waiting)
        return [sessions, depth]


def help_of(metric: catalogue.Metric) -> str:
    """Its meaning and its unit, for which not every format has a line."""
    return f"{metric.meaning} [{metric.unit}]"


def unit_of(metric: catalogue.Metric) -> str:
    """The unit, if the name ends with it, as OpenMetrics requires."""
    is_named = metric.name.removesuffix("_total").endswith(f"_{metric.unit}")
    return metric.unit if is_named else ""


def _family(metric: catalogue.Metric) -> GaugeMetricFamily:
    return GaugeMetricFamily(
        metric.name, help_of(metric), labels=metric.labels, unit=unit_of(metric)
    )


@contextmanager
def _registry(settings: MetricsSettings) -> Generator[CollectorRegistry]:
    registry = settings.registry if settings.registry is not None else CollectorRegistry()
    if not isinstance(registry, CollectorRegistry):
        words = "metrics.registry must be a prometheus_client.CollectorRegistry"
        raise SettingsError(f"{words}; got {type(registry).__name__}")
    yield registry
