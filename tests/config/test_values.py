"""Values and keys that are wrong: where, what is allowed, and what was probably meant."""

import math
from pathlib import Path

import pytest

from avatar_actors.config.config import AvatarConfig
from avatar_actors.config.nodes import Position, Scalar, Source
from avatar_actors.model.errors import ConfigError
from tests.config.seen import seen

# YAML 1.2's core schema.
CORE = {
    "true True TRUE": True,
    "false False FALSE": False,
    "null Null NULL ~": None,
    ".inf .Inf .INF +.inf +.Inf +.INF": math.inf,
    "-.inf -.Inf -.INF": -math.inf,
    "yes Yes on Off y N tRue nUll .iNF nan inf None": "itself",
}


def error_of(text: str, environ: dict[str, str] | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        AvatarConfig.parse(text, "a.yaml", environ or {})
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("word", "meaning"), [(word, CORE[words]) for words in CORE for word in words.split()]
)
def test_the_words_of_yamls_core_schema(word: str, meaning: object) -> None:
    value = Scalar(Position(Source("a.yaml", Path())), word).value()
    assert value is meaning or value == (word if meaning == "itself" else meaning)
    assert isinstance(value, type(word if meaning == "itself" else meaning))


@pytest.mark.parametrize("word", [".nan", ".NaN", ".NAN"])
def test_not_a_number_is_a_number_of_yamls_core_schema(word: str) -> None:
    value = Scalar(Position(Source("a.yaml", Path())), word).value()
    assert isinstance(value, float)
    assert math.isnan(value)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("claud: {}", "a.yaml:1: claud: unknown key; there are acp,", "; did you mean 'claude'?"),
        ("claude:\n  modle: x", "a.yaml:2: claude.modle: unknown", "; did you mean 'model'?"),
        (
            "gemini:\n  generation_config:\n    topk: 3",
            "a.yaml:3: gemini.generation_config.topk: unknown",
            "; did you mean 'top_k'?",
        ),
        ("engine: {zzz: 1}", "a.yaml:1: engine.zzz: unknown key; there are", "working_dir"),
        (
            "claude: {mcp_servers: {a: {comand: x}}}",
            "a.yaml:1: claude.mcp_servers.a.comand: unknown key; there are args, command, env,",
            "; did you mean 'command'?",
        ),
        ("provider: claud", "a.yaml:1: provider: no provider 'claud'", "; did you mean 'claude'?"),
        (
            "claude: {permission_mode: acceptedits}",
            "a.yaml:1: claude.permission_mode: must be one of default,",
            "got 'acceptedits'; did you mean 'acceptEdits'?",
        ),
    ],
)
def test_a_misspelt_word_is_answered_with_the_right_one(text: str, start: str, end: str) -> None:
    message = error_of(text)
    assert message.startswith(start)
    assert message.endswith(end)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "claude: {timeout: 120s}",
            "must be a number of seconds, at least 0.001, or none; got '120s'",
        ),
        (
            "claude: {timeout: '120'}",
            "must be a number of seconds, at least 0.001, or none; got '120'",
        ),
        (
            "claude: {timeout: true}",
            "must be a number of seconds, at least 0.001, or none; got true",
        ),
        ("claude: {timeout: -1}", "must be a number of seconds, at least 0.001, or none; got -1"),
        ("claude: {timeout: 0}", "must be a number of seconds, at least 0.001, or none; got 0"),
        (
            "claude: {timeout: .nan}",
            "must be a number of seconds, at least 0.001, or none; got .nan",
        ),
        (
            "claude: {timeout: .inf}",
            "must be a number of seconds, at least 0.001, or none; got .inf",
        ),
        (
            "claude: {timeout: 1e999}",
            "must be a number of seconds, at least 0.001, or none; got 1e999",
        ),
        (
            "claude: {timeout: [3]}",
            "must be a number of seconds, at least 0.001, or none; got a list",
        ),
        (
            "claude: {timeout: }",
            "is empty; give a number of seconds, at least 0.001, or none, or remove the",
        ),
        ("claude: {debug: yes}", "must be true or false; got 'yes'"),
        ("claude: {debug: 1}", "must be true or false; got 1"),
        ("claude: {auto_restart: on}", "must be true or false; got 'on'"),
        ("claude: {system_prompt: 5}", "must be text; got 5"),
        ("claude: {system_prompt: {a: b}}", "must be text; got a section"),
        ("claude: {system_prompt: }", "is empty; give text, or remove the line"),
        ("claude: {max_history: 1.5}", "must be a whole number, at least 0; got 1.5"),
        ("claude: {max_history: -3}", "must be a whole number, at least 0; got -3"),
        (f"claude: {{max_history: {'9' * 50}}}", "must be a whole number, at least 0; got 9999"),
        ("metrics: {port: 70000}", "must be a whole number, between 0 and 65535; got 70000"),
        ("metrics: {endpoint: metrics}", "must be a path that begins with a slash; got 'metrics'"),
        ("logging: {format: '%(nope'}", "must be a format of Python's logging, as %(message)s;"),
        ("logging: {level: info}", "must be one of DEBUG, INFO, WARNING, ERROR, CRITICAL; got"),
        ("gemini: {generation_config: {top_p: 1.5}}", "must be a number, between 0 and 1; got 1.5"),
        ("claude: {allowed_tools: Read}", "must be a list of texts; got 'Read'"),
        ("claude: {allowed_tools: [1]}", "must be text; got 1"),
        ("claude: {structured_output: {schema: x}}", "must be a section; got 'x'"),
        ("claude: {structured_output: {schema: {a: .inf}}}", "holds a number that is not finite"),
        ("claude: 5", "must be a section of keys; got 5"),
        ("claude:", "is empty; give it keys, or remove the line"),
        ("claude: {session: }", "is empty; give it keys, or remove the line"),
        ("claude: {mcp_servers: }", "is empty; give it keys, or remove the line"),
        ("providers: [a]", "must be a section of names, each with its keys; got a list"),
        ("claude: {model: --yolo}", "must be a name of at most 200 printable characters that"),
        ("claude: {mode: -x}", "must be a name of at most 200 printable characters that begins"),
        ("claude: {session: {resume_id: --settings=x}}", "must be a session id, of letters,"),
    ],
)
def test_a_value_of_the_wrong_kind_is_answered_with_the_right_kind(text: str, problem: str) -> None:
    key, _, rest = error_of(text).removeprefix("a.yaml:1: ").partition(": ")
    assert text.replace(" ", "").startswith(key.partition(".")[0] + ":")
    assert rest.startswith(problem)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "claude:\n  timeout: 3\n  timeouts: {turn: 4}",
            "a.yaml:3: claude.timeouts.turn: contradicts claude.timeout in line 2; keep one of",
        ),
        (
            "claude:\n  permissions: safe\n  permission_mode: acceptEdits",
            "a.yaml:3: claude.permission_mode: contradicts claude.permissions in line 2",
        ),
        (
            "claude:\n  session: {continue_last: true,\n   resume_id: x}",
            "a.yaml:3: claude.session.resume_id: contradicts continue_last",
        ),
        (
            "claude:\n  structured_output:\n    enabled: true",
            "a.yaml:3: claude.structured_output.enabled: is enabled without a schema",
        ),
        (
            "claude:\n  mcp_servers:\n    a: {command: x, url: http://x}",
            "a.yaml:3: claude.mcp_servers.a: an MCP server has a command or a url, one of them",
        ),
        (
            "claude: {mcp_servers: {a: {}}}",
            "a.yaml:1: claude.mcp_servers.a: an MCP server has a command or a url, one of them",
        ),
        (
            "claude: {mcp_servers: {a: {url: http://x, args: [y]}}}",
            "a.yaml:1: claude.mcp_servers.a.args: an MCP server with a url has none",
        ),
        (
            "engine: {}\ngemini:\n  acp_enabled: false\n  denied_tools: [x]",
            "a.yaml:2: gemini: headless gemini asks nobody, so no tool policy can hold",
        ),
        (
            "gemini: {acp_enabled: false, generation_config: {top_k: 3}}",
            "a.yaml:1: gemini: headless gemini has no option 'top_k'",
        ),
    ],
)
def test_what_cannot_go_together_is_refused_where_it_stands(text: str, message: str) -> None:
    assert error_of(text).startswith(message)


def test_two_keys_may_say_the_same() -> None:
    assert seen("claude: {timeout: 3, timeouts: {turn: 3.0}}", "claude").settings.timeouts.turn == 3


def test_a_provider_counts_before_the_engine_field_by_field() -> None:
    text = "engine: {timeout: 3, timeouts: {start: 4}, permissions: unrestricted}\n"
    text += "claude: {timeout: 5, permission_mode: plan}"
    claude, gemini = seen(text, "claude").settings, seen(text, "gemini").settings
    assert (claude.timeouts.turn, claude.timeouts.start) == (5, 4)
    assert (gemini.timeouts.turn, gemini.timeouts.start) == (3, 4)
    assert (claude.permissions.value, gemini.permissions.value) == ("safe", "unrestricted")


def test_an_mcp_server_may_be_elsewhere() -> None:
    text = "engine: {mcp_servers: {db: {url: https://db/mcp, headers: {Authorization: Bearer x}}}}"
    [server] = seen(text).settings.mcp_servers
    assert (server.url, server.transport) == ("https://db/mcp", "http")
    assert server.headers == {"Authorization": "Bearer x"}


def test_no_error_shows_what_may_be_a_secret() -> None:
    for text in [
        "claude: {env: hunter2}",
        "claude: {env: [hunter2]}",
        "acp: {headers: hunter2}",
        "claude: {env: {A: {B: hunter2}}}",
        "claude: {mcp_servers: {a: {command: x, env: hunter2}}}",
        "claude: {mcp_servers: {a: {command: x, args: [[hunter2]]}}}",
        "acp: {url: [hunter2]}",
    ]:
        assert "hunter2" not in error_of(text)


def test_the_configuration_does_not_show_its_secrets() -> None:
    config = AvatarConfig.parse("claude: {env: {KEY: hunter2}}", environ={})
    assert "hunter2" not in repr(config)
    assert "hunter2" not in str(config)
