"""OpenTelemetry's own SDK hears of turns and tools, by the conventions and without content."""

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import trio
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanContext, SpanKind, StatusCode

from avatar_actors import (
    AvatarEngine,
    AvatarOptions,
    MetricsKind,
    MetricsSettings,
    Outcome,
    RuntimeThread,
    TextEvent,
    TurnEndedEvent,
    open_runtime,
)
from avatar_actors.observe.metrics.catalogue import METRICS
from tests.fake_agents import launcher
from tests.processes.census import eventually
from tests.runtime.home import PATIENCE, Home, script, until

WANTED = MetricsSettings(kind=MetricsKind.OPENTELEMETRY)
WORDS = "what nobody should read in a trace"
TOOLS = (
    {"tool": "Read", "id": "r1", "input": {"path": WORDS}, "result": WORDS},
    {"tool": "Bash", "id": "b1", "input": {"command": WORDS}, "error": WORDS},
)
TURN = script(*TOOLS, {"usage": {"input": 5, "output": 6}, "cost": 0.25}, {"say": WORDS})


class Ears:
    """The providers of the process, as a host sets them up once."""

    def __init__(self) -> None:
        self._spans = InMemorySpanExporter()
        tracing = TracerProvider()
        tracing.add_span_processor(SimpleSpanProcessor(self._spans))
        trace.set_tracer_provider(tracing)
        self._reader = InMemoryMetricReader()
        metrics.set_meter_provider(MeterProvider([self._reader]))

    def spans(self, conversation: str = "") -> Sequence[ReadableSpan]:
        found = self._spans.get_finished_spans()
        return [each for each in found if not conversation or conversation in each.name]

    def points(self) -> dict[str, list[Any]]:
        data: Any = self._reader.get_metrics_data()
        scopes = [scope for each in data.resource_metrics for scope in each.scope_metrics]
        return {
            each.name: list(each.data.data_points) for scope in scopes for each in scope.metrics
        }


@cache
def ears() -> Ears:
    return Ears()


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


async def test_a_turn_and_its_tools_are_spans_of_the_conventions(home: Home) -> None:
    heard = ears()
    with trio.fail_after(PATIENCE):
        async with open_runtime(metrics=WANTED) as runtime:
            options: AvatarOptions = home.options(model="tiny-1")
            aria = await runtime.start(launcher.agent("claude"), "anna", **options)
            answer = await aria.chat(TURN)
            await eventually(lambda: heard.spans("invoke_agent anna"))
    [turn] = heard.spans("invoke_agent anna")
    assert turn.kind is SpanKind.CLIENT
    assert attributes(turn) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.system": "anthropic",
        "gen_ai.agent.name": "anna",
        "gen_ai.request.model": "tiny-1",
        "gen_ai.conversation.id": answer.session_id,
        "gen_ai.response.finish_reasons": ("completed",),
        "gen_ai.usage.input_tokens": 5,
        "gen_ai.usage.output_tokens": 6,
        "avatar.cost_usd": 0.25,
    }
    assert turn.status.status_code is StatusCode.UNSET
    tools = [each for each in heard.spans("execute_tool") if each.parent == turn.context]
    told = {attributes(each)["gen_ai.tool.name"]: each for each in tools}
    assert set(told) == {"Read", "Bash"}
    assert attributes(told["Read"])["gen_ai.operation.name"] == "execute_tool"
    assert told["Read"].status.status_code is StatusCode.UNSET
    assert told["Bash"].status.status_code is StatusCode.ERROR
    assert attributes(told["Bash"])["error.type"] == "failed"
    for span in (turn, *tools):
        assert WORDS not in span.to_json()
        assert (span.start_time or 0) <= (span.end_time or 0)


def parent_of(avatar: str) -> SpanContext | None:
    [turn] = ears().spans(f"invoke_agent {avatar}")
    return turn.parent


async def test_a_turn_is_a_child_of_the_callers_span_in_trio(home: Home) -> None:
    heard, tracer = ears(), trace.get_tracer("host")
    with trio.fail_after(PATIENCE):
        async with open_runtime(metrics=WANTED) as runtime:
            for name in ("emma", "frieda"):
                await runtime.start("embedded", name, **home.options())
            emma, frieda = runtime.avatars()
            with tracer.start_as_current_span("request") as request:
                await emma.chat(TURN)
            await frieda.chat(TURN)
            await eventually(lambda: heard.spans("invoke_agent frieda"))
    assert parent_of("emma") == request.get_span_context()
    assert parent_of("frieda") is None


async def test_a_turn_is_a_child_of_the_span_open_at_the_prompt_not_at_the_start(
    home: Home,
) -> None:
    heard, tracer = ears(), trace.get_tracer("host")
    with trio.fail_after(PATIENCE):
        with tracer.start_as_current_span("the program"):
            async with open_runtime(metrics=WANTED) as runtime:
                gerda = await runtime.start("embedded", "gerda", **home.options())
                with trace.use_span(trace.INVALID_SPAN):
                    await gerda.chat(TURN)
                await eventually(lambda: heard.spans("invoke_agent gerda"))
    assert parent_of("gerda") is None


def test_a_turn_is_a_child_of_the_callers_span_in_asyncio_and_threads(home: Home) -> None:
    heard, tracer = ears(), trace.get_tracer("host")
    parents: dict[str, SpanContext] = {}

    async def ask(engine: AvatarEngine, name: str) -> None:
        with tracer.start_as_current_span(name) as span:
            parents[name] = span.get_span_context()
            if name == "lola":
                assert [text async for text in engine.chat_stream(TURN)] == [WORDS]
            else:
                await engine.chat(TURN)

    async def both(first: AvatarEngine, second: AvatarEngine) -> None:
        await asyncio.gather(ask(first, "kira"), ask(second, "lola"))

    def ask_here(engine: AvatarEngine) -> None:
        with tracer.start_as_current_span("mona") as span:
            parents["mona"] = span.get_span_context()
            engine.chat_sync(TURN)

    with RuntimeThread(metrics=WANTED) as thread:
        kira, lola, mona = (
            AvatarEngine(name=name, runtime=thread, **home.options())
            for name in ("kira", "lola", "mona")
        )
        asyncio.run(both(kira, lola))
        with ThreadPoolExecutor(1) as pool:
            pool.submit(ask_here, mona).result(PATIENCE)
        for engine in (kira, lola, mona):
            engine.stop_sync()
    assert parents == {name: parent_of(name) for name in parents}
    assert heard.spans("invoke_agent mona")


async def test_a_crash_is_an_error_and_leaves_no_span_open(home: Home) -> None:
    heard = ears()
    with trio.fail_after(PATIENCE):
        async with open_runtime(metrics=WANTED) as runtime:
            aria = await runtime.start("embedded", "berta", **home.options())
            tool: dict[str, Any] = {"tool": "Bash", "id": "b", "input": {}, "leave": True}
            async with aria.turn(script(tool, {"say": "go"}, {"wait": 60})) as turn:
                await until(turn, TextEvent)
                await home.kill(aria)
                ended = await until(turn, TurnEndedEvent)
            assert ended.outcome is Outcome.CRASHED
            await eventually(lambda: heard.spans("invoke_agent berta"))
    [span] = heard.spans("invoke_agent berta")
    assert span.status.status_code is StatusCode.ERROR
    assert attributes(span)["error.type"] == "crashed"
    [tool_span] = [each for each in heard.spans("execute_tool") if each.parent == span.context]
    assert attributes(tool_span)["error.type"] == "unknown"


async def test_a_turn_that_the_end_of_the_runtime_cuts_short_has_its_span(home: Home) -> None:
    heard = ears()
    with trio.fail_after(PATIENCE):
        async with open_runtime(metrics=WANTED) as runtime, trio.open_nursery() as nursery:
            aria = await runtime.start("embedded", "carla", **home.options())
            async with aria.events(TextEvent) as texts:
                nursery.start_soon(aria.chat, script({"say": "go"}, {"wait": 60}))
                await anext(texts)
            nursery.cancel_scope.cancel()
    [span] = heard.spans("invoke_agent carla")
    assert attributes(span)["gen_ai.response.finish_reasons"] == ("cancelled",)


async def test_the_figures_are_told_too(home: Home) -> None:
    heard = ears()
    with trio.fail_after(PATIENCE):
        async with open_runtime(metrics=WANTED) as runtime:
            aria = await runtime.start("embedded", "dora", **home.options())
            await aria.chat(TURN)
            await eventually(lambda: heard.spans("invoke_agent dora"))
            points = heard.points()
            names = {each.name.removesuffix("_total").replace("_", ".", 1) for each in METRICS}
            seldom = {"avatar.restarts", "avatar.stalls", "avatar.orphans_reaped"}
            seldom |= {"avatar.events_merged", "avatar.events_dropped", "avatar.queue_waiting"}
            assert names - set(points) <= seldom
            by_status = {
                point.attributes["status"]: point.value for point in points["avatar.requests"]
            }
            assert by_status["completed"] >= 1
            [sessions] = points["avatar.active_sessions"]
            assert sessions.value == 1
            durations = [dict(p.attributes) for p in points["gen_ai.client.operation.duration"]]
            told = {"gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": "embedded"}
            assert told in durations
            kinds = {p.attributes["gen_ai.token.type"] for p in points["gen_ai.client.token.usage"]}
            assert kinds == {"input", "output"}
    assert [point.value for point in heard.points()["avatar.active_sessions"]] == [0]


async def test_a_second_runtime_is_counted_with_the_first(home: Home) -> None:
    heard = ears()
    with trio.fail_after(PATIENCE):
        async with open_runtime(metrics=WANTED) as one, open_runtime(metrics=WANTED) as two:
            await one.start("embedded", "aria", **home.options())
            await two.start("embedded", "aria", **home.options())
            points = await trio.to_thread.run_sync(heard.points)
            assert [point.value for point in points["avatar.active_sessions"]] == [2]


def test_without_the_package_one_error_says_what_to_install() -> None:
    program = """
import sys
sys.modules["opentelemetry"] = None
import trio
from avatar_actors import MetricsKind, MetricsSettings, SettingsError, open_runtime

async def main():
    async with open_runtime(metrics=MetricsSettings(kind=MetricsKind.OPENTELEMETRY)):
        print("started")
try:
    trio.run(main)
except SettingsError as error:
    print(error)
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "pip install 'avatar-actors[otel]'" in ran.stdout
    assert len(ran.stdout.splitlines()) == 1


def test_neither_is_loaded_unless_chosen() -> None:
    program = """
import sys, trio
from avatar_actors import open_avatar

async def main():
    async with open_avatar("embedded"):
        pass
trio.run(main)
heavy = {"prometheus_client", "opentelemetry", "http.server"}
print(sorted(heavy & set(sys.modules)))
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "[]\n"
