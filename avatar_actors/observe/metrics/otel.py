"""The figures and spans in OpenTelemetry, by its API, to the providers that the host has set up."""

from __future__ import annotations

from collections import Counter as Counted
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from functools import partial

from opentelemetry.metrics import (
    CallbackOptions,
    Counter,
    Histogram,
    Meter,
    Observation,
    _Gauge,
    get_meter,
)
from opentelemetry.trace import get_tracer

from avatar_actors import __version__
from avatar_actors.avatar.messages import EventRouterMessage
from avatar_actors.observe.metrics import catalogue
from avatar_actors.observe.metrics.catalogue import (
    BUCKETS,
    METRICS,
    OF_THE_TREE,
    Metric,
    MetricBehaviour,
)
from avatar_actors.observe.metrics.collector import Sources, TreeFigures, collector
from avatar_actors.observe.metrics.gen_ai import SEEN, GenAi
from avatar_actors.observe.metrics.open import Actor, MetricsOffer
from avatar_actors.observe.metrics.tally import COUNTED, MetricsAccount
from supervisors import Address, Supervisor

_SCOPE = "avatar_actors"
# An observable instrument is made once per process and never goes, so it asks whoever is here.
_TREES: list[TreeFigures] = []


@contextmanager
def open_otel() -> Generator[OtelMetering]:
    """For the length of a block; at its end no span is open."""
    metering = OtelMetering()
    try:
        yield metering
    finally:
        metering.close()


class OtelMeters:
    """The instruments, under their names with dots."""

    def __init__(self, meter: Meter) -> None:
        self._counters: dict[str, Counter] = {}
        self._gauges: dict[str, _Gauge] = {}
        self._histograms: dict[str, Histogram] = {}
        for metric in METRICS:
            if metric not in OF_THE_TREE:
                self._make(meter, metric)

    def add(self, metric: Metric, amount: float, **labels: str) -> None:
        """A counter grows."""
        self._counters[metric.name].add(amount, labels)

    def observe(self, metric: Metric, value: float, **labels: str) -> None:
        """One more value of a histogram."""
        self._histograms[metric.name].record(value, labels)

    def set(self, metric: Metric, value: float) -> None:
        """A gauge stands here now."""
        self._gauges[metric.name].set(value)

    def _make(self, meter: Meter, metric: Metric) -> None:
        name, unit, words = dotted(metric), f"{{{metric.unit}}}", metric.meaning
        if metric.kind is MetricBehaviour.COUNTER:
            self._counters[metric.name] = meter.create_counter(name, unit, words)
        elif metric.kind is MetricBehaviour.GAUGE:
            self._gauges[metric.name] = meter.create_gauge(name, unit, words)
        else:
            self._histograms[metric.name] = meter.create_histogram(
                name, "s", words, explicit_bucket_boundaries_advisory=BUCKETS
            )


class OtelMetering:
    """Who keeps figures and spans."""

    def __init__(self) -> None:
        meter = get_meter(_SCOPE, __version__)
        self._meters = OtelMeters(meter)
        self._gen_ai = GenAi(get_tracer(_SCOPE, __version__), meter)
        self._tree: TreeFigures | None = None
        for metric, observe in ((catalogue.SESSIONS, _sessions), (catalogue.DEPTH, _depths)):
            unit = f"{{{metric.unit}}}"
            meter.create_observable_gauge(dotted(metric), [observe], unit, metric.meaning)

    @property
    def offer(self) -> MetricsOffer:
        """Nothing: the host has its own exporter."""
        return MetricsOffer()

    def actors(
        self, root: Supervisor, event_router: Address[EventRouterMessage]
    ) -> Mapping[str, Actor]:
        """The collector, which keeps the spans too."""
        self._tree = TreeFigures(root.tree)
        _TREES.append(self._tree)
        sources = Sources(event_router, root.notices, (*COUNTED, *SEEN))
        tally, others = MetricsAccount(self._meters), (self._gen_ai,)
        counting = partial(collector, sources=sources, tally=tally, others=others)
        return {"metrics collector": counting}

    def close(self) -> None:
        """End what is open."""
        if self._tree is not None:
            _TREES.remove(self._tree)
        self._gen_ai.close()


def dotted(metric: Metric) -> str:
    """Its name in OpenTelemetry: avatar_requests_total is avatar.requests."""
    return metric.name.removesuffix("_total").replace("_", ".", 1)


def _sessions(_: CallbackOptions) -> Iterable[Observation]:
    return [Observation(sum(tree.now().sessions for tree in _TREES))]


def _depths(_: CallbackOptions) -> Iterable[Observation]:
    depths = Counted[str]()
    for tree in tuple(_TREES):
        depths.update(tree.now().depths)
    return [Observation(waiting, {"part": part}) for part, waiting in depths.items()]
