"""Variables: those that stand in texts, and those that go before the file."""

from pathlib import Path

import pytest

from avatar_actors.config.config import AvatarConfig
from avatar_actors.model.errors import ConfigError
from tests.config.seen import seen
from tests.providers.flags import value_of


def error_of(text: str, environ: dict[str, str]) -> str:
    with pytest.raises(ConfigError) as caught:
        AvatarConfig.parse(text, "a.yaml", environ)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("${KEY}", "k1"),
        ("Bearer ${KEY}!", "Bearer k1!"),
        ("${KEY}${KEY}", "k1k1"),
        ("${NONE:-x y}", "x y"),
        ("${NONE:-}", ""),
        ("${KEY:-x}", "k1"),
        ("${EMPTY:-x}", "x"),
        ("${EMPTY}", ""),
        ("$${KEY}", "${KEY}"),
        ("$KEY $5", "$KEY $5"),
    ],
)
def test_variables_are_filled_in(written: str, meant: str) -> None:
    environ = {"KEY": "k1", "EMPTY": ""}
    text = f"""\
        acp:
          executable: agent
          env: {{A: "{written}"}}
          mcp_servers: {{s: {{command: x, args: ["{written}"], env: {{A: "{written}"}}}}}}
        """
    settings = seen(text, "acp", environ).settings
    [server] = settings.mcp_servers
    assert {settings.env["A"], server.env["A"], *server.args} == {meant}
    far = f"""\
        acp:
          url: ws://127.0.0.1:9
          headers: {{A: "{written}"}}
        """
    assert seen(far, "acp", environ).settings.headers["A"] == meant


def test_a_variable_that_is_not_set_is_an_error_with_its_line() -> None:
    text = "claude:\n  env:\n    A: b\n    TOKEN: ${MY_TOKEN}\n"
    assert error_of(text, {}) == (
        "a.yaml:4: claude.env.TOKEN: the variable MY_TOKEN is not set; "
        "set it, or write ${MY_TOKEN:-default}"
    )


@pytest.mark.parametrize("written", ["${}", "${1A}", "${A-b}", "${A:b}", "${A B}"])
def test_a_variable_that_is_misspelt_is_an_error(written: str) -> None:
    message = error_of(f"claude: {{env: {{X: '{written}'}}}}", {"A": "a"})
    assert "a variable is written ${NAME} or ${NAME:-default}" in message


def test_a_prompt_is_left_as_it_stands() -> None:
    text = "engine: {system_prompt: 'Say ${HOME}, $$.'}"
    assert seen(text, "", {"HOME": "/h"}).settings.system_prompt == "Say ${HOME}, $$."


def test_the_short_variables_go_before_the_file(tmp_path: Path) -> None:
    text = "provider: codex\nclaude: {model: opus, timeout: 3, working_dir: /x}\n"
    environ = {
        "AVATAR_PROVIDER": "claude",
        "AVATAR_MODEL": "haiku",
        "AVATAR_WORKING_DIR": str(tmp_path),
        "AVATAR_TIMEOUT": "7.5",
        "AVATAR_LOG_LEVEL": "DEBUG",
    }
    it = seen(text, "", environ)
    assert value_of(it.plan.argv, "--model") == "haiku"
    assert it.settings.working_dir == tmp_path
    assert it.settings.timeouts.turn == 7.5
    log = it.config.runtime.get("log")
    assert log is not None
    assert log.level == "DEBUG"
    assert it.config.chosen("codex")[1] == {}


def test_a_short_variable_that_is_empty_is_none() -> None:
    environ = dict.fromkeys(["AVATAR_PROVIDER", "AVATAR_MODEL", "AVATAR_LOG_LEVEL"], "")
    it = seen("provider: claude", "", environ)
    assert it.config.provider == "claude"
    assert it.config.runtime == {}


@pytest.mark.parametrize(
    ("variable", "value", "option", "expected"),
    [
        ("AVATAR__CLAUDE__MODEL", "5", "model", "5"),
        ("AVATAR__CLAUDE__MODEL", "a: b", "model", "a: b"),
        ("AVATAR__CLAUDE__MAX_HISTORY", "5", "max_history", 5),
        ("AVATAR__ENGINE__MAX_HISTORY", "6", "max_history", 6),
        ("AVATAR__CLAUDE__DEBUG", "true", "args", ("--debug-to-stderr",)),
        ("AVATAR__CLAUDE__ENV__MY_KEY", "a: ${X}", "env", {"FILE": "f", "MY_KEY": "a: x"}),
        ("AVATAR__CLAUDE__ENV", "{B: c}", "env", {"B": "c"}),
        ("AVATAR__CLAUDE__SESSION__RESUME_ID", "s1", "resume", "s1"),
    ],
)
def test_any_key_can_be_set_by_a_variable(
    variable: str, value: str, option: str, expected: object
) -> None:
    text = "claude: {model: m, env: {FILE: f}}"
    config = AvatarConfig.parse(text, "a.yaml", {variable: value, "X": "x"})
    assert dict(config.chosen("claude")[1])[option] == expected


def test_lists_and_sections_are_written_as_yaml() -> None:
    environ = {"AVATAR__CLAUDE__ALLOWED_TOOLS": "[Read, Grep]"}
    assert seen("", "claude", environ).settings.tools.allow == ("Read", "Grep")


def test_an_agent_of_ones_own_is_found_by_its_name_in_capitals() -> None:
    text = "provider: My-Agent\nproviders: {My-Agent: {command: agent, model: a}}"
    environ = {"AVATAR__PROVIDERS__MY_AGENT__MODEL": "b"}
    assert seen(text, "", environ).settings.model == "b"
    assert seen(text, "", {"AVATAR_MODEL": "c"}).settings.model == "c"


def test_the_variable_of_a_key_goes_before_the_short_one() -> None:
    environ = {"AVATAR_MODEL": "a", "AVATAR__CLAUDE__MODEL": "b", "AVATAR__PROVIDER": "claude"}
    assert seen("provider: codex", "", environ).settings.model == "b"


def test_an_empty_section_can_be_filled_by_a_variable() -> None:
    assert seen("claude:", "claude", {"AVATAR__CLAUDE__MODEL": "b"}).settings.model == "b"


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("AVATAR__CLAUDE__MODLE", "x", "AVATAR__CLAUDE__MODLE: modle: unknown key; there are"),
        ("AVATAR__CLAUD__MODEL", "x", "AVATAR__CLAUD__MODEL: claud: unknown key; there are"),
        ("AVATAR__", "x", "AVATAR__: : unknown key; there are"),
        ("AVATAR__PROVIDER__X", "x", "AVATAR__PROVIDER__X: there is no key 'x'"),
        ("AVATAR__CLAUDE__TIMEOUT", "120s", "AVATAR__CLAUDE__TIMEOUT: claude.timeout: must be a"),
        ("AVATAR__CLAUDE__TIMEOUT", "", "AVATAR__CLAUDE__TIMEOUT: claude.timeout: is empty"),
        ("AVATAR__CLAUDE__TIMEOUT", "[", "AVATAR__CLAUDE__TIMEOUT:1: invalid YAML"),
        ("AVATAR_TIMEOUT", "soon", "AVATAR_TIMEOUT: embedded.timeout: must be a number of"),
        ("AVATAR_PROVIDER", "claud", "AVATAR_PROVIDER: provider: no provider 'claud'"),
        ("AVATAR_LOG_LEVEL", "loud", "AVATAR_LOG_LEVEL: logging.level: must be one of DEBUG"),
    ],
)
def test_a_variable_that_is_wrong_is_named(variable: str, value: str, message: str) -> None:
    assert error_of("", {variable: value}).startswith(message)


def test_an_unknown_provider_is_the_error_also_with_a_model() -> None:
    environ = {"AVATAR_PROVIDER": "nobody", "AVATAR_MODEL": "m"}
    assert error_of("", environ).startswith("AVATAR_PROVIDER: provider: no provider 'nobody'")


def test_what_is_no_section_in_the_file_stays_an_error() -> None:
    message = error_of("claude: 5", {"AVATAR__CLAUDE__MODEL": "b"})
    assert message == "a.yaml:1: claude: must be a section of keys; got 5"
