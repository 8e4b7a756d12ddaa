"""Gemini CLI over ACP, or headless when `options={"headless": "true"}` says so.

Its login lives in `~/.gemini`, so the agent gets the user's HOME. Only generation options, which
0.61.0 takes from a settings file alone, need a HOME of their own: then the login has to come by
the environment (GEMINI_API_KEY, or Vertex).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from avatar_actors.model.command_line import Flag, command_line
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import AvatarSettings, PermissionMode
from avatar_actors.model.values import JsonObject, PermissionBasis
from avatar_actors.providers import tool_names
from avatar_actors.providers.provider import (
    LaunchPlan,
    Place,
    Provider,
    SignedIn,
    SignIn,
    holds_login,
    home_of,
    is_small_file,
    shown_folder,
)
from avatar_actors.providers.registry import check_options, choice, number
from avatar_actors.providers.stores.gemini import gemini_store, gemini_transcript
from avatar_actors.wire.acp.profile import AcpProfile, FilesOffered, SystemPromptBy
from avatar_actors.wire.acp.wire import AcpWire
from avatar_actors.wire.wire import Wire

GENERATION: Final = (
    "include_thoughts", "max_output_tokens", "temperature", "thinking_budget", "thinking_level",
    "top_k", "top_p",
)  # fmt: skip


def generation_settings(settings: AvatarSettings) -> str:
    """The text of the file; raises SettingsError without a model to apply them to."""
    if not settings.model:
        raise SettingsError("gemini's generation options belong to a model: name one")
    if settings.options.get("auth_method") == "oauth-personal":
        # Another settings file than that of HOME has to be root's (0.61.0).
        raise SettingsError(
            "gemini's generation options need a HOME of its own, where the browser's login "
            "(oauth-personal) is not; log in by GEMINI_API_KEY, or leave one of them out"
        )
    options = settings.options
    temperature = number(options, "temperature")
    config: JsonObject = {"temperature": 1.0 if temperature is None else temperature}
    config |= {"topP": number(options, "top_p")} if "top_p" in options else {}
    config |= {"topK": number(options, "top_k")} if "top_k" in options else {}
    if "max_output_tokens" in options:
        config["maxOutputTokens"] = number(options, "max_output_tokens")
    thinking: JsonObject = {}
    if "thinking_budget" in options:
        thinking["thinkingBudget"] = number(options, "thinking_budget")
    if "thinking_level" in options:
        thinking["thinkingLevel"] = options["thinking_level"].upper()
    if thinking or "include_thoughts" in options:
        told = choice(settings, "include_thoughts", ("false", "true"), "true") == "true"
        config["thinkingConfig"] = {"includeThoughts": told, **thinking}
    override = {
        "match": {"model": settings.model},
        "modelConfig": {"generateContentConfig": config},
    }
    return msgspec.json.encode({"modelConfigs": {"overrides": [override]}}).decode()


GEMINI_VARIABLES: Final = ("GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY")
# Vertex takes a key of its own, or the account of a project in a place.
VERTEX: Final = "GOOGLE_GENAI_USE_VERTEXAI"
VERTEX_BY: Final = (("GOOGLE_API_KEY",), ("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"))


def gemini_sign_in(settings: AvatarSettings, env: Mapping[str, str]) -> SignIn:
    """By variables, or by the file that `gemini` keeps its login in (0.61.0)."""
    if env.get(VERTEX) == "true":
        return _vertex_sign_in(env)
    is_by_login = env.get("GOOGLE_GENAI_USE_GCA") == "true"
    if not is_by_login and (name := next((each for each in GEMINI_VARIABLES if env.get(each)), "")):
        return SignIn(SignedIn.YES, name)
    advice = "Run `gemini` once and log in, or set GEMINI_API_KEY"
    if set(settings.options) & set(GENERATION):
        # It gets a home directory of its own then.
        return SignIn(SignedIn.NO, advice="Set GEMINI_API_KEY: generation options need it")
    folder = Path(env.get("GEMINI_CLI_HOME") or home_of(env)) / ".gemini"
    if holds_login(folder / "oauth_creds.json"):
        return SignIn(SignedIn.YES, f"a login in {shown_folder(folder, env)}")
    if is_small_file(folder / ".env"):
        return SignIn(SignedIn.UNKNOWN, f"it may be by {shown_folder(folder, env)}/.env", advice)
    return SignIn(SignedIn.NO, advice=advice)


def _vertex_sign_in(env: Mapping[str, str]) -> SignIn:
    for names in VERTEX_BY:
        if all(map(env.get, names)):
            return SignIn(SignedIn.YES, " and ".join(names))
    wanted = ", or ".join(" and ".join(names) for names in VERTEX_BY)
    return SignIn(SignedIn.NO, advice=f"{VERTEX} is set: set {wanted} too")


# 0.61.0 refuses these in a folder that is not trusted.
PRIVILEGED_MODES: Final = frozenset({"autoEdit", "yolo"})


def trusts_workspace(settings: AvatarSettings) -> bool:
    """Only where it is needed: a trusted folder's own .gemini settings and MCP servers count.

    In a folder that is not trusted 0.61.0 silently starts no MCP server, ours neither.
    """
    is_needed = bool(settings.mcp_servers) or settings.mode in PRIVILEGED_MODES
    default = "true" if is_needed else "false"
    return choice(settings, "trust_workspace", ("false", "true"), default) == "true"


OF_ACP: Final = ("acp_flag", "auth_method", "fallback", "files", "trust_workspace")
OPTIONS: Final = (*OF_ACP, "headless", *GENERATION)
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
        tools=tool_names.GEMINI,
        one_shot=one_shot,
    )


def one_shot(settings: AvatarSettings) -> AvatarSettings | None:
    """Headless, without what is ACP's, if the option `fallback` allows it."""
    if _is_headless(settings) or settings.options.get("fallback", "none") == "none":
        return None
    rest = {name: value for name, value in settings.options.items() if name not in OF_ACP}
    return msgspec.structs.replace(settings, options={**rest, "headless": "true"})


def gemini_profile(permissions: PermissionMode, files: FilesOffered) -> AcpProfile:
    """The quirks of 0.61.0."""
    return AcpProfile(
        system_prompt=SystemPromptBy.LAUNCH,
        files=files,
        login_advice="Run `gemini` once and log in, or set GEMINI_API_KEY",
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
    choice(settings, "fallback", ("none", "oneshot"), "none")
    if (plain := one_shot(settings)) is not None:
        _plan(plain, place)  # what it could not do is said now, not when it is needed
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
