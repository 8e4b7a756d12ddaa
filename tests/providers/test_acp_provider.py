import json
from pathlib import Path

import pytest

from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import AvatarSettings, PermissionMode
from avatar_actors.providers.acp import acp_provider, any_acp_provider
from avatar_actors.providers.provider import Place, Provider
from avatar_actors.wire.acp.profile import AcpProfile, FilesOffered
from avatar_actors.wire.commands import Open

PLACE = Place(private_dir=Path("/private"), session_id="new")


def offered_files(provider: Provider, settings: AvatarSettings) -> object:
    wire = provider.wire(settings)
    wire.command(Open(cwd="/x"))
    return json.loads(wire.data_to_send())["params"]["clientCapabilities"]["fs"]


def test_command_comes_from_the_settings() -> None:
    settings = AvatarSettings(
        executable="/bin/agent", args=("--acp", "-v"), permissions=PermissionMode.UNRESTRICTED
    )
    plan = any_acp_provider().plan(settings, PLACE)
    assert (plan.argv, plan.env, plan.files) == (("/bin/agent", "--acp", "-v"), {}, {})


def test_command_is_needed() -> None:
    with pytest.raises(SettingsError, match="acp needs a command"):
        any_acp_provider().plan(AvatarSettings(), PLACE)


def test_provider_of_ones_own_has_its_command_and_takes_more() -> None:
    provider = acp_provider("mine", ("mine", "acp"), passes=("MINE_*",), install="get mine")
    assert provider.plan(AvatarSettings(), PLACE).argv == ("mine", "acp")
    settings = AvatarSettings(executable="/opt/mine", args=("-v",))
    assert provider.plan(settings, PLACE).argv == ("/opt/mine", "acp", "-v")
    assert (provider.passes, provider.install) == (("MINE_*",), "get mine")


def test_unknown_option_is_refused() -> None:
    settings = AvatarSettings(executable="x", options={"fils": "host"})
    with pytest.raises(SettingsError, match="acp has no option 'fils'; there are: auth_method, "):
        any_acp_provider().plan(settings, PLACE)


def test_files_are_offered_when_the_host_says_so() -> None:
    provider = any_acp_provider()
    nothing = {"readTextFile": False, "writeTextFile": False}
    assert offered_files(provider, AvatarSettings()) == nothing
    everything = {"readTextFile": True, "writeTextFile": True}
    assert offered_files(provider, AvatarSettings(options={"files": "host"})) == everything
    with pytest.raises(SettingsError, match="'files' is one of agent, host"):
        provider.wire(AvatarSettings(options={"files": "both"}))


def test_files_of_a_profile_stand_unless_the_host_says_otherwise() -> None:
    provider = acp_provider("mine", ("mine",), AcpProfile(files=FilesOffered.WRITE))
    writes = {"readTextFile": False, "writeTextFile": True}
    assert offered_files(provider, AvatarSettings()) == writes
    nothing = {"readTextFile": False, "writeTextFile": False}
    assert offered_files(provider, AvatarSettings(options={"files": "agent"})) == nothing
