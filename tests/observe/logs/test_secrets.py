"""Secrets that a host gave, and that an agent repeats wherever it can, are shown nowhere."""

import base64
import json
import logging
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio

from avatar_actors import (
    AgentRefused,
    AvatarEvent,
    AvatarOptions,
    DiagnosticEvent,
    EventStream,
    LogSettings,
    McpServer,
    MetricsSettings,
    Outcome,
    Restarts,
    RuntimeOptions,
    TextEvent,
    ToolEvent,
    TurnEndedEvent,
    TurnStartedEvent,
    UnrecognisedEvent,
    Unsupported,
    open_runtime,
)
from avatar_actors.providers.claude import claude_provider
from tests.fake_agents import launcher
from tests.observe.metrics.http_get import get
from tests.runtime.home import PATIENCE, Home, script, until

SECRETS = {
    "env": "sk-env-1111-secret",
    "mcp_env": "mcp-env-2222-secret",
    "mcp_header": "mcp-header-3333-secret",
    "header": "remote-4444-secret",
    "odd": 'od"d\\5555-sécret',
}
ALL = " ".join(SECRETS.values())
SERVERS = (
    McpServer(name="db", command="db", env={"ANYTHING": SECRETS["mcp_env"]}),
    McpServer(
        name="web",
        url="http://127.0.0.1:9/",
        transport="http",
        headers={
            "X": SECRETS["mcp_header"],
            "Authorization": f"Bearer {SECRETS['header']}",
        },
    ),
)
CONVERSATION = (TextEvent, ToolEvent, TurnStartedEvent)
# Turns are named by the first 60 characters of their prompt, which is the host's own.
PREFACE = {"say": "This is what the turn is named for, and long enough for it. " * 2}


def secret_options(home: Home) -> AvatarOptions:
    env = {"MY_API_KEY": SECRETS["env"], "ODD_PASSWORD": SECRETS["odd"]}
    return home.options(
        env=env,
        mcp_servers=SERVERS,
        restarts=Restarts(max_restarts=100, factor=1.0),
    )


def shown_in(text: str) -> list[str]:
    """The secrets that can be read in it, plainly, as JSON has them, or in the form of a repr."""
    forms: dict[str, Callable[[str], str]] = {
        "": str,
        " as json": lambda each: json.dumps(each)[1:-1],
        " in ascii": lambda each: ascii(each)[1:-1],
    }
    return [
        f"{n}{form}"
        for n, s in SECRETS.items()
        for form, write in forms.items()
        if write(s) in text
    ]


def shown_by(event: AvatarEvent) -> list[str]:
    if isinstance(event, CONVERSATION):
        return []
    if isinstance(event, TurnEndedEvent):
        event = msgspec.structs.replace(event, text="")
    return shown_in(repr(event)) + shown_in(msgspec.json.encode(event).decode())


class AllRecords(logging.Handler):
    """A handler of the host that prints all it can, errors with what they carry."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(self.format(record) + repr(vars(record)))


@pytest.fixture
def records() -> Iterator[list[str]]:
    handler = AllRecords()
    loggers = [logging.getLogger(name) for name in ("avatar_actors", "supervisors")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG)
    yield handler.texts
    for logger, level in zip(loggers, levels, strict=True):
        logger.removeHandler(handler)
        logger.setLevel(level)


def base64_of(line: str) -> dict[str, str]:
    return {"base64": base64.b64encode(line.encode()).decode()}


MISDEEDS: dict[str, list[dict[str, Any]]] = {
    "stderr": [{"stderr": f"hello {ALL}"}, {"say": "done"}],
    "stderr, then death": [{"stderr": f"last words {ALL}"}, {"exit": 3}],
    "garbage": [{"raw": base64_of(f"garbage {ALL}\n")}, {"say": "done"}],
    "garbage, cut": [{"raw": base64_of("g" * 190 + SECRETS["env"] + "\n")}, {"say": "done"}],
    "unknown json": [
        {"raw": base64_of(json.dumps({"type": "odd", "x": ALL}) + "\n")},
        {"say": "."},
    ],
    "half a line": [{"half": f"half {ALL}"}, {"exit": 0}],
    "protocol error": [{"error": {"code": -32000, "message": f"your key {ALL} is bad"}}],
    "unknown update": [{"update": {"sessionUpdate": "odd", "text": ALL}}, {"say": "done"}],
}


@pytest.mark.parametrize("agent", ["acp", "claude"])
async def test_no_log_metric_or_event_shows_one(
    home: Home, tmp_path: Path, records: list[str], agent: str
) -> None:
    file = tmp_path / "avatars.log"
    seen: list[AvatarEvent] = []
    wishes = RuntimeOptions(
        log=LogSettings(file=file, level="DEBUG"), metrics=MetricsSettings(port=0)
    )
    options = secret_options(home)
    with trio.fail_after(2 * PATIENCE):
        async with trio.open_nursery() as nursery, open_runtime(**wishes) as runtime:
            await nursery.start(_watch, runtime.events(capacity=100_000), seen)
            aria = await runtime.start(launcher.agent(agent), "aria", **options)
            for steps in MISDEEDS.values():
                response = await aria.chat(script(PREFACE, *steps))
                assert shown_in(response.error) == []
            with pytest.raises(Unsupported) as refused:
                await aria.call(f"raw:{ALL}")
            logging.getLogger("supervisors").error("it %s", ALL)
            assert runtime.metrics is not None
            page = await get(runtime.metrics.url)
    assert len(seen) > 50
    assert [(type(event).__name__, shown_by(event)) for event in seen if shown_by(event)] == []
    assert _outcomes(seen) >= {Outcome.CRASHED, Outcome.COMPLETED, Outcome.FAILED}
    assert shown_in(page) == []
    written = file.read_text()
    assert "[secret]" in written
    assert shown_in(written) == []
    assert len(records) > 20
    assert [each for each in records if shown_in(each)] == []
    assert shown_in(str(refused.value)) == []


def _outcomes(events: list[AvatarEvent]) -> set[Outcome]:
    return {event.outcome for event in events if isinstance(event, TurnEndedEvent)}


async def _watch(
    feed: AbstractAsyncContextManager[EventStream],
    seen: list[AvatarEvent],
    *,
    task_status: trio.TaskStatus[None],
) -> None:
    async with feed as stream:
        task_status.started()
        seen.extend([event async for event in stream])


async def test_what_was_hidden_was_there(home: Home) -> None:
    """Or the test above would find nothing in nothing."""
    async with home.runtime() as runtime, runtime.events(capacity=100_000) as stream:
        aria = await runtime.start("embedded", "aria", **secret_options(home))
        await aria.chat(script(PREFACE, *MISDEEDS["stderr"]))
        line = await until(stream, DiagnosticEvent, lambda event: "hello" in event.message)
        assert line.message == "hello" + " [secret]" * len(SECRETS)
        await aria.chat(script(PREFACE, *MISDEEDS["unknown update"]))
        raw = (await until(stream, UnrecognisedEvent)).raw
        assert raw.count("[secret]") == len(SECRETS)
        failed = await aria.chat(script(PREFACE, *MISDEEDS["protocol error"]))
        assert failed.error.count("[secret]") == len(SECRETS)


async def test_what_the_agent_says_is_the_hosts_to_see(home: Home) -> None:
    async with home.avatar(env={"MY_API_KEY": SECRETS["env"]}) as aria:
        answer = await aria.chat(script({"echo": "env:MY_API_KEY"}))
        assert answer.content == SECRETS["env"]


async def test_an_agent_that_does_not_start_shows_none(home: Home, records: list[str]) -> None:
    error = {"initialize_error": {"code": -32000, "message": f"bad key {ALL}"}}
    options = secret_options(home)
    options["env"] = {**options.get("env", {}), "AVATAR_EMBEDDED_START": json.dumps([error])}
    async with home.runtime() as runtime:
        with pytest.raises(AgentRefused) as refused:
            await runtime.start("embedded", "aria", **options)
    assert "bad key [secret]" in str(refused.value)
    assert shown_in(str(refused.value)) == []
    assert records
    assert [each for each in records if shown_in(each)] == []


async def test_a_traceback_that_carries_one_is_written_without_it(
    home: Home, records: list[str]
) -> None:
    async with home.runtime() as runtime:
        await runtime.start("embedded", "aria", **secret_options(home))
        try:
            raise RuntimeError(f"could not log in with {SECRETS['env']}")
        except RuntimeError:
            logging.getLogger("avatar_actors.turns").exception("with %s", SECRETS["mcp_env"])
    [text] = [each for each in records if "could not log in" in each]
    assert "RuntimeError: could not log in with [secret]" in text
    assert shown_in(text) == []


async def test_private_files_and_command_lines_show_none_to_others(
    home: Home, tmp_path: Path
) -> None:
    options = secret_options(home)
    options["executable"] = launcher.executable("claude")
    async with home.runtime() as runtime:
        aria = await runtime.start(claude_provider(), "aria", **options)
        command = command_line((await aria.health()).pid)
        assert shown_in(command) == []
        found = re.search(r"--mcp-config=([^\0]+)", command)
        assert found is not None
        assert SECRETS["mcp_env"] in text_of(found[1])
        assert open_to_others(Path(found[1]).parent) == []


def command_line(pid: int | None) -> str:
    return text_of(f"/proc/{pid}/cmdline")


def text_of(path: str) -> str:
    return Path(path).read_text("utf-8")


def open_to_others(folder: Path) -> list[Path]:
    paths = [path for path in (folder, *folder.rglob("*")) if not path.is_symlink()]
    return [path for path in paths if stat.S_IMODE(path.stat().st_mode) & 0o077]
