"""Exports metrics and spans by OpenTelemetry's API, to the providers that the host has set up.

Spans follow the conventions for generative AI, without content:
https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-agent-spans/
"""

from __future__ import annotations

import time
from collections import Counter as Counted
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from functools import partial, singledispatchmethod

from opentelemetry.context import Context
from opentelemetry.metrics import (
    CallbackOptions,
    Counter,
    Histogram,
    Meter,
    Observation,
    _Gauge,
    get_meter,
)
from opentelemetry.trace import (
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    Tracer,
    get_tracer,
    set_span_in_context,
)

from avatar_actors import __version__
from avatar_actors.avatar.messages import EventRouterMessage
from avatar_actors.model.events import (
    AvatarEvent,
    SessionInfoEvent,
    ToolEvent,
    TurnEndedEvent,
    TurnStartedEvent,
)
from avatar_actors.model.values import Outcome, ToolStatus, Usage
from avatar_actors.observe.metrics import catalogue
from avatar_actors.observe.metrics.account import COUNTED, MetricsAccount
from avatar_actors.observe.metrics.catalogue import (
    BUCKETS,
    METRICS,
    OF_THE_TREE,
    Metric,
    MetricBehaviour,
)
from avatar_actors.observe.metrics.collector import (
    Actor,
    MetricsOffer,
    Sources,
    TreeFigures,
    collector,
)
from supervisors import Address, Crashed, Notice, Stopped, Stuck, Supervisor

_SCOPE = "avatar_actors"
# An observable instrument is made once per process and for good, so it asks every open runtime.
_TREES: list[TreeFigures] = []


@contextmanager
def open_otel() -> Generator[OtelMetering]:
    """Export for the length of a block; at its end no span is open."""
    metering = OtelMetering()
    try:
        yield metering
    finally:
        metering.close()


class OtelMeters:
    """The instruments, under names with dots."""

    def __init__(self, meter: Meter) -> None:
        self._counters: dict[str, Counter] = {}
        self._gauges: dict[str, _Gauge] = {}
        self._histograms: dict[str, Histogram] = {}
        for metric in METRICS:
            if metric not in OF_THE_TREE:
                self._make(meter, metric)

    def add(self, metric: Metric, amount: float, **labels: str) -> None:
        """Increase a counter."""
        self._counters[metric.name].add(amount, labels)

    def observe(self, metric: Metric, value: float, **labels: str) -> None:
        """Record a value in a histogram."""
        self._histograms[metric.name].record(value, labels)

    def set(self, metric: Metric, value: float) -> None:
        """Set a gauge."""
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
    """Updates metrics and spans."""

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

    def actors(self, root: Supervisor, router: Address[EventRouterMessage]) -> Mapping[str, Actor]:
        """The collector, which updates the spans too."""
        self._tree = TreeFigures(root.tree)
        _TREES.append(self._tree)
        sources = Sources(router, root.notices, (*COUNTED, *SEEN))
        account, others = MetricsAccount(self._meters), (self._gen_ai,)
        counting = partial(collector, sources=sources, account=account, others=others)
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


SEEN = (TurnStartedEvent, TurnEndedEvent, ToolEvent, SessionInfoEvent)
# The conventions' names for the makers of models; others keep their own.
_MAKERS = {"claude": "anthropic", "gemini": "gcp.gemini", "codex": "openai"}
_NOT_FAILED = {Outcome.COMPLETED, Outcome.CANCELLED}
_NANOSECONDS = 1_000_000_000
_AVATAR = 3


class GenAi:
    """The open spans: one for each turn, and below it one for each tool call."""

    def __init__(self, tracer: Tracer, meter: Meter) -> None:
        self._tracer = tracer
        self._duration = meter.create_histogram(
            "gen_ai.client.operation.duration",
            unit="s",
            description="GenAI operation duration.",
            explicit_bucket_boundaries_advisory=BUCKETS,
        )
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            unit="{token}",
            description="Number of input and output tokens used.",
        )
        self._models: dict[str, str] = {}
        self._turns: dict[tuple[str, int], Span] = {}
        self._tools: dict[tuple[str, int, str], Span] = {}

    def event(self, event: AvatarEvent) -> None:
        """Update the spans; most events change nothing."""
        self._take(event)

    def notice(self, notice: Notice) -> None:
        """End the spans of an avatar that has ended."""
        path = notice.path.split("/")
        if isinstance(notice, Stopped | Crashed | Stuck) and len(path) == _AVATAR:
            self._models.pop(path[-1], None)
            self._abandon(path[-1])

    def close(self) -> None:
        """End all spans."""
        for avatar in {key[0] for key in self._turns}:
            self._abandon(avatar)

    @singledispatchmethod
    def _take(self, event: AvatarEvent) -> None:
        pass

    @_take.register
    def _informed(self, event: SessionInfoEvent) -> None:
        if event.model:
            self._models[event.avatar] = event.model

    @_take.register
    def _started(self, event: TurnStartedEvent) -> None:
        attributes = {
            **_who(event),
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": event.avatar,
        }
        if model := self._models.get(event.avatar):
            attributes["gen_ai.request.model"] = model
        self._turns[event.avatar, event.turn_id] = self._tracer.start_span(
            f"invoke_agent {event.avatar}",
            context=_callers_context(event.trace_parent),
            kind=SpanKind.CLIENT,
            attributes=attributes,
            start_time=_nanoseconds(event),
        )

    @_take.register
    def _tool(self, event: ToolEvent) -> None:
        key = event.avatar, event.turn_id, event.tool_id
        if key not in self._tools:
            # A finished call may be reported again; without its turn there is nothing to add to.
            if event.status.is_over or key[:2] not in self._turns:
                return
            self._tools[key] = self._tool_span(event, self._turns[key[:2]])
        if event.status.is_over:
            span = self._tools.pop(key)
            if event.status in {ToolStatus.FAILED, ToolStatus.UNKNOWN}:
                _fail(span, event.status.value)
            span.end(_nanoseconds(event))

    @_take.register
    def _ended(self, event: TurnEndedEvent) -> None:
        if event.duration > 0:
            self._measure(event)
        span = self._close((event.avatar, event.turn_id), _nanoseconds(event))
        if span is None:
            return
        if event.session_id:
            span.set_attribute("gen_ai.conversation.id", event.session_id)
        span.set_attribute("gen_ai.response.finish_reasons", [event.outcome.value])
        span.set_attributes(_used(event.usage))
        if event.outcome not in _NOT_FAILED:
            _fail(span, event.outcome.value)
        span.end(_nanoseconds(event))

    def _close(self, turn: tuple[str, int], at: int) -> Span | None:
        """End the spans of its tools and return its own, still open."""
        for key in [key for key in self._tools if key[:2] == turn]:
            self._tools.pop(key).end(at)
        return self._turns.pop(turn, None)

    def _abandon(self, avatar: str) -> None:
        for turn in [turn for turn in self._turns if turn[0] == avatar]:
            span = self._close(turn, time.time_ns())
            if span is not None:
                _fail(span, "abandoned")
                span.end()

    def _measure(self, event: TurnEndedEvent) -> None:
        about = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": _who(event)["gen_ai.provider.name"],
        }
        self._duration.record(event.duration, about)
        used = {"input": event.usage.input_tokens, "output": event.usage.output_tokens}
        for kind, tokens in used.items():
            if tokens:
                self._tokens.record(tokens, {**about, "gen_ai.token.type": kind})

    def _tool_span(self, event: ToolEvent, turn: Span) -> Span:
        attributes = {
            **_who(event),
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": event.tool_name,
            "gen_ai.tool.call.id": event.tool_id,
        }
        return self._tracer.start_span(
            f"execute_tool {event.tool_name}",
            context=set_span_in_context(turn),
            kind=SpanKind.INTERNAL,
            attributes=attributes,
            start_time=_nanoseconds(event),
        )


def _callers_context(trace_parent: str) -> Context:
    """A context in which the caller's span is the present one, or none is."""
    if not trace_parent:
        return Context()
    _, trace_id, span_id, flags = trace_parent.split("-")
    parent = SpanContext(
        int(trace_id, 16), int(span_id, 16), is_remote=False, trace_flags=TraceFlags(int(flags, 16))
    )
    return set_span_in_context(NonRecordingSpan(parent), Context())


def _who(event: AvatarEvent) -> dict[str, str]:
    # gen_ai.system is what gen_ai.provider.name was called before.
    maker = _MAKERS.get(event.provider, event.provider)
    return {"gen_ai.provider.name": maker, "gen_ai.system": maker}


def _used(usage: Usage) -> dict[str, int | float]:
    used: dict[str, int | float] = {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
    }
    return used if usage.cost_usd is None else {**used, "avatar.cost_usd": usage.cost_usd}


def _fail(span: Span, kind: str) -> None:
    # The kind alone, since reasons quote what agents print.
    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR, kind))


def _nanoseconds(event: AvatarEvent) -> int:
    return int(event.timestamp * _NANOSECONDS)
