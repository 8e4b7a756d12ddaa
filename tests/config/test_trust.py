"""What a `.avatar.yaml` may say that was only found: each key is judged."""

import json
from collections.abc import Iterator
from contextlib import chdir
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

import pytest
import yaml

from avatar_actors.config.config import AvatarConfig
from avatar_actors.config.keys import Key, Means
from avatar_actors.config.search import FOUND_MAY_SET
from avatar_actors.model.errors import ConfigError
from avatar_actors.model.settings import PermissionMode, WhileBusy
from tests.config.probes import Probe, host, setting
from tests.config.seen import seen_in
from tests.config.table import keys_in_tree, values
from tests.config.test_other_keys import OTHERS, runtime
from tests.config.test_seed_keys import ROWS

# The setting, a line that sets it, where its effect is to be seen, and what is seen there.
ALLOWED: Final[list[tuple[str, str, Probe, object]]] = [
    ("budget.cost_usd", "budget: {cost_usd: 2}", host("budget", "cost_usd"), 2),
    ("budget.cost_usd", "embedded: {cost_control: {max_budget_usd: 2}}",
     setting("budget.cost_usd"), 2),
    ("budget.tokens", "budget: {tokens: 9}", host("budget", "tokens"), 9),
    ("budget.turns", "embedded: {cost_control: {max_prompts: 3}}", setting("budget.turns"), 3),
    ("budget.warn_at", "budget: {turns: 2, warn_at: 0.5}", host("budget", "warn_at"), 0.5),
    ("max_avatars", "runtime: {max_avatars: 2}", runtime("max_avatars"), 2),
    ("max_history", "engine: {max_history: 3}", setting("max_history"), 3),
    ("max_history_bytes", "engine: {max_history_bytes: 9}", setting("max_history_bytes"), 9),
    ("permissions", "engine: {permissions: safe}", setting("permissions"), PermissionMode.SAFE),
    ("rate_limit.enabled", "rate_limit: {enabled: true}", setting("rate_limit.per_minute"), 60),
    ("rate_limit.per_minute", "rate_limit: {requests_per_minute: 2}",
     setting("rate_limit.per_minute"), 2),
    ("rate_limit.burst", "embedded: {rate_limit: {burst: 4}}", setting("rate_limit.burst"), 4),
    ("timeouts.turn", "embedded: {timeout: 5}", setting("timeouts.turn"), 5),
    ("timeouts.permission", "engine: {timeouts: {permission: 7}}",
     setting("timeouts.permission"), 7),
    ("timeouts.stall_warning", "engine: {timeouts: {stall_warning: 7}}",
     setting("timeouts.stall_warning"), 7),
    ("timeouts.stall_alarm", "engine: {timeouts: {stall_alarm: 7}}",
     setting("timeouts.stall_alarm"), 7),
    ("while_busy", "engine: {while_busy: reject}", setting("while_busy"), WhileBusy.REJECT),
]  # fmt: skip
# The keys of the file by which these are set; every other one is refused.
HARMLESS: Final = (
    "*.max_history", "*.max_history_bytes",
    "*.timeout", "*.timeouts.turn", "*.timeouts.permission", "*.timeouts.stall_*",
    "*.while_busy", "*rate_limit.*", "budget.*", "*.cost_control.max_prompts",
    "*.cost_control.max_tokens", "*.cost_control.warn_at", "[!c]*.cost_control.max_budget_usd",
    "codex.cost_control.max_budget_usd", "runtime.max_avatars",
    "claude.strict_mcp_config",  # it can only say what is so anyhow
)  # fmt: skip
STRICTEST: Final = ("permissions: safe", "permission_mode: plan", "approval_mode: plan")


@pytest.fixture(autouse=True)
def here(tmp_path: Path) -> Iterator[None]:
    with chdir(tmp_path):
        yield


def found(text: str, environ: dict[str, str] | None = None) -> AvatarConfig:
    """What is made of a `.avatar.yaml` that nobody named."""
    Path(".avatar.yaml").write_text(f"# a comment\n{text}\n", "utf-8")
    return AvatarConfig.load(None, environ or {})


@pytest.mark.parametrize(("target", "text", "probe", "expected"), ALLOWED)
def test_what_is_harmless_works(target: str, text: str, probe: Probe, expected: object) -> None:
    assert target in FOUND_MAY_SET
    assert probe(seen_in(found(text))) == expected


def test_every_setting_of_the_list_is_seen_to_work_and_has_its_reason() -> None:
    assert {target for target, *_ in ALLOWED} == set(FOUND_MAY_SET)
    assert all(reason.endswith(".") for reason in FOUND_MAY_SET.values())


def known_values() -> Iterator[tuple[Key, str]]:
    """Values that the keys are known to take; `false` of a switch may mean nothing at all."""
    for path, value, *_ in (*ROWS, *OTHERS):
        for key, each in keys_in_tree(yaml.safe_load(nested(path, value))):
            if each or key.note(Means) is None or key.choices():
                yield key, json.dumps(each)


def nested(path: str, value: str) -> str:
    for name in reversed(path.split(".")):
        value = f"{{{name}: {value}}}"
    return value


def is_allowed(path: str, value: str) -> bool:
    by_key = any(fnmatchcase(path, pattern) for pattern in HARMLESS)
    by_value = f"{path.rpartition('.')[2]}: {json.loads(value)}" in STRICTEST
    return (by_key or by_value) and not path.startswith("providers.")


# The other keys of an MCP server only stand beside one of these.
OF_SERVERS: Final = ("command", "url")
JUDGED: Final = [
    (path, key)
    for path, key in values()
    if ".mcp_servers.mine." not in path or path.endswith(OF_SERVERS)
]
VALUES: Final = list(known_values())
EVERY: Final = sorted(
    {(path, value) for path, key in JUDGED for known, value in VALUES if known == key}
)


def test_every_key_is_judged() -> None:
    assert {path for path, _ in JUDGED} == {path for path, _ in EVERY}


@pytest.mark.parametrize(("path", "value"), [each for each in EVERY if not is_allowed(*each)])
def test_every_other_key_is_refused_with_its_place_and_what_to_do(path: str, value: str) -> None:
    with pytest.raises(ConfigError, match="a file that was only found in the current") as caught:
        found(nested(path, value))
    assert path.startswith(caught.value.key)
    assert (caught.value.file, caught.value.line) == (".avatar.yaml", 2)
    assert str(caught.value).endswith("name it: -c .avatar.yaml or AVATAR_CONFIG=.avatar.yaml")


@pytest.mark.parametrize(("path", "value"), [each for each in EVERY if is_allowed(*each)])
def test_a_harmless_key_is_taken_in_every_section(path: str, value: str) -> None:
    found(nested(path, value))


def test_a_file_that_is_named_says_all_of_it() -> None:
    found("engine: {max_history: 3}")
    text = "provider: acp\nacp: {executable: ./agent}\nlogging: {file: a.log}\n"
    Path(".avatar.yaml").write_text(text, "utf-8")
    for path, environ in ((".avatar.yaml", {}), (None, {"AVATAR_CONFIG": ".avatar.yaml"})):
        config = AvatarConfig.load(path, environ)
        assert (config.provider, config.source) == ("acp", ".avatar.yaml")


@pytest.mark.parametrize("text", ["", "claude: {permissions: safe, timeout: 1}"])
def test_the_users_own_file_and_variables_count_before_it(tmp_path: Path, text: str) -> None:
    own = tmp_path / "home/.config/avatar/config.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("provider: claude\nengine: {permissions: ask, timeout: 60}\nbudget: {turns: 3}")
    environ = {"HOME": str(tmp_path / "home"), "AVATAR__ENGINE__MAX_HISTORY": "7"}
    config = found(
        f"{text}\nbudget: {{turns: 99, tokens: 5}}\nembedded: {{max_history: 1}}", environ
    )
    claude = seen_in(config)
    assert config.source == f"{own} and .avatar.yaml"
    assert (config.provider, claude.settings.permissions) == ("claude", PermissionMode.ASK)
    assert (claude.settings.timeouts.turn, claude.settings.max_history) == (60, 7)
    assert seen_in(config, "embedded").settings.max_history == 7
    assert (host("budget", "turns")(claude), host("budget", "tokens")(claude)) == (3, 5)
