"""Turns and tools as OpenTelemetry's conventions for generative AI have them, without content.

https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-agent-spans/
"""

from __future__ import annotations

import time
from functools import singledispatchmethod

from opentelemetry.metrics import Meter
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, set_span_in_context

from avatar_actors.model.events import (
    AvatarEvent,
    SessionInfoEvent,
    ToolEvent,
    TurnEndedEvent,
    TurnStartedEvent,
)
from avatar_actors.model.values import Outcome, ToolStatus, Usage
from avatar_actors.observe.metrics.catalogue import BUCKETS
from supervisors import Crashed, Notice, Stopped, Stuck

SEEN = (TurnStartedEvent, TurnEndedEvent, ToolEvent, SessionInfoEvent)
# The names that the conventions have for who makes the models; others go by their own.
_MAKERS = {"claude": "anthropic", "gemini": "gcp.gemini", "codex": "openai"}
_AS_WISHED = {Outcome.COMPLETED, Outcome.CANCELLED}
_NANOSECONDS = 1_000_000_000
_AVATAR = 3


class GenAi:
    """What is open: a span for each turn, and below it one for each tool call."""

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
        """Take it into account; most events change nothing."""
        self._take(event)

    def notice(self, notice: Notice) -> None:
        """Of an avatar that has ended nothing more will be heard."""
        path = notice.path.split("/")
        if isinstance(notice, Stopped | Crashed | Stuck) and len(path) == _AVATAR:
            self._models.pop(path[-1], None)
            self._abandon(path[-1])

    def close(self) -> None:
        """Nor of any, when the runtime has ended."""
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
            kind=SpanKind.CLIENT,
            attributes=attributes,
            start_time=_nanoseconds(event),
        )

    @_take.register
    def _tool(self, event: ToolEvent) -> None:
        key = event.avatar, event.turn_id, event.tool_id
        if key not in self._tools:
            # A call that is over may be told again; without its turn there is nothing to add to.
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
        if event.outcome not in _AS_WISHED:
            _fail(span, event.outcome.value)
        span.end(_nanoseconds(event))

    def _close(self, turn: tuple[str, int], at: int) -> Span | None:
        """Its span, still open; those of its tools are not."""
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
    # The kind alone: reasons quote what agents print.
    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR, kind))


def _nanoseconds(event: AvatarEvent) -> int:
    return int(event.timestamp * _NANOSECONDS)
