"""Which mode an ACP agent is put into so that it asks, and what that is worth."""

import pytest

from avatar_actors.model.settings import AvatarSettings, PermissionMode
from avatar_actors.model.tool_policy import ToolPolicy
from avatar_actors.model.values import Choice, McpServer, PermissionBasis
from avatar_actors.providers.acp import permission_variables, with_permissions
from avatar_actors.wire.acp.choices import Choices
from avatar_actors.wire.acp.opening import held_by
from avatar_actors.wire.acp.profile import AcpProfile, HeldBy

SAFE, ASK, UNRESTRICTED = PermissionMode.SAFE, PermissionMode.ASK, PermissionMode.UNRESTRICTED
ENFORCED, ASKED, ON_TRUST = PermissionBasis
DENY = ToolPolicy(deny=("rm",))


def held(agent: str, settings: AvatarSettings, *modes: str) -> HeldBy:
    profile = with_permissions(AcpProfile(), settings)
    return held_by(profile, agent, Choices("mode", tuple(map(Choice, modes)), modes[0]))


@pytest.mark.parametrize(
    ("mode", "offered", "chosen"),
    [
        (SAFE, ("auto", "default", "plan", "yolo"), "plan"),
        (SAFE, ("full-access", "read-only", "ask"), "read-only"),
        (SAFE, ("auto", "default"), "default"),
        (ASK, ("auto", "default", "plan"), "default"),
        (ASK, ("build", "plan"), ""),
        (ASK, ("auto", "Read_Only"), "Read_Only"),
        (ASK, ("auto", "yolo", "bypassPermissions", "acceptEdits"), ""),
        (UNRESTRICTED, ("auto", "default"), ""),
    ],
)
def test_of_an_unknown_agent_the_mode_that_asks_is_chosen(
    mode: PermissionMode, offered: tuple[str, ...], chosen: str
) -> None:
    assert held("stranger", AvatarSettings(permissions=mode), *offered) == HeldBy(chosen, ON_TRUST)


def test_a_policy_wants_to_be_asked_in_unrestricted_mode_too() -> None:
    settings = AvatarSettings(permissions=UNRESTRICTED, tools=DENY)
    assert held("stranger", settings, "auto", "default").mode == "default"
    assert held("codex-acp", settings, "auto", "read-only").permissions is ENFORCED


@pytest.mark.parametrize("mode", list(PermissionMode))
@pytest.mark.parametrize("agent", ["qwen-code", "@agentclientprotocol/claude-agent-acp"])
def test_known_agents_get_their_mode_that_asks(agent: str, mode: PermissionMode) -> None:
    found = held(agent, AvatarSettings(permissions=mode), "auto", "plan", "default")
    assert found == HeldBy("default", ENFORCED)


def test_a_known_agent_without_its_mode_is_on_trust() -> None:
    assert held("qwen-code", AvatarSettings(), "auto", "ask") == HeldBy("ask", ON_TRUST)


def test_opencode_is_told_by_a_variable() -> None:
    settings = AvatarSettings(mcp_servers=(McpServer(name="files", command="x"),))
    [variable] = permission_variables(settings).values()
    assert variable == '{"edit":"ask","bash":"ask","webfetch":"ask","files_*":"ask"}'
    assert held("OpenCode", settings, "build", "plan") == HeldBy("", ASKED, asks_after_start=True)
    assert not permission_variables(AvatarSettings(permissions=UNRESTRICTED))
    told_otherwise = AvatarSettings(env={"OPENCODE_PERMISSION": "{}"})
    for own in (told_otherwise, AvatarSettings(url="wss://far")):
        assert held("OpenCode", own, "build", "plan").permissions is ON_TRUST
