"""What the host's permissions rest on, by provider and settings."""

from pathlib import Path

import pytest
import trio

from avatar_actors import open_avatar
from avatar_actors.model.settings import AvatarOptions, AvatarSettings, PermissionMode
from avatar_actors.model.tool_policy import ToolPolicy
from avatar_actors.model.values import PermissionBasis
from avatar_actors.providers.codex import codex_profile, codex_provider
from avatar_actors.providers.provider import Place
from tests.fake_agents import launcher

SAFE, ASK, UNRESTRICTED = PermissionMode.SAFE, PermissionMode.ASK, PermissionMode.UNRESTRICTED
ENFORCED, ASKED, ON_TRUST = PermissionBasis
POLICY = ToolPolicy(deny=("execute",))


@pytest.mark.parametrize("adapter", ["acp", "zed"])
@pytest.mark.parametrize(
    ("permissions", "policy", "basis"),
    [
        (SAFE, ToolPolicy(), ENFORCED),
        (ASK, ToolPolicy(), ENFORCED),
        (UNRESTRICTED, ToolPolicy(), ON_TRUST),
        (UNRESTRICTED, POLICY, ENFORCED),
    ],
)
def test_codex_asks_wherever_something_is_to_be_decided(
    adapter: str, permissions: PermissionMode, policy: ToolPolicy, basis: PermissionBasis
) -> None:
    settings = AvatarSettings(permissions=permissions, tools=policy, options={"adapter": adapter})
    profile = codex_profile(settings)
    assert profile.permissions is basis
    assert (profile.mode == "read-only") == (basis is ENFORCED)
    if adapter == "acp":
        plan = codex_provider().plan(settings, Place(private_dir=Path("/private"), session_id=""))
        assert plan.env["INITIAL_AGENT_MODE"] == profile.mode


@pytest.mark.parametrize("option", ["approval_mode", "sandbox_mode"])
def test_a_sandbox_of_the_hosts_own_is_on_trust(option: str) -> None:
    settings = AvatarSettings(options={option: "never"})
    assert codex_profile(settings).permissions is ON_TRUST


@pytest.mark.parametrize(
    ("agent", "options", "basis"),
    [
        ("claude", {}, ENFORCED),
        ("claude", {"mode": "default"}, ENFORCED),
        ("claude", {"mode": "acceptEdits"}, ON_TRUST),
        ("gemini-headless", {}, ENFORCED),
        ("gemini-headless", {"permissions": UNRESTRICTED}, ON_TRUST),
        ("gemini", {"permissions": SAFE}, ENFORCED),
        ("codex-acp", {}, ENFORCED),
        ("codex-acp", {"mode": "agent"}, ON_TRUST),
        ("acp", {"mode": "auto"}, ON_TRUST),
        ("acp", {}, ENFORCED),
    ],
)
async def test_a_mode_that_the_host_names_is_decisive(
    tmp_path: Path, agent: str, options: AvatarOptions, basis: PermissionBasis
) -> None:
    with trio.fail_after(120):
        wished: AvatarOptions = {**options, "working_dir": tmp_path}
        async with open_avatar(launcher.agent(agent), **wished) as avatar:
            assert (await avatar.capabilities()).permissions is basis
