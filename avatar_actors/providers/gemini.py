"""Gemini CLI over ACP, or headless when `options={"headless": "true"}` says so.

Its login lives in `~/.gemini`, so the agent gets the user's HOME. Only generation options, which
0.61.0 takes from a settings file alone, need a HOME of their own: then the login has to come by
the environment (GEMINI_API_KEY, or Vertex).
"""

from __future__ import annotations

from typing import Final

import msgspec

from avatar_actors.model.command_line import Flag, command_line
from avatar_actors.model.settings import AvatarSettings, PermissionMode
from avatar_actors.model.values import PermissionBasis
from avatar_actors.providers.gemini_generation import GENERATION, generation_settings
from avatar_actors.providers.gemini_trust import trusts_workspace
from avatar_actors.providers.options import check_options, choice
from avatar_actors.providers.provider import LaunchPlan, Place, Provider
from avatar_actors.providers.sign_in import gemini_sign_in
from avatar_actors.providers.stores.gemini import gemini_store, gemini_transcript
from avatar_actors.wire.acp.profile import AcpProfile, FilesOffered, SystemPromptBy
from avatar_actors.wire.acp.wire import AcpWire
from avatar_actors.wire.wire import Wire

OPTIONS: Final = ("acp_flag", "auth_method", "files", "headless", "trust_workspace", *GENERATION)
YES_OR_NO: Final = ("false", "true")

HOME: Final = "gemini-home"
SYSTEM_PROMPT: Final = "gemini-system.md"
# UNRESTRICTED is not yolo: no tool policy would be asked then.
MODES: Final = {
    PermissionMode.SAFE: "plan",
    PermissionMode.ASK: "default",
    PermissionMode.UNRESTRICTED: "default",
}


def gemini_provider() -> Provider:
    """Gemini CLI as it is installed."""
    return Provider(
        name="gemini",
        plan=_plan,
        wire=_wire,
        passes=("GEMINI_API_KEY", "GEMINI_CLI_HOME", "GOOGLE_*", "CLOUDSDK_*"),
        install="npm install -g @google/gemini-cli",
        store=gemini_store,
        transcript=gemini_transcript,
        minimum={"gemini-cli": "0.61.0"},
        sign_in=gemini_sign_in,
    )


def gemini_profile(permissions: PermissionMode, files: FilesOffered) -> AcpProfile:
    """The quirks of 0.61.0."""
    return AcpProfile(
        system_prompt=SystemPromptBy.LAUNCH,
        files=files,
        login_advice="run `gemini` once and log in, or set GEMINI_API_KEY",
        mode=MODES[permissions],
        permissions=PermissionBasis.ENFORCED,
        mode_notice="[MODE_UPDATE] ",
        tool_name_end="__",
        takes_any_model=True,
        # 0.61.0 does not wait for its own replay before it answers session/load.
        replays_late=True,
    )


def _is_headless(settings: AvatarSettings) -> bool:
    return choice(settings, "headless", YES_OR_NO, "false") == "true"


def _headless(settings: AvatarSettings) -> tuple[Provider, AvatarSettings]:
    # Imported when it is chosen: most avatars never need it.
    from avatar_actors.providers.gemini_headless import (  # noqa: PLC0415
        gemini_headless_provider,
    )

    options = {name: value for name, value in settings.options.items() if name != "headless"}
    return gemini_headless_provider(), msgspec.structs.replace(settings, options=options)


def _wire(settings: AvatarSettings) -> Wire:
    if _is_headless(settings):
        provider, rest = _headless(settings)
        return provider.wire(rest)
    # Never to read: when a file to be made is missing, 0.61.0 fails with "Error checking existing
    # file", whatever the answer. What it does not read through us it reads by itself.
    is_host = choice(settings, "files", ("agent", "host"), "agent") == "host"
    files = FilesOffered.WRITE if is_host else FilesOffered.NONE
    profile = gemini_profile(settings.permissions, files)
    method = settings.options.get("auth_method", "")
    return AcpWire(msgspec.structs.replace(profile, auth_method=method), settings.max_line)


def _plan(settings: AvatarSettings, place: Place) -> LaunchPlan:
    if _is_headless(settings):
        provider, rest = _headless(settings)
        return provider.plan(rest, place)
    check_options("gemini", settings, OPTIONS)
    options, files = settings.options, dict[str, str]()
    flags: list[Flag] = [options.get("acp_flag", "--acp")]
    flags += [("--model", settings.model)] if settings.model else []
    # Without NO_RELAUNCH it runs twice, and a killed parent leaves a child that holds stdout.
    env = {"GEMINI_CLI_NO_RELAUNCH": "true", "TMPDIR": str(place.private_dir)}
    if trusts_workspace(settings):
        env["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
    if settings.system_prompt:
        # It replaces the whole system instruction; there is no way to add to it.
        files[SYSTEM_PROMPT] = settings.system_prompt
        env["GEMINI_SYSTEM_MD"] = str(place.private_dir / SYSTEM_PROMPT)
    if set(options) & set(GENERATION):
        files[f"{HOME}/.gemini/settings.json"] = generation_settings(settings)
        env["HOME"] = str(place.private_dir / HOME)
    argv = command_line((settings.executable or "gemini",), flags, settings.args)
    return LaunchPlan(argv=argv, env=env, files=files)
