"""Every key that users of the seed know does something, or is refused with the reason."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from avatar_actors.config.config import AvatarConfig
from avatar_actors.model.errors import ConfigError
from avatar_actors.model.settings import MetricsKind, PermissionMode
from avatar_actors.model.values import McpServer
from tests.config.probes import (
    Probe,
    Row,
    codex_config,
    flag,
    generation,
    host,
    last,
    mode,
    nested,
    program,
    setting,
    verdicts,
)
from tests.config.seen import SEED, seen, seen_in

TURN: Final = setting("timeouts.turn")
ATTEMPTS: Final = setting("retry.max_attempts")
BACKOFF: Final = setting("retry.backoff_base")
SERVERS: Final = setting("mcp_servers")
THOUGHTS: Final = generation("thinkingConfig")
TOLD: Final = {"includeThoughts": True}
MCP: Final = "{lights: {command: uvx, args: [lights]}}"
LIGHTS: Final = (McpServer(name="lights", command="uvx", args=("lights",)),)
MCP_FILE: Final[dict[str, Any]] = {
    "mcpServers": {"lights": {"command": "uvx", "args": ["lights"], "env": {}}}
}
FREE, ASKED = PermissionMode.UNRESTRICTED, PermissionMode.ASK
SAFE: Final = PermissionMode.SAFE
ZED: Final = "@zed-industries/codex-acp"
PER_MINUTE, BURST = setting("rate_limit.per_minute"), setting("rate_limit.burst")

# The key, its value, where it is to be seen, and what is seen there.
ROWS: Final[list[Row]] = [
    ("provider", "codex", program, "codex-acp"),
    ("gemini.executable", "g", program, "g"),
    ("gemini.model", "m2", flag("--model"), "m2"),
    ("gemini.timeout", "45", TURN, 45),
    ("gemini.approval_mode", "yolo", mode, (FREE, "")),
    ("gemini.approval_mode", "auto_edit", mode, (ASKED, "autoEdit")),
    ("gemini.approval_mode", "plan", mode, (SAFE, "")),
    ("gemini.auth_method", "vertex-ai", lambda it: it.gemini_login(), "vertex-ai"),
    ("gemini.auth_method", "oauth-personal", lambda it: it.gemini_login(), "oauth-personal"),
    ("gemini.acp_enabled", "false", lambda it: "--acp" in it.plan.argv, False),
    ("gemini.acp_enabled", "true", lambda it: "--acp" in it.plan.argv, True),
    ("gemini.debug", "true", last, "--debug"),
    ("gemini.debug", "false", last, "--model=m"),
    ("gemini.generation_config.temperature", "0.7", generation("temperature"), 0.7),
    ("gemini.generation_config.top_p", "0.6", generation("topP"), 0.6),
    ("gemini.generation_config.top_k", "12", generation("topK"), 12),
    ("gemini.generation_config.thinking_level", "low", THOUGHTS, {**TOLD, "thinkingLevel": "LOW"}),
    ("gemini.generation_config.include_thoughts", "false", THOUGHTS, {"includeThoughts": False}),
    ("gemini.generation_config.include_thoughts", "true", THOUGHTS, TOLD),
    ("gemini.generation_config.max_output_tokens", "9", generation("maxOutputTokens"), 9),
    ("gemini.retry.max_attempts", "4", ATTEMPTS, 4),
    ("gemini.retry.backoff_base", "0.25", BACKOFF, 0.25),
    ("gemini.mcp_servers", MCP, SERVERS, LIGHTS),
    ("claude.executable", "c", program, "c"),
    ("claude.model", "opus", flag("--model"), "opus"),
    ("claude.timeout", "90.5", TURN, 90.5),
    ("claude.permission_mode", "acceptEdits", flag("--permission-mode"), "acceptEdits"),
    ("claude.permission_mode", "plan", mode, (SAFE, "")),
    ("claude.permission_mode", "bypassPermissions", mode, (FREE, "")),
    ("claude.strict_mcp_config", "true", lambda it: "--strict-mcp-config" in it.plan.argv, True),
    ("claude.debug", "true", last, "--debug-to-stderr"),
    ("claude.fallback_model", "haiku", flag("--fallback-model"), "haiku"),
    ("claude.cost_control.max_turns", "7", flag("--max-turns"), "7"),
    ("claude.cost_control.max_budget_usd", "2.5", setting("budget.cost_usd"), 2.5),
    ("claude.cost_control.max_budget_usd", "2.5", flag("--max-budget-usd"), "2.5"),
    ("claude.session.continue_last", "true", setting("continue_last"), True),
    ("claude.session.resume_id", "s1", setting("resume"), "s1"),
    ("claude.structured_output", "{enabled: false, schema: {}}", setting("output_schema"), None),
    ("claude.structured_output.enabled", "false", setting("output_schema"), None),
    ("claude.structured_output.schema", "{a: [1]}", setting("output_schema"), {"a": [1]}),
    ("claude.allowed_tools", "[Read, mcp__a__*]", verdicts, [True, True, False]),
    ("claude.retry.max_attempts", "2", ATTEMPTS, 2),
    ("claude.retry.backoff_base", "3", BACKOFF, 3),
    ("claude.mcp_servers", MCP, lambda it: json.loads(it.plan.files["claude-mcp.json"]), MCP_FILE),
    ("codex.executable", "npx", program, "npx"),
    ("codex.executable_args", f"['{ZED}']", lambda it: it.plan.argv[1], ZED),
    ("codex.model", "gpt-5.5", lambda it: codex_config(it)["model"], "gpt-5.5"),
    ("codex.timeout", "30", TURN, 30),
    ("codex.auth_method", "openai-api-key", lambda it: it.codex_login(), "api-key"),
    ("codex.auth_method", "codex-api-key", lambda it: it.codex_login(), "api-key"),
    ("codex.auth_method", "chatgpt", lambda it: it.codex_login(), "chatgpt"),
    ("codex.auth_method", "openai-api-key", lambda it: "CODEX_HOME" in it.plan.env, True),
    ("codex.auth_method", "chatgpt", lambda it: "CODEX_HOME" in it.plan.env, False),
    ("codex.approval_mode", "auto", mode, (FREE, "")),
    ("codex.approval_mode", "never", lambda it: codex_config(it)["approval_policy"], "never"),
    ("codex.sandbox_mode", "read-only", lambda it: codex_config(it)["sandbox_mode"], "read-only"),
    ("codex.system_prompt", "Hi", setting("system_prompt"), "Hi"),
    ("codex.mcp_servers", MCP, SERVERS, LIGHTS),
    ("codex.env", "{RUST_LOG: warn, N: 5}", setting("env"), {"RUST_LOG": "warn", "N": "5"}),
    ("engine.working_dir", "stage", setting("working_dir"), Path.cwd() / "stage"),
    ("engine.working_dir", '""', lambda it: "working_dir" in it.config.chosen()[1], False),
    ("engine.system_prompt", "Hi", setting("system_prompt"), "Hi"),
    ("engine.max_history", "12", setting("max_history"), 12),
    ("engine.auto_restart", "false", setting("restarts.auto_restart"), False),
    ("engine.max_restarts", "9", setting("restarts.max_restarts"), 9),
    ("engine.health_check_interval", "30", setting("timeouts.health_check_interval"), 30),
    ("logging.level", "DEBUG", host("log", "level"), "DEBUG"),
    ("logging.file", "logs/a.log", host("log", "file"), Path.cwd() / "logs" / "a.log"),
    ("logging.file", '""', host("log", "file"), None),
    ("logging.format", "'%(message)s'", host("log", "format"), "%(message)s"),
    ("logging.max_bytes", "4096", host("log", "max_bytes"), 4096),
    ("logging.backup_count", "7", host("log", "backup_count"), 7),
    ("rate_limit.enabled", "false", setting("rate_limit"), None),
    ("rate_limit.enabled", "true", PER_MINUTE, 60),
    ("rate_limit.requests_per_minute", "20", PER_MINUTE, 20),
    ("rate_limit.burst", "5", BURST, 5),
    ("metrics.enabled", "false", lambda it: it.config.runtime.get("metrics", 0), None),
    ("metrics.type", "opentelemetry", host("metrics", "kind"), MetricsKind.OPENTELEMETRY),
    ("metrics.port", "9191", host("metrics", "port"), 9191),
    ("metrics.endpoint", "/m", host("metrics", "endpoint"), "/m"),
]
SWITCHED_ON: Final[list[Row]] = [
    ("rate_limit", "{}", PER_MINUTE, 60),
    ("claude.rate_limit", "{}", PER_MINUTE, 60),
    ("logging", "{}", host("log", "level"), "INFO"),
    ("metrics", "{}", host("metrics", "port"), 9090),
]
REFUSED: Final = [
    ("gemini.preview_features", "gemini:\n  preview_features: true", "has no such setting"),
    ("claude.strict_mcp_config", "claude:\n  strict_mcp_config: false", "always stay out"),
    (
        "gemini",
        "gemini: {model: m, auth_method: oauth-personal, generation_config: {top_k: 3}}",
        "log in by GEMINI_API_KEY",
    ),
    ("gemini.cost_control.max_turns", "gemini: {cost_control: {max_turns: 3}}", "only claude"),
]
SECTIONS: Final = ("claude", "codex", "gemini")


@pytest.mark.parametrize(("key", "value", "probe", "expected"), [*ROWS, *SWITCHED_ON])
def test_the_key_does_something(key: str, value: str, probe: Probe, expected: object) -> None:
    section = key.partition(".")[0]
    assert probe(seen(nested(key, value), section if section in SECTIONS else "")) == expected


@pytest.mark.parametrize(("key", "text", "reason"), REFUSED, ids=lambda each: each[:30])
def test_what_cannot_be_had_is_refused_with_the_reason(key: str, text: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason) as caught:
        AvatarConfig.parse(text, environ={})
    assert caught.value.key == key


def key_names(tree: Any, above: str = "") -> Iterator[str]:
    for name, value in tree.items():
        if hasattr(value, "items") and name not in {"mcp_servers", "env", "schema"}:
            yield from key_names(value, f"{above}{name}.")
        else:
            yield f"{above}{name}"


def test_every_key_of_the_seed_has_its_row() -> None:
    tree = yaml.safe_load(SEED.read_text("utf-8"))
    assert set(key_names(tree)) == {key for key, *_ in ROWS if key != "claude.structured_output"}


def test_the_whole_file_of_the_seed_loads() -> None:
    config = AvatarConfig.load(SEED, environ={})
    claude, gemini, codex = (seen_in(config, name) for name in ("claude", "gemini", "codex"))
    assert config.provider == "claude"
    assert claude.settings.working_dir == SEED.parent / "stage"
    assert claude.settings.system_prompt == "Be brief."
    assert codex.settings.system_prompt.startswith("You are a lighthouse keeper.\n")
    assert [it.settings.timeouts.turn for it in (claude, gemini, codex)] == [90.5, 45, 30]
    assert {(PER_MINUTE(it), BURST(it)) for it in (claude, gemini, codex)} == {(20, 5)}
    assert host("log", "file")(claude) == SEED.parent / "logs" / "avatar.log"
    assert host("metrics", "endpoint")(claude) == "/avatar-metrics"
    assert config.chosen("embedded")[1].get("max_history") == 12
