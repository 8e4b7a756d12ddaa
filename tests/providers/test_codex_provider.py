import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import AvatarSettings, PermissionMode
from avatar_actors.providers.codex import codex_profile, codex_provider
from avatar_actors.providers.provider import LaunchPlan, Place
from avatar_actors.wire.acp.profile import SystemPromptBy
from tests.providers.flags import values_of

PLACE = Place(private_dir=Path("/private"), session_id="new")
ZED = {"adapter": "zed"}


def plan(**settings: Any) -> LaunchPlan:
    return codex_provider().plan(AvatarSettings(**settings), PLACE)


def test_plain_start_uses_the_users_login() -> None:
    made = plan()
    assert made.argv == ("codex-acp",)
    assert made.env == {
        "TMPDIR": "/private",
        "NO_BROWSER": "1",
        "INITIAL_AGENT_MODE": "read-only",
        "CODEX_CONFIG": '{"project_doc_max_bytes":0}',
    }
    assert made.files == {}


def test_the_projects_agents_file_is_read_only_if_asked() -> None:
    asked = {"project_docs": "true"}
    assert "CODEX_CONFIG" not in plan(options=asked).env
    assert "--config=project_doc_max_bytes=0" in plan(options=ZED).argv
    assert plan(options={**ZED, **asked}).argv == ("codex-acp",)


def test_config_of_the_protocols_adapter_goes_by_the_environment() -> None:
    options = {"sandbox_mode": "workspace-write", "approval_mode": "on-request"}
    made = plan(model="gpt-5.5[high]", options=options, system_prompt="be brief", args=("-v",))
    assert made.argv == ("codex-acp", "-v")
    assert json.loads(made.env["CODEX_CONFIG"]) == {
        "project_doc_max_bytes": 0,
        "model": "gpt-5.5",
        "model_reasoning_effort": "high",
        "sandbox_mode": "workspace-write",
        "approval_policy": "on-request",
    }


def test_config_of_zeds_adapter_goes_by_flags() -> None:
    options = {**ZED, "sandbox_mode": "danger-full-access", "approval_mode": "never"}
    made = plan(model="gpt-5.4", options=options, system_prompt='say "hi"\n')
    flags = values_of(made.argv, "--config")
    assert flags == [
        "project_doc_max_bytes=0",
        'model="gpt-5.4"',
        'sandbox_mode="danger-full-access"',
        'approval_policy="never"',
        'developer_instructions="say \\"hi\\"\\n"',
    ]
    assert "CODEX_CONFIG" not in made.env
    assert "INITIAL_AGENT_MODE" not in made.env


@pytest.mark.parametrize(
    ("options", "variable", "method"),
    [
        ({}, "OPENAI_API_KEY", "api-key"),
        ({}, "CODEX_API_KEY", "api-key"),
        (ZED, "OPENAI_API_KEY", "openai-api-key"),
        (ZED, "CODEX_API_KEY", "codex-api-key"),
    ],
)
def test_key_has_a_home_of_its_own(options: dict[str, str], variable: str, method: str) -> None:
    settings = AvatarSettings(options=options, env={variable: "secret", "HOME": "/nowhere"})
    assert codex_profile(settings).auth_method == method
    made = codex_provider().plan(settings, PLACE)
    assert made.env["CODEX_HOME"] == "/private/codex-home"
    assert made.files == {"codex-home/config.toml": ""}
    assert b"secret" not in msgspec.json.encode(made)


def test_a_key_beside_the_users_own_model_provider_leaves_the_users_home_in_use(
    tmp_path: Path,
) -> None:
    """A private home would hide the provider, and a login would replace the user's."""
    (tmp_path / ".codex").mkdir()
    file = tmp_path / ".codex" / "config.toml"
    settings = AvatarSettings(env={"OPENAI_API_KEY": "k", "HOME": str(tmp_path)})
    for text, is_own in (('model_provider = "mine"', False), ('model = "x"', True), ("[[", True)):
        file.write_text(text)
        assert ("CODEX_HOME" in codex_provider().plan(settings, PLACE).env) is is_own, text
        assert bool(codex_profile(settings).auth_method) is is_own, text


def test_home_that_the_host_names_is_its_own() -> None:
    made = plan(env={"OPENAI_API_KEY": "k", "CODEX_HOME": "/mine"})
    assert "CODEX_HOME" not in made.env


def test_login_method_may_be_named() -> None:
    settings = AvatarSettings(options={"auth": "chatgpt"}, env={"OPENAI_API_KEY": "k"})
    assert codex_profile(settings).auth_method == "chatgpt"
    assert "CODEX_HOME" not in codex_provider().plan(settings, PLACE).env


def test_mode_asks_the_host_unless_nothing_is_restricted() -> None:
    def mode(permissions: PermissionMode, adapter: str) -> str:
        settings = AvatarSettings(permissions=permissions, options={"adapter": adapter})
        return codex_profile(settings).mode

    for adapter in ("acp", "zed"):
        assert mode(PermissionMode.SAFE, adapter) == "read-only"
        assert mode(PermissionMode.ASK, adapter) == "read-only"
    assert mode(PermissionMode.UNRESTRICTED, "acp") == "workspace-write"
    assert mode(PermissionMode.UNRESTRICTED, "zed") == "auto"
    assert plan(mode="agent").env["INITIAL_AGENT_MODE"] == "agent"


def test_system_prompt_of_the_protocols_adapter_goes_by_the_session() -> None:
    assert codex_profile(AvatarSettings()).system_prompt is SystemPromptBy.FIELD
    assert codex_profile(AvatarSettings(options=ZED)).system_prompt is SystemPromptBy.LAUNCH


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"options": {"adapter": "other"}}, "is one of acp, zed"),
        ({"options": {"sandbox_mode": "none"}}, "is one of read-only, "),
        ({"options": {"approval_mode": "maybe"}}, "is one of untrusted, "),
        ({"options": {"sandbox": "x"}}, "codex has no option 'sandbox'"),
        ({"model": "m", "env": {"CODEX_CONFIG": "{}"}}, "in CODEX_CONFIG or as settings"),
        ({"options": ZED, "system_prompt": "x" * 200_000}, "--config has 200034 bytes"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        plan(**settings)


def test_adapter_may_be_run_by_npx() -> None:
    made = plan(executable="npx", args=("@zed-industries/codex-acp",), model="gpt-5.4")
    assert made.argv[:2] == ("npx", "@zed-industries/codex-acp")
    assert 'model="gpt-5.4"' in values_of(made.argv, "--config")
    own = plan(executable="npx", args=("@agentclientprotocol/codex-acp",), model="gpt-5.4")
    assert own.argv == ("npx", "@agentclientprotocol/codex-acp")
    assert "CODEX_CONFIG" in own.env


@pytest.mark.parametrize(
    ("options", "method", "tried"),
    [
        ({}, "openai-api-key", "api-key"),
        ({}, "codex-api-key", "api-key"),
        ({}, "chatgpt", "chatgpt"),
        (ZED, "openai-api-key", "openai-api-key"),
    ],
)
def test_words_for_a_login_are_those_of_either_adapter(
    options: dict[str, str], method: str, tried: str
) -> None:
    settings = AvatarSettings(options={**options, "auth": method})
    assert codex_profile(settings).auth_method == tried
