"""An agent that does not start as it should, and what it is allowed to be instead."""

import json

import pytest

from avatar_actors import (
    AgentNeedsLogin,
    AgentRefused,
    DiagnosticEvent,
    EventStream,
    McpServer,
    SettingsError,
)
from tests.cli.programs import avatar
from tests.fake_agents import launcher
from tests.runtime.home import Home, script

# As a version of Gemini that knows no ACP.
TOO_OLD = {"acp_flag": "--no-such-flag"}
ALLOWED = {**TOO_OLD, "fallback": "oneshot"}


async def test_gemini_without_acp_runs_one_process_per_prompt_if_that_is_allowed(
    home: Home,
) -> None:
    news = EventStream()
    gemini = launcher.agent("gemini")
    async with home.runtime() as runtime:
        with pytest.raises(AgentRefused):
            await runtime.start(gemini, **home.options(options=TOO_OLD))
        aria = await runtime.start(gemini, listener=news, **home.options(options=ALLOWED))
        assert (await aria.capabilities()).agent == "Gemini CLI (headless)"
        assert not (await aria.capabilities()).mcp_supported
        for _ in range(2):
            assert (await aria.chat(script({"say": "here"}))).content == "here"
        told = [each for each in await news.take() if isinstance(each, DiagnosticEvent)]
    [announced] = [each.message for each in told if each.source == "fallback"]
    assert announced.startswith("fallback to one process for each prompt, since it did not start")
    assert "no-such-flag" in announced


async def test_gemini_that_starts_is_left_as_it_is(home: Home) -> None:
    async with home.avatar(agent="gemini", options={"fallback": "oneshot"}) as aria:
        assert (await aria.capabilities()).mcp_supported


async def test_a_missing_login_is_no_reason_to_fall_back(home: Home) -> None:
    with pytest.raises(AgentNeedsLogin):
        async with home.avatar({"auth": True}, agent="gemini", options={"fallback": "oneshot"}):
            pass


async def test_what_the_fallback_could_not_keep_is_refused_beforehand(home: Home) -> None:
    servers = (McpServer(name="a", command="/bin/a"),)
    with pytest.raises(SettingsError, match="headless gemini takes no MCP servers"):
        async with home.avatar(agent="gemini", options=ALLOWED, mcp_servers=servers):
            pass


def test_the_command_line_says_it_on_stderr(home: Home) -> None:
    gemini = {
        "executable": launcher.executable("gemini"),
        "env": {"AVATAR_EMBEDDED_HOME": str(home.store)},
        **ALLOWED,
    }
    config = {"provider": "gemini", "gemini": gemini}
    (home.store.parent / "old.yaml").write_text(json.dumps(config))
    arguments = ("chat", "-c", "old.yaml", script({"say": "here"}))
    done = avatar(home.store.parent, *arguments)
    assert (done.returncode, done.stdout) == (0, "here\n"), done.stderr
    assert "avatar: fallback to one process for each prompt" in done.stderr
