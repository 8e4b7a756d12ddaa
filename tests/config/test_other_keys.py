"""The keys that the seed does not have; with these, every key is seen to work."""

from typing import Final

import pytest
import yaml

from avatar_actors.model.settings import PermissionMode, WhileBusy
from tests.config.probes import Probe, Row, flag, generation, host, nested, program, setting
from tests.config.seen import Seen, seen
from tests.config.table import keys_in_tree, values
from tests.config.test_seed_keys import REFUSED, ROWS


def option(name: str) -> Probe:
    return lambda it: it.settings.options[name]


def variable(name: str) -> Probe:
    return lambda it: it.plan.env.get(name)


def server(field: str) -> Probe:
    return lambda it: getattr(it.settings.mcp_servers[0], field)


def own(field: str) -> Probe:
    return lambda it: getattr(it.config.providers[0], field)


def runtime(option: str) -> Probe:
    return lambda it: dict(it.config.runtime)[option]


def arguments(it: Seen) -> tuple[str, ...]:
    return it.plan.argv


OWN: Final = "{command: agent, %s}"
THINKING: Final = generation("thinkingConfig")
BACKGROUND: Final = variable("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS")
THOUGHTS: Final = {"includeThoughts": True, "thinkingBudget": -1}
LIMIT: Final = setting("rate_limit.per_minute")


OTHERS: Final[list[Row]] = [
    ("engine.restarts.period", "7", setting("restarts.period"), 7),
    ("engine.restarts.first_delay", "0.5", setting("restarts.first_delay"), 0.5),
    ("engine.restarts.factor", "3", setting("restarts.factor"), 3),
    ("engine.restarts.max_delay", "4", setting("restarts.max_delay"), 4),
    ("engine.timeout", "8", setting("timeouts.turn"), 8),
    ("engine.timeouts.start", "7", setting("timeouts.start"), 7),
    ("engine.timeouts.turn", "7", setting("timeouts.turn"), 7),
    ("engine.timeouts.interrupt", "7", setting("timeouts.interrupt"), 7),
    ("engine.timeouts.stop", "7", setting("timeouts.stop"), 7),
    ("engine.timeouts.permission", "7", setting("timeouts.permission"), 7),
    ("engine.timeouts.stall_warning", "7", setting("timeouts.stall_warning"), 7),
    ("engine.timeouts.stall_alarm", "7", setting("timeouts.stall_alarm"), 7),
    ("engine.timeouts.health_check_interval", "7", setting("timeouts.health_check_interval"), 7),
    ("engine.permissions", "safe", setting("permissions"), PermissionMode.SAFE),
    ("engine.permissions", "unrestricted", setting("permissions"), PermissionMode.UNRESTRICTED),
    ("engine.allowed_tools", "[a]", setting("tools.allow"), ("a",)),
    ("engine.denied_tools", "[b]", setting("tools.deny"), ("b",)),
    ("claude.denied_tools", "[b, c]", flag("--disallowedTools"), "b,c"),
    ("engine.while_busy", "steer", setting("while_busy"), WhileBusy.STEER),
    ("engine.retry.max_attempts", "3", setting("retry.max_attempts"), 3),
    ("engine.retry.backoff_base", "0", setting("retry.backoff_base"), 0),
    ("engine.retry.max_delay", "9", setting("retry.max_delay"), 9),
    ("engine.mcp_servers.a.command", "x", server("command"), "x"),
    ("engine.mcp_servers.a", "{command: x, args: [y]}", server("args"), ("y",)),
    ("engine.mcp_servers.a", "{command: x, env: {B: c}}", server("env"), {"B": "c"}),
    ("engine.mcp_servers.a.url", "http://x", server("url"), "http://x"),
    ("engine.mcp_servers.a", "{url: http://x, transport: sse}", server("transport"), "sse"),
    ("engine.mcp_servers.a", "{url: http://x, headers: {B: c}}", server("headers"), {"B": "c"}),
    ("engine.max_line", "99", setting("max_line"), 99),
    ("engine.max_answer", "98", setting("max_answer"), 98),
    ("engine.priority", "normal", setting("priority"), "normal"),
    ("engine.max_history_bytes", "9", setting("max_history_bytes"), 9),
    ("codex.mode", "agent", variable("INITIAL_AGENT_MODE"), "agent"),
    ("claude.env", "{A: b}", setting("env"), {"A": "b"}),
    ("claude.rate_limit.enabled", "false", setting("rate_limit"), None),
    ("claude.rate_limit.requests_per_minute", "9", LIMIT, 9),
    ("claude.rate_limit.burst", "9", setting("rate_limit.burst"), 9),
    ("gemini.session.resume_id", "s", setting("resume"), "s"),
    ("claude.args", "[--x, y]", lambda it: it.plan.argv[-2:], ("--x", "y")),
    ("gemini.cost_control.max_budget_usd", "3", setting("budget.cost_usd"), 3),
    ("gemini.cost_control.max_tokens", "3", setting("budget.tokens"), 3),
    ("gemini.cost_control.max_prompts", "3", setting("budget.turns"), 3),
    ("gemini.cost_control.warn_at", "0.5", setting("budget.warn_at"), 0.5),
    ("claude.effort", "high", flag("--effort"), "high"),
    ("claude.max_thinking_tokens", "5", flag("--max-thinking-tokens"), "5"),
    ("claude.max_retries", "5", variable("CLAUDE_CODE_MAX_RETRIES"), "5"),
    ("claude.system_prompt_snapshot", "'off'", flag("--system-prompt-snapshot"), "off"),
    ("claude.disable_background_tasks", "true", BACKGROUND, "1"),
    ("claude.disable_background_tasks", "false", BACKGROUND, None),
    ("claude.file_checkpoints", "true", variable("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"), "1"),
    ("claude.sandbox", "true", variable("IS_SANDBOX"), "1"),
    ("gemini.files", "host", option("files"), "host"),
    ("gemini.acp_flag", "--experimental-acp", lambda it: it.plan.argv[1], "--experimental-acp"),
    ("gemini.fallback", "oneshot", option("fallback"), "oneshot"),
    ("gemini.trust_workspace", "true", variable("GEMINI_CLI_TRUST_WORKSPACE"), "true"),
    ("gemini.generation_config.thinking_budget", "-1", THINKING, THOUGHTS),
    ("codex.adapter", "zed", lambda it: it.plan.argv[1], "--config=project_doc_max_bytes=0"),
    ("codex.project_docs", "true", variable("CODEX_CONFIG"), None),
    ("acp.executable", "agent", program, "agent"),
    ("acp", "{executable: agent, files: host}", option("files"), "host"),
    ("acp", "{executable: agent, auth_method: k}", option("auth_method"), "k"),
    ("acp", "{url: ws://x}", setting("url"), "ws://x"),
    ("acp", "{url: 'ws://127.0.0.1:9', headers: {A: b}}", setting("headers"), {"A": "b"}),
    ("embedded.files", "agent", option("files"), "agent"),
    ("providers.p.command", "agent", program, "agent"),
    ("providers.p", OWN % "args: [x]", arguments, ("agent", "x")),
    ("providers.p", OWN % "install: get it", own("install"), "get it"),
    ("providers.p", OWN % "passes: [P_*]", own("passes"), ("P_*",)),
    ("providers.p", OWN % "options: {files: host}", setting("options"), {"files": "host"}),
    ("budget.cost_usd", "5", host("budget", "cost_usd"), 5),
    ("budget.tokens", "5", host("budget", "tokens"), 5),
    ("budget.turns", "5", host("budget", "turns"), 5),
    ("budget.warn_at", "0.5", host("budget", "warn_at"), 0.5),
    ("runtime.max_avatars", "5", runtime("max_avatars"), 5),
    ("runtime.observable", "true", runtime("observable"), True),
    ("metrics.host", "0.0.0.0", host("metrics", "host"), "0.0.0.0"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value", "probe", "expected"), OTHERS)
def test_the_key_does_something(key: str, value: str, probe: Probe, expected: object) -> None:
    section, _, rest = key.partition(".")
    name = rest.partition(".")[0] if section == "providers" else section
    is_provider = section in {"acp", "claude", "codex", "gemini", "providers"}
    assert probe(seen(nested(key, value), name if is_provider else "")) == expected


def test_every_key_has_a_row() -> None:
    texts = [nested(key, value) for key, value, *_ in (*ROWS, *OTHERS)]
    texts += [text for _, text, _ in REFUSED]
    seen_to_work = [key for text in texts for key, _ in keys_in_tree(yaml.safe_load(text))]
    assert [path for path, key in values() if key not in seen_to_work] == []
