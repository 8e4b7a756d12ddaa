"""How headless Gemini is launched."""

import sys
from pathlib import Path

import pytest

from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import AvatarSettings, PermissionMode
from avatar_actors.model.tool_policy import ToolPolicy
from avatar_actors.model.values import McpServer
from avatar_actors.providers.gemini_headless import gemini_headless_provider
from avatar_actors.providers.provider import LaunchPlan, Place
from avatar_actors.wire.gemini.wire import GeminiHeadlessWire

PRIVATE = Path("/run/avatar/private")
PROVIDER = gemini_headless_provider()


def launch(settings: AvatarSettings) -> LaunchPlan:
    return PROVIDER.plan(settings, Place(private_dir=PRIVATE, session_id="s-new"))


def test_the_shim_runs_gemini_with_stream_json() -> None:
    argv = launch(AvatarSettings(model="gemini-2.5-pro", options={"headless": "true"})).argv
    at = argv.index("--")
    assert argv[:4] == (sys.executable, "-I", "-S", "-c")
    assert argv[at - 1] == "--session-id=s-new"
    assert argv[at + 1 :] == ("gemini", "--output-format=stream-json", "--model=gemini-2.5-pro")


def test_only_the_unrestricted_mode_has_tools_that_need_approval() -> None:
    assert "--yolo" not in launch(AvatarSettings()).argv
    argv = launch(AvatarSettings(permissions=PermissionMode.UNRESTRICTED)).argv
    assert argv[-2:] == ("--yolo", "--skip-trust")
    assert launch(AvatarSettings(mode="auto_edit")).argv[-1] == "--approval-mode=auto_edit"
    assert launch(AvatarSettings(mode="autoEdit")).argv[-1] == "--approval-mode=auto_edit"


def test_the_system_prompt_is_a_private_file() -> None:
    plan = launch(AvatarSettings(system_prompt="Be brief."))
    path = Path(plan.env["GEMINI_SYSTEM_MD"])
    assert path.parent == PRIVATE
    assert plan.files == {path.name: "Be brief."}


def test_what_this_mode_cannot_do_is_refused() -> None:
    with pytest.raises(SettingsError, match="MCP"):
        launch(AvatarSettings(mcp_servers=(McpServer(name="x", command="y"),)))
    with pytest.raises(SettingsError, match="no tool policy can hold"):
        launch(AvatarSettings(tools=ToolPolicy(deny=("x",))))
    with pytest.raises(SettingsError, match="'top_k'"):
        launch(AvatarSettings(options={"top_k": "3"}))


def test_it_speaks_the_headless_wire() -> None:
    assert isinstance(PROVIDER.wire(AvatarSettings()), GeminiHeadlessWire)
