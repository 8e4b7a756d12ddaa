"""Codex over ACP, by either adapter: the protocol's own people's (2.6.0) or Zed's (0.16.0)."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from avatar_actors.model.command_line import Flag, command_line
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import AvatarSettings, PermissionMode
from avatar_actors.model.tool_policy import ToolPolicy
from avatar_actors.model.values import JsonObject, PermissionBasis
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
from avatar_actors.providers.registry import check_options, choice
from avatar_actors.providers.stores.codex import codex_store, codex_transcript
from avatar_actors.wire.acp.profile import AcpProfile, SystemPromptBy
from avatar_actors.wire.acp.wire import AcpWire
from avatar_actors.wire.json_values import text_at

LOGIN_ADVICE: Final = "Run `codex login` once, or give OPENAI_API_KEY in `env`"

# The adapter, the environment variable that holds a key, and the method that uses it.
KEY_METHODS: Final = {
    ("acp", "OPENAI_API_KEY"): "api-key",
    ("acp", "CODEX_API_KEY"): "api-key",
    ("zed", "OPENAI_API_KEY"): "openai-api-key",
    ("zed", "CODEX_API_KEY"): "codex-api-key",
}


class ModelProvider(Struct, frozen=True):
    """Whom Codex asks instead of OpenAI, and the variable that holds the key for it."""

    name: str
    env_key: str = ""


def own_provider(settings: AvatarSettings, env: Mapping[str, str]) -> ModelProvider | None:
    """The model provider that the user's configuration names; none where the host's has its own."""
    path = _folder(env) / "config.toml"
    if "CODEX_HOME" in settings.env or not is_small_file(path):
        return None
    try:
        config = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None  # Codex itself says what is wrong with it
    name = text_at(config, "model_provider")
    key = text_at(config, "model_providers", name, "env_key")
    return ModelProvider(name, key) if name not in {"", "openai"} else None


def _folder(env: Mapping[str, str]) -> Path:
    return Path(env.get("CODEX_HOME") or home_of(env) / ".codex")


def auth_method(settings: AvatarSettings, adapter: str) -> str:
    """The method to try: the one of the option `auth`, or that of a key in `env`; else none.

    A key beside a model provider of the user's is for that provider, and no login.
    """
    if "auth" in settings.options:
        method = settings.options["auth"]
        is_key = adapter == "acp" and method in KEY_METHODS.values()
        return "api-key" if is_key else method
    if own_provider(settings, {**os.environ, **settings.env}) is not None:
        return ""
    for (each, name), method in KEY_METHODS.items():
        if each == adapter and settings.env.get(name):
            return method
    return ""


def needs_own_home(settings: AvatarSettings, adapter: str) -> bool:
    """Whether CODEX_HOME must not be the user's.

    Both adapters write a key to CODEX_HOME/auth.json, where it would replace the user's login.
    """
    by_key = auth_method(settings, adapter) in KEY_METHODS.values()
    return by_key and "CODEX_HOME" not in settings.env


def codex_sign_in(settings: AvatarSettings, env: Mapping[str, str]) -> SignIn:
    """By a key that the host gives, or by the file that `codex login` writes."""
    keys = tuple(dict.fromkeys(name for _, name in KEY_METHODS))
    folder = _folder(env)
    if own := own_provider(settings, env):
        return _provider_sign_in(own, f"{shown_folder(folder, env)}/config.toml", env)
    if name := next((name for name in keys if settings.env.get(name)), ""):
        return SignIn(SignedIn.YES, name)
    if holds_login(folder / "auth.json"):
        return SignIn(SignedIn.YES, f"a login in {shown_folder(folder, env)}")
    if name := next((name for name in keys if env.get(name)), ""):
        # The adapters take a key only by a request (2.6.0, 0.16.0), made for one that is given.
        way = f"codex: env: {name}: ${{{name}}}"
        return SignIn(SignedIn.NO, advice=f"{name} is set but not given: configure {way}")
    return SignIn(SignedIn.NO, advice=LOGIN_ADVICE)


def _provider_sign_in(own: ModelProvider, file: str, env: Mapping[str, str]) -> SignIn:
    by = f"the provider {own.name!r} of {file}"
    if not own.env_key:
        return SignIn(SignedIn.UNKNOWN, by)
    if env.get(own.env_key):
        return SignIn(SignedIn.YES, f"{own.env_key}, for {by}")
    way = f"codex: env: {own.env_key}: ${{{own.env_key}}}"
    return SignIn(SignedIn.NO, advice=f"{by} wants {own.env_key}, which is not given: {way}")


SANDBOX_MODES: Final = ("read-only", "workspace-write", "danger-full-access")
APPROVAL_MODES: Final = ("untrusted", "on-request", "on-failure", "never")


def codex_config(settings: AvatarSettings) -> JsonObject:
    """What was wished, in its words."""
    config: JsonObject = {}
    # `gpt-5.5[high]` is the adapter's name for a model with an effort.
    model, _, effort = settings.model.removesuffix("]").partition("[")
    config |= {"model": model} if model else {}
    config |= {"model_reasoning_effort": effort} if effort else {}
    if "sandbox_mode" in settings.options:
        # Zed's needs `bwrap` on PATH for the first two; without it every command dies unseen.
        config["sandbox_mode"] = choice(settings, "sandbox_mode", SANDBOX_MODES, "")
    if "approval_mode" in settings.options:
        config["approval_policy"] = choice(settings, "approval_mode", APPROVAL_MODES, "")
    return config


OPTIONS: Final = ("adapter", "approval_mode", "auth", "project_docs", "sandbox_mode")
ADAPTERS: Final = ("acp", "zed")
AUTH_METHODS: Final = ("chatgpt", "codex-api-key", "openai-api-key", "api-key")

# Read-only is the mode that asks the host before each edit: what else is a tool policy to decide
# about? The default of 2.6.0, `agent`, has a model decide about what is asked.
ASKS: Final = "read-only"
MODES: Final = {
    ("acp", PermissionMode.SAFE): ASKS,
    ("acp", PermissionMode.ASK): ASKS,
    ("acp", PermissionMode.UNRESTRICTED): "workspace-write",
    ("zed", PermissionMode.SAFE): ASKS,
    ("zed", PermissionMode.ASK): ASKS,
    ("zed", PermissionMode.UNRESTRICTED): "auto",
}
HOME: Final = "codex-home"


def codex_provider() -> Provider:
    """Codex as it is installed, by the adapter that the option `adapter` names."""
    return Provider(
        name="codex",
        plan=_plan,
        wire=lambda settings: AcpWire(codex_profile(settings), settings.max_line),
        passes=("OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_HOME"),
        install="npm install -g @agentclientprotocol/codex-acp @openai/codex",
        store=codex_store,
        transcript=codex_transcript,
        minimum={"@agentclientprotocol/codex-acp": "2.6.0", "codex-acp": "0.16.0"},
        sign_in=codex_sign_in,
    )


def codex_profile(settings: AvatarSettings) -> AcpProfile:
    """The quirks of both adapters."""
    adapter = _adapter(settings)
    is_zed = adapter == "zed"
    return AcpProfile(
        system_prompt=SystemPromptBy.LAUNCH if is_zed else SystemPromptBy.FIELD,
        auth_method=auth_method(settings, adapter),
        login_advice=codex_sign_in(settings, {**os.environ, **settings.env}).advice or LOGIN_ADVICE,
        mode=_mode(settings, adapter),
        permissions=_basis(settings, adapter),
        asks_after_start=True,
        failed_status=(("codex", "threadStatus", "type"), "systemError"),
        retry_notice=("codex", "error", "message"),
        # Zed's 0.16.0 knows no notices: this comes as a piece of the answer, in front of it.
        warning_notices=("Model metadata for `",) if is_zed else (),
    )


def _adapter(settings: AvatarSettings) -> str:
    is_zed = any(word.startswith("@zed-industries/") for word in settings.args)  # by npx
    return choice(settings, "adapter", ADAPTERS, "zed" if is_zed else "acp")


def _mode(settings: AvatarSettings, adapter: str) -> str:
    has_policy = settings.tools != ToolPolicy()
    return ASKS if has_policy else MODES[adapter, settings.permissions]


def _basis(settings: AvatarSettings, adapter: str) -> PermissionBasis:
    """Its sandbox holds, unless the host has chosen another one."""
    is_own = {"approval_mode", "sandbox_mode"} & set(settings.options)
    is_own |= {"CODEX_CONFIG"} & set(settings.env)
    is_held = _mode(settings, adapter) == ASKS and not is_own
    return PermissionBasis.ENFORCED if is_held else PermissionBasis.ON_TRUST


def _plan(settings: AvatarSettings, place: Place) -> LaunchPlan:
    check_options("codex", settings, OPTIONS)
    adapter, wished = _adapter(settings), codex_config(settings)
    # The host project's AGENTS.md is for people's own Codex; 0.137.0 and 0.166.0 would read it.
    is_read = choice(settings, "project_docs", ("false", "true"), "false") == "true"
    config = wished if is_read else {"project_doc_max_bytes": 0, **wished}
    flags: list[Flag] = []
    env = {"TMPDIR": str(place.private_dir), "NO_BROWSER": "1"}
    files: dict[str, str] = {}
    if adapter == "zed":
        if settings.system_prompt:
            # It takes no file of them: every user can read them on the command line (0.16.0).
            config["developer_instructions"] = settings.system_prompt
        # A JSON string is a TOML string too, but for DEL, which TOML wants escaped.
        flags += [("--config", f"{name}={_toml(value)}") for name, value in config.items()]
    else:
        if wished and "CODEX_CONFIG" in settings.env:
            raise SettingsError("model, sandbox and approval mode: in CODEX_CONFIG or as settings")
        env["INITIAL_AGENT_MODE"] = settings.mode or _mode(settings, adapter)
        env |= {"CODEX_CONFIG": _json(config)} if config else {}
    if needs_own_home(settings, adapter):  # it must exist, and so it does
        files[f"{HOME}/config.toml"] = ""
        env["CODEX_HOME"] = str(place.private_dir / HOME)
    # The arguments come first: `npx` wants the package's name before the package's flags.
    argv = command_line((settings.executable or "codex-acp", *settings.args), flags)
    return LaunchPlan(argv=argv, env=env, files=files)


def _toml(value: object) -> str:
    return _json(value).replace("\x7f", "\\u007f")


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
