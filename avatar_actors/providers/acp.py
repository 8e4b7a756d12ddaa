"""Any agent that speaks ACP, by its command."""

from __future__ import annotations

from typing import Final

import msgspec

from avatar_actors.errors import SettingsError
from avatar_actors.providers.options import check_options, choice
from avatar_actors.providers.provider import LaunchPlan, Place, Provider
from avatar_actors.settings import AvatarSettings
from avatar_actors.wire.acp import AcpWire
from avatar_actors.wire.acp_profile import AcpProfile, FilesOffered

# `files`: who reads and writes text files, the agent itself or the host in its name, which keeps
# to the working directory. `auth_method`: tried once when the agent wants authentication.
OPTIONS: Final = ("auth_method", "files")
FILES: Final = {"agent": FilesOffered.NONE, "host": FilesOffered.READ_AND_WRITE}


def acp_provider(
    name: str,
    command: tuple[str, ...],
    profile: AcpProfile | None = None,
    passes: tuple[str, ...] = (),
    install: str = "",
) -> Provider:
    """A provider for the agent that this command starts.

    `settings.executable` stands in for the first word, `settings.args` come after the last.
    """
    quirks = profile or AcpProfile()

    def plan(settings: AvatarSettings, _: Place) -> LaunchPlan:
        check_options(name, settings, OPTIONS)
        executable = settings.executable or next(iter(command), "")
        if not executable:
            raise SettingsError(f"{name} needs a command: set `executable`, and `args` if need be")
        return LaunchPlan(argv=(executable, *command[1:], *settings.args))

    def wire(settings: AvatarSettings) -> AcpWire:
        return AcpWire(_chosen(quirks, settings), settings.max_line)

    return Provider(name=name, plan=plan, wire=wire, passes=passes, install=install)


def any_acp_provider() -> Provider:
    """The registered `acp`: the command is `settings.executable` with `settings.args`."""
    return acp_provider("acp", ())


def _chosen(profile: AcpProfile, settings: AvatarSettings) -> AcpProfile:
    options = settings.options
    if "files" in options:
        files = FILES[choice(settings, "files", FILES, "agent")]
        profile = msgspec.structs.replace(profile, files=files)
    method = options.get("auth_method", profile.auth_method)
    return msgspec.structs.replace(profile, auth_method=method)
