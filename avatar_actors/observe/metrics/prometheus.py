"""The figures in prometheus_client: a registry of the runtime's own, or the host's."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterable, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from avatar_actors.avatar.runtime_messages import HeraldMessage
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.host_settings import MetricsSettings
from avatar_actors.observe.metrics import catalogue
from avatar_actors.observe.metrics.catalogue import BUCKETS, METRICS, OF_THE_TREE, Kind
from avatar_actors.observe.metrics.collector import Sources, collector
from avatar_actors.observe.metrics.endpoint import Endpoint, open_endpoint
from avatar_actors.observe.metrics.offer import MetricsOffer
from avatar_actors.observe.metrics.open import Actor
from avatar_actors.observe.metrics.tally import COUNTED, Tally
from avatar_actors.observe.metrics.tree_figures import TreeFigures
from supervisors import Address, Supervisor


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
        """Show it in the registry."""
        try:
            self.registry.register(each)
        except ValueError as error:
            self.__exit__()
            words = "metrics.registry has the metrics of another runtime already"
            raise SettingsError(f"{words}; give each runtime a registry of its own") from error
        self._collectors.append(each)

    def add(self, metric: catalogue.Metric, amount: float, **labels: str) -> None:
        """A counter grows."""
        self._counters[metric.name].labels(**labels).inc(amount)

    def observe(self, metric: catalogue.Metric, value: float, **labels: str) -> None:
        """One more value of a histogram."""
        self._histograms[metric.name].labels(**labels).observe(value)

    def set(self, metric: catalogue.Metric, value: float) -> None:
        """A gauge stands here now."""
        self._gauges[metric.name].set(value)

    def _made(self, metric: catalogue.Metric) -> MetricWrapperBase:
        name, words, labels, unit = metric.name, help_of(metric), metric.labels, unit_of(metric)
        if metric.kind is Kind.COUNTER:
            counter = Counter(name, words, labels, unit=unit, registry=None)
            self._counters[name] = counter
            return counter
        if metric.kind is Kind.GAUGE:
            gauge = Gauge(name, words, labels, unit=unit, registry=None)
            self._gauges[name] = gauge
            return gauge
        histogram = Histogram(name, words, labels, unit=unit, registry=None, buckets=BUCKETS)
        self._histograms[name] = histogram
        return histogram


class PrometheusMetering:
    """Who keeps the figures, and who serves them."""

    def __init__(self, meters: PrometheusMeters, endpoint: Endpoint | None) -> None:
        self._meters, self._endpoint = meters, endpoint

    @property
    def offer(self) -> MetricsOffer:
        """Registry and address."""
        url = self._endpoint.url if self._endpoint is not None else ""
        return MetricsOffer(url=url, registry=self._meters.registry)

    def actors(self, root: Supervisor, herald: Address[HeraldMessage]) -> Mapping[str, Actor]:
        """The collector, and the endpoint if one is wanted."""
        self._meters.register(_TreeCollector(TreeFigures(root.tree)))
        sources = Sources(herald, root.notices, COUNTED)
        counting = partial(collector, sources=sources, tally=Tally(self._meters))
        actors: dict[str, Actor] = {"metrics collector": counting}
        if self._endpoint is not None:
            actors["metrics endpoint"] = self._endpoint.serve
        return actors


class _TreeCollector(Collector):
    """Reads the tree at the moment of a scrape."""

    def __init__(self, figures: TreeFigures) -> None:
        self._figures = figures

    def describe(self) -> Iterable[Metric]:
        """What it will collect, without a look at the tree."""
        return [_family(metric) for metric in OF_THE_TREE]

    def collect(self) -> Iterable[Metric]:
        """The figures now."""
        now = self._figures.now()
        sessions, depth = _family(catalogue.SESSIONS), _family(catalogue.DEPTH)
        sessions.add_metric([], now.sessions)
        for part, waiting in now.depths.items():
            depth.add_metric([part], waiting)
        return [sessions, depth]


def help_of(metric: catalogue.Metric) -> str:
    """Its meaning, with the unit: not every format has a line for that."""
    return f"{metric.meaning} [{metric.unit}]"


def unit_of(metric: catalogue.Metric) -> str:
    """The unit as OpenMetrics knows it: only one that the name ends with."""
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
