"""The server itself: whose turn it is, waits, faults, and that nothing of it stays."""

from collections.abc import Callable

import pytest
import trio
import trio.testing

from tests.model_api.client import Client, Cut, events_of, json_of, open_client
from tests.model_api.questions import QUESTIONS, Question, anthropic, chat
from tests.model_api.recorded import DialectName
from tests.model_api.script import (
    OVERLOADED,
    Drop,
    Fail,
    Hang,
    Pause,
    Reply,
    Script,
    Shell,
    Text,
    always,
    by_prompt,
)
from tests.model_api.server import ModelApi, open_model_api
from tests.model_api.tool_names import ToolNotOffered

# Only a broken server takes as long.
PATIENCE = 30

every_dialect = pytest.mark.parametrize(
    "question", QUESTIONS.values(), ids=lambda each: each.__name__
)
Asking = Callable[[], Question]


async def text_of(api: ModelApi, question: Question) -> str:
    """What the model says in Anthropic's words."""
    events = await events_of(api, question.path, question.body)
    return "".join(event.data.get("delta", {}).get("text", "") for event in events)


async def status_of(api: ModelApi, question: Question) -> int:
    async with open_client(api) as client:
        return (await client.ask(question.path, question.body)).status_code


async def test_replies_are_played_in_order_and_then_it_is_done() -> None:
    async with open_model_api([[Text("one")], [Text("two")]]) as api:
        heard = [await text_of(api, anthropic()) for _ in range(3)]
    assert heard == ["one", "two", "done"]


async def test_without_a_script_the_prompt_comes_back() -> None:
    async with open_model_api() as api:
        assert await text_of(api, anthropic("hello")) == "echo: hello"


async def test_replies_can_be_chosen_by_the_prompt() -> None:
    script = by_prompt({"red": [[Text("a rose")]], "blue": [[Fail(500)]]})
    async with open_model_api(script) as api:
        assert await text_of(api, anthropic("say red")) == "a rose"
        assert await status_of(api, anthropic("say blue")) == 500
        assert await text_of(api, anthropic("say grey")) == "echo: say grey"


async def test_call_without_tools_gets_a_few_words_and_leaves_the_script() -> None:
    probe = anthropic("Hi", tools=None, stream=False)
    async with open_model_api([[Text("one")]]) as api:
        answer = await json_of(api, probe.path, probe.body)
        assert await text_of(api, anthropic()) == "one"
    assert answer["content"] == [{"type": "text", "text": "A short title"}]
    assert [request.prompt for request in api.main_requests] == ["hello"]


@every_dialect
@pytest.mark.parametrize("status", [400, 401, 429, 500, OVERLOADED])
async def test_failure_at_the_start_is_the_status(question: Asking, status: int) -> None:
    asked = question()
    async with (
        open_model_api(always(Fail(status, retry_after=3))) as api,
        open_client(api) as client,
    ):
        head = await client.ask(asked.path, asked.body)
        body = await client.json()
        is_anthropic = api.requests[0].dialect is DialectName.ANTHROPIC
    assert head.status_code == (status if is_anthropic or status != OVERLOADED else 503)
    assert (b"retry-after", b"3") in list(head.headers)
    assert body["error"]["message"] == "scripted failure"


@every_dialect
async def test_connection_can_be_cut_in_the_middle(question: Asking) -> None:
    asked = question()
    script: Script = [[Text("half"), Drop(), Text("never")]]
    async with open_model_api(script) as api, open_client(api) as client:
        await client.ask(asked.path, asked.body)
        await client.event_with("half")
        with pytest.raises(Cut):
            await client.event()


@every_dialect
async def test_pause_holds_the_stream_until_the_test_lets_go(question: Asking) -> None:
    asked = question()
    go = trio.Event()
    with trio.fail_after(PATIENCE):
        script: Script = [[Text("before"), Pause(go), Text("after")]]
        async with open_model_api(script) as api, open_client(api) as client:
            await client.ask(asked.path, asked.body)
            await client.event_with("before")
            await trio.testing.wait_all_tasks_blocked()
            go.set()
            await client.event_with("after")


async def test_pause_at_the_start_holds_back_even_the_status() -> None:
    go = trio.Event()
    with trio.fail_after(PATIENCE):
        async with open_model_api([[Pause(go), Fail(429)]]) as api, open_client(api) as client:
            await client.send("POST", anthropic().path, anthropic().body, {})
            await api.until(lambda request: request.is_main)
            go.set()
            assert (await client.head()).status_code == 429


@pytest.mark.parametrize(
    "reply",
    [[Hang()], [Text("half"), Hang()], [Pause(trio.Event()), Text("never")]],
    ids=["hung at once", "hung midway", "paused"],
)
async def test_answer_that_waits_ends_when_the_agent_leaves(reply: Reply) -> None:
    with trio.fail_after(PATIENCE):
        async with open_model_api([reply]) as api:
            async with open_client(api) as client:
                await client.send("POST", anthropic().path, anthropic().body, {})
                await api.until(lambda _: True)
                assert api.open_connections == 1
            await api.until_all_left()
            assert await text_of(api, anthropic()) == "done"


async def test_hung_connections_are_closed_with_the_server() -> None:
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            async with open_model_api([[Text("half"), Hang()]]) as api:
                client = await nursery.start(_stays, api)
                await client.ask(anthropic().path, anthropic().body)
                await client.event_with("half")
                assert api.open_connections == 1
            assert api.open_connections == 0
            with pytest.raises(OSError, match="all attempts to connect"):
                await trio.open_tcp_stream("127.0.0.1", int(api.url.rpartition(":")[2]))
            nursery.cancel_scope.cancel()


async def _stays(api: ModelApi, *, task_status: trio.TaskStatus[Client]) -> None:
    async with open_client(api) as client:
        task_status.started(client)
        await trio.sleep_forever()


async def test_slow_agent_does_not_hold_up_another() -> None:
    go = trio.Event()
    script = by_prompt({"slow": [[Pause(go), Text("at last")]], "fast": [[Text("at once")]]})
    heard: list[str] = []

    async def hear(prompt: str) -> None:
        heard.append(await text_of(api, anthropic(prompt)))

    with trio.fail_after(PATIENCE):
        async with open_model_api(script) as api, trio.open_nursery() as nursery:
            nursery.start_soon(hear, "slow")
            await api.until(lambda request: request.prompt == "slow")
            await hear("fast")
            go.set()
    assert heard == ["at once", "at last"]


async def test_connection_serves_one_request_after_the_other() -> None:
    asked = chat(stream=False)
    script: Script = [[Text("one")], [Fail(400)], [Text("three")]]
    async with open_model_api(script) as api, open_client(api) as client:
        for status in (200, 400, 200):
            head = await client.ask(asked.path, asked.body)
            assert head.status_code == status
            await client.json()
            client.reuse()
        assert api.open_connections == 1
    assert len(api.requests) == 3


async def test_request_can_be_awaited_before_and_after_it_came() -> None:
    with trio.fail_after(PATIENCE):
        async with open_model_api() as api, trio.open_nursery() as nursery:
            nursery.start_soon(text_of, api, anthropic("first"))
            first = await api.until(lambda request: request.prompt == "first")
            nursery.start_soon(text_of, api, anthropic("second"))
            assert (await api.until(lambda request: request.prompt == "second")) is not first
            assert await api.until(lambda request: request.prompt == "first") is first


async def test_key_is_found_by_whichever_header() -> None:
    async with open_model_api() as api:
        for header in ({"x_api_key": "k"}, {"x_goog_api_key": "k"}, {"authorization": "Bearer k"}):
            async with open_client(api) as client:
                await client.ask(anthropic().path, anthropic().body, **header)
    assert [request.api_key for request in api.requests] == ["k", "k", "k"]


async def test_head_of_the_root_is_fine_and_the_unknown_is_kept() -> None:
    async with open_model_api() as api:
        async with open_client(api) as client:
            await client.send("HEAD", "/", None, {})
            assert (await client.head()).status_code == 200
        assert await status_of(api, Question("/v2/oracle?x=1", {})) == 404
    assert api.unknown == ["POST /v2/oracle?x=1"]


async def test_script_that_wants_a_tool_nobody_offers_fails_the_test() -> None:
    question = anthropic(tools=[{"name": "Read"}])

    async def play() -> None:
        async with open_model_api([[Shell("echo hi")]]) as api, open_client(api) as client:
            await client.send("POST", question.path, question.body, {})
            await trio.sleep_forever()

    with (
        trio.fail_after(PATIENCE),
        pytest.raises(ToolNotOffered, match=r"Shell.*\['Read'\]"),
    ):
        await play()


async def test_failure_of_the_test_itself_passes_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        async with open_model_api():
            raise ZeroDivisionError
