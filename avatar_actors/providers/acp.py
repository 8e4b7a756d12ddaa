"""Any agent that speaks ACP, by its command or its address."""

from __future__ import annotations

from typing import Final

import msgspec

from avatar_actors.model.command_line import command_line
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import AvatarSettings
from avatar_actors.providers.acp_address import REMOTE_OPTIONS, refuse_remote_options, remote_at
from avatar_actors.providers.acp_permissions import permission_variables, with_permissions
from avatar_actors.providers.options import check_options, choice
from avatar_actors.providers.provider import LaunchPlan, Place, Provider, Remote
from avatar_actors.wire.acp.profile import AcpProfile, FilesOffered
from avatar_actors.wire.acp.wire import AcpWire

# `files`: who reads and writes text files, the agent itself or the host in its name, which keeps
# to the working directory. `auth_method`: tried once when the agent wants authentication.
OPTIONS: Final = ("auth_method", "files", *REMOTE_OPTIONS)
FILES: Final = {"agent": FilesOffered.NONE, "host": FilesOffered.READ_AND_WRITE}


def acp_provider(
    name: str,
    command: tuple[str, ...] | str,
    profile: AcpProfile | None = None,
    passes: tuple[str, ...] = (),
    install: str = "",
) -> Provider:
    """A provider for the agent that this command starts, or that is found at this URL.

    `settings.executable` stands in for the first word, `settings.args` come after the last;
    `settings.url` stands in for the URL.
    """
    quirks = profile or AcpProfile()
    home, words = (command, ()) if isinstance(command, str) else ("", command)

    def plan(settings: AvatarSettings, _: Place) -> LaunchPlan:
        check_options(name, settings, OPTIONS)
        refuse_remote_options(settings)
        executable = settings.executable or next(iter(words), "")
        if not executable:
            wanted = "set `executable`, and `args` if need be, or `url`"
            raise SettingsError(f"{name} needs a command or an address: {wanted}")
        argv = command_line((executable, *words[1:]), (), settings.args)
        return LaunchPlan(argv=argv, env=permission_variables(settings))

    def remote(settings: AvatarSettings) -> Remote | None:
        if not (url := settings.url or home):
            return None
        check_options(name, settings, OPTIONS)
        if words:
            raise SettingsError(f"{name} is started by a command: leave out `url`")
        return remote_at(url, settings)

    def wire(settings: AvatarSettings) -> AcpWire:
        chosen = with_permissions(_chosen(quirks, settings), settings)
        return AcpWire(chosen, settings.max_line)

    return Provider(name=name, plan=plan, wire=wire, passes=passes, install=install, remote=remote)


def any_acp_provider() -> Provider:
    """The registered `acp`: `settings.executable` with `settings.args`, or `settings.url`."""
    return acp_provider("acp", ())


def _chosen(profile: AcpProfile, settings: AvatarSettings) -> AcpProfile:
    options = settings.options
    if "files" in options:
        files = FILES[choice(settings, "files", FILES, "agent")]
        profile = msgspec.structs.replace(profile, files=files)
    method = options.get("auth_method", profile.auth_method)
    return msgspec.structs.replace(profile, auth_method=method)
