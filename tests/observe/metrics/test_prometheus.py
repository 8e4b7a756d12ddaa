"""Prometheus scrapes a runtime: every figure, with help and unit, after one turn."""

import re
from typing import Any

import pytest
import trio
from prometheus_client import CollectorRegistry, Gauge, generate_latest

from avatar_actors import (
    MetricsOffer,
    MetricsSettings,
    Runtime,
    SettingsError,
    TextEvent,
    TurnEndedEvent,
    open_runtime,
)
from avatar_actors.observe.metrics.catalogue import METRICS
from supervisors import Address
from supervisors.testing import crash
from tests.docs.test_snippets import ROOT
from tests.observe.metrics.http_get import get, is_free, say
from tests.processes.census import eventually
from tests.runtime.home import PATIENCE, Home, script, until

ANY_PORT = MetricsSettings(port=0)
# Of the seed and E6, by the names that a dashboard would have.
PROMISED = (
    *("avatar_requests_total", "avatar_request_duration_seconds", "avatar_active_sessions"),
    *("avatar_cost_usd_total", "avatar_tokens_total", "avatar_restarts_total"),
    *("avatar_mailbox_depth", "avatar_orphans_reaped_total"),
    *("avatar_events_merged_total", "avatar_events_dropped_total"),
)
TURN = script({"say": "x"}, {"usage": {"input": 5, "output": 6, "cached": 2}, "cost": 0.25})


def offer(runtime: Runtime) -> MetricsOffer:
    found = runtime.metrics
    assert found is not None
    return found


def sample(page: str, name: str) -> float:
    """The value of one series, or 0 if it is not there yet."""
    found = re.search(rf"^{re.escape(name)} (\S+)$", page, re.MULTILINE)
    return float(found[1]) if found else 0.0


def part(runtime: Runtime, name: str) -> Address[Any]:
    [address] = [node.address for node in runtime.tree().walk() if node.name == name]
    return address


async def until_sample(url: str, name: str, value: float) -> str:
    """The page on which it stands so; the collector is told by messages, which takes a moment."""
    while True:
        page = await get(url)
        if sample(page, name) == value:
            return page


async def test_one_turn_shows_every_figure_with_help_and_unit(home: Home) -> None:
    with trio.fail_after(PATIENCE):
        async with open_runtime(metrics=ANY_PORT) as runtime:
            aria = await runtime.start("embedded", "aria", **home.options())
            await aria.chat(TURN)
            url = offer(runtime).url
            done = 'avatar_requests_total{provider="embedded",status="completed"}'
            page = await until_sample(url, done, 1)
            for metric in METRICS:
                assert f"# HELP {metric.name} {metric.meaning} [{metric.unit}]" in page
            assert {metric.name for metric in METRICS} >= set(PROMISED)
            assert (
                sample(page, 'avatar_cost_usd_total{provider="embedded",source="reported"}') == 0.25
            )
            for kind, tokens in {"input": 5, "output": 6, "cached": 2}.items():
                series = f'avatar_tokens_total{{kind="{kind}",provider="embedded"}}'
                assert sample(page, series) == tokens
            series = 'avatar_request_duration_seconds_count{provider="embedded"}'
            assert sample(page, series) == 1
            assert sample(page, "avatar_active_sessions") == 1
            assert 'avatar_mailbox_depth{part="turn queue"}' in page
            assert "aria" not in page


async def test_openmetrics_has_the_units_that_names_end_with(home: Home) -> None:
    with trio.fail_after(PATIENCE):
        async with open_runtime(metrics=ANY_PORT) as runtime:
            page = await get(offer(runtime).url, "application/openmetrics-text; version=1.0.0")
    units = dict(re.findall(r"^# UNIT (\w+) (\w+)$", page, re.MULTILINE))
    for metric in METRICS:
        name = metric.name.removesuffix("_total")
        assert units.get(name, "") == (metric.unit if name.endswith(f"_{metric.unit}") else "")
    assert units["avatar_request_duration_seconds"] == "seconds"
    assert page.endswith("# EOF\n")


async def test_what_crashes_is_counted_and_the_gauges_follow(home: Home) -> None:
    with trio.fail_after(PATIENCE):
        async with open_runtime(metrics=ANY_PORT) as runtime:
            url = offer(runtime).url
            aria = await runtime.start("embedded", "aria", **home.options())
            async with aria.turn(script({"spawn": "setsid"}, {"say": "go"}, {"wait": 60})) as turn:
                await until(turn, TextEvent)
                page = await until_sample(url, "avatar_turns_in_flight", 1)
                await home.kill(aria)
                await until(turn, TurnEndedEvent)
            restarts = 'avatar_restarts_total{part="session",provider="embedded"}'
            page = await until_sample(url, restarts, 1)
            page = await until_sample(url, 'avatar_orphans_reaped_total{provider="embedded"}', 1)
            assert sample(page, "avatar_turns_in_flight") == 0
            crashed = 'avatar_requests_total{provider="embedded",status="crashed"}'
            assert sample(page, crashed) == 1
            await aria.stop()
            assert sample(await get(url), "avatar_active_sessions") == 0


async def test_a_slow_subscriber_is_seen(home: Home) -> None:
    with trio.fail_after(PATIENCE):
        async with open_runtime(metrics=ANY_PORT) as runtime:
            aria = await runtime.start("embedded", "aria", **home.options())
            async with aria.events(capacity=10):
                await aria.chat(script({"flood": 500, "text": "abc"}))
            url = offer(runtime).url
            page = await until_sample(
                url, 'avatar_requests_total{provider="embedded",status="completed"}', 1
            )
            merged = 'avatar_events_merged_total{provider="embedded"}'
            assert 400 < sample(page, merged) <= 500


@pytest.mark.parametrize("name", ["metrics collector", "metrics endpoint"])
async def test_a_crash_of_it_harms_nobody_and_the_figures_stay(home: Home, name: str) -> None:
    done = 'avatar_requests_total{provider="embedded",status="completed"}'
    with trio.fail_after(PATIENCE):
        async with open_runtime(metrics=ANY_PORT) as runtime:
            url = offer(runtime).url
            aria = await runtime.start("embedded", "aria", **home.options())
            await aria.chat(TURN)
            await until_sample(url, done, 1)
            life = part(runtime, name)
            await crash(life)
            await eventually(lambda: life.phase.value == "running")
            assert (await aria.chat(TURN)).success
            await until_sample(url, done, 2)


async def test_another_path_is_not_found_and_other_methods_are_not_allowed(home: Home) -> None:
    with trio.fail_after(PATIENCE):
        async with open_runtime(metrics=MetricsSettings(port=0, endpoint="/figures")) as runtime:
            url = offer(runtime).url
            assert url.endswith("/figures")
            assert "avatar_requests" in await get(url)
            wrong = await say(url, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            assert wrong.startswith("HTTP/1.0 404 ")
            assert "/figures" in wrong
            post = await say(url, "POST /figures HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
            assert post.startswith("HTTP/1.0 405 ")
            assert "Allow: GET, HEAD" in post
            head = await say(url, "HEAD /figures?x=1 HTTP/1.1\r\nHost: x\r\n\r\n")
            assert head.startswith("HTTP/1.0 200 ")
            assert head.endswith("\r\n\r\n")


@pytest.mark.parametrize(
    "nonsense", ["\r\n\r\n", "GET\r\n\r\n", "\0\xff\r\n\r\n", "GET / HTTP/9\r\n\r\n", "x" * 20_000]
)
async def test_nonsense_is_refused_and_the_next_one_served(home: Home, nonsense: str) -> None:
    with trio.fail_after(PATIENCE):
        async with open_runtime(metrics=ANY_PORT) as runtime:
            url = offer(runtime).url
            try:
                answer = await say(url, nonsense)
            except trio.BrokenResourceError:
                answer = ""
            assert " 200 " not in answer
            assert "avatar_requests" in await get(url)


async def test_a_client_that_says_nothing_holds_up_neither_others_nor_the_end(home: Home) -> None:
    with trio.fail_after(PATIENCE):
        async with open_runtime(metrics=ANY_PORT) as runtime:
            url = offer(runtime).url
            host, port = url.split("/")[2].split(":")
            silent = await trio.open_tcp_stream(host, int(port))
            assert "avatar_requests" in await get(url)
        await silent.aclose()


async def test_the_port_is_closed_with_the_runtime(home: Home) -> None:
    with trio.fail_after(PATIENCE):
        async with open_runtime(metrics=ANY_PORT) as runtime:
            url = offer(runtime).url
            assert not is_free(url)
        assert is_free(url)
        port = int(url.split(":")[2].partition("/")[0])
        async with open_runtime(metrics=MetricsSettings(port=port)) as again:
            assert offer(again).url == url


async def test_a_port_in_use_is_one_clear_error_and_nothing_starts(home: Home) -> None:
    with trio.fail_after(PATIENCE):
        async with open_runtime(metrics=ANY_PORT) as runtime:
            port = int(offer(runtime).url.split(":")[2].partition("/")[0])
            with pytest.raises(
                SettingsError, match=rf"metrics\.port: 127\.0\.0\.1:{port} .* 0 for"
            ):
                async with open_runtime(metrics=MetricsSettings(port=port)):
                    pytest.fail("it started")


async def test_a_host_shows_them_in_its_own_registry_from_any_thread(home: Home) -> None:
    registry = CollectorRegistry()
    Gauge("of_the_host", "mine", registry=registry).set(7)
    wish = MetricsSettings(port=None, registry=registry)
    with trio.fail_after(PATIENCE):
        async with open_runtime(metrics=wish) as runtime:
            found = offer(runtime)
            assert (found.url, found.registry) == ("", registry)
            await runtime.start("embedded", "aria", **home.options())
            for page in (generate_latest(registry), await trio.to_thread.run_sync(_page, registry)):
                assert sample(page.decode(), "avatar_active_sessions") == 1
                assert sample(page.decode(), "of_the_host") == 7
            with pytest.raises(SettingsError, match="a registry of its own"):
                async with open_runtime(metrics=wish):
                    pytest.fail("it started")
            assert sample(generate_latest(registry).decode(), "avatar_active_sessions") == 1
        assert "avatar_" not in generate_latest(registry).decode()


def _page(registry: CollectorRegistry) -> bytes:
    return generate_latest(registry)


async def test_a_scrape_from_a_thread_ends_also_when_the_loop_is_busy(home: Home) -> None:
    with trio.fail_after(PATIENCE):
        async with open_runtime(metrics=MetricsSettings(port=None)) as runtime:
            registry = offer(runtime).registry
            assert registry is not None
            page = _blocking(registry)
    assert b"avatar_active_sessions 0.0" in page


def _blocking(registry: CollectorRegistry) -> bytes:
    """A host that waits for a thread of its own on the loop: not polite, but no deadlock."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - only here

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(_page, registry).result(timeout=30)


async def test_a_registry_must_be_one(home: Home) -> None:
    with pytest.raises(SettingsError, match=r"metrics\.registry must be .*; got str"):
        async with open_runtime(metrics=MetricsSettings(registry="default")):
            pytest.fail("it started")


@pytest.mark.parametrize("wrong", [{"port": 70_000}, {"port": -1}, {"endpoint": "metrics"}])
def test_settings_that_cannot_work_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        MetricsSettings(**wrong)


async def test_without_metrics_there_are_none(home: Home) -> None:
    async with home.runtime() as runtime:
        assert runtime.metrics is None
        assert "metrics collector" not in {node.name for node in runtime.tree().walk()}


def test_the_table_on_the_page_is_the_catalogue() -> None:
    page = (ROOT / "docs" / "avatars" / "observing.md").read_text("utf-8")
    rows = re.findall(
        r"^\| `(avatar_\w+)` \|([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)\|$", page, re.MULTILINE
    )
    told = [
        (name, kind.strip(), tuple(re.findall(r"\w+", labels)), unit.strip(), meaning.strip())
        for name, kind, labels, unit, meaning in rows
    ]
    assert told == [
        (each.name, each.kind.value, each.labels, each.unit, each.meaning) for each in METRICS
    ]
