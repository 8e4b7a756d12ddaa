"""Any agent that speaks ACP, by its command or its address."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final
from urllib.parse import SplitResult, urlsplit

import msgspec

from avatar_actors.model.checks import checked
from avatar_actors.model.command_line import command_line
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import AvatarSettings, PermissionMode
from avatar_actors.model.tool_policy import ToolPolicy
from avatar_actors.model.values import PermissionBasis
from avatar_actors.providers import tool_names
from avatar_actors.providers.provider import LaunchPlan, Place, Provider, Remote
from avatar_actors.providers.registry import check_options, choice, number
from avatar_actors.wire.acp.profile import AcpProfile, FilesOffered, HeldBy
from avatar_actors.wire.acp.wire import AcpWire

# `cwd`: the working directory on the agent's machine. `dead_after`: seconds of silence until the
# connection counts as lost. `insecure`: whether headers may travel in clear text.
REMOTE_OPTIONS: Final = ("cwd", "dead_after", "insecure")
SCHEMES: Final = {"ws": "clear", "http": "clear", "wss": "sealed", "https": "sealed"}
_SHORTEST_SILENCE: Final = 1.0
# How a process is started, which nobody does here.
_LAUNCHING: Final = ("executable", "args", "env")


def remote_at(url: str, settings: AvatarSettings) -> Remote:
    """The agent at this address; SettingsError if it cannot be one, or would give a token away."""
    for name in _LAUNCHING:
        if getattr(settings, name):
            raise SettingsError(f"an agent at a url is not started here: leave out `{name}`")
    remote = Remote(
        url=url,
        headers=settings.headers,
        cwd=settings.options.get("cwd", ""),
        dead_after=_dead_after(settings),
    )
    if remote.cwd and not PurePosixPath(remote.cwd).is_absolute():
        raise SettingsError(f"option 'cwd' is an absolute path; got {remote.cwd!r}")
    parts = _parts(url)
    is_insecure = choice(settings, "insecure", ("false", "true"), "false") == "true"
    if SCHEMES[parts.scheme] == "clear" and settings.headers and not is_insecure:
        _refuse_clear_text(parts, remote)
    return remote


def refuse_remote_options(settings: AvatarSettings) -> None:
    """What is only for an agent at a url means nothing for one that is started."""
    given = [*settings.options, *(["headers"] if settings.headers else [])]
    given = [each for each in given if each in {*REMOTE_OPTIONS, "headers"}]
    if given:
        raise SettingsError(f"`{given[0]}` is for an agent at a `url`, and none is given")


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        if parts.scheme in SCHEMES and parts.hostname and parts.port != 0:
            if parts.username or parts.password:
                raise SettingsError("the url holds a login; give it in `headers` instead")
            return parts
    except ValueError as error:
        if isinstance(error, SettingsError):
            raise
    schemes = ", ".join(f"{scheme}://" for scheme in SCHEMES)
    shown = url.partition("?")[0].rpartition("@")[2]
    raise SettingsError(f"url begins with one of {schemes} and a host; got {shown!r}")


def _refuse_clear_text(parts: SplitResult, remote: Remote) -> None:
    import ipaddress  # noqa: PLC0415 - nobody else needs it

    host = parts.hostname or ""
    try:
        is_here = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_here = host == "localhost" or host.endswith(".localhost")
    if not is_here:
        sealed = {"ws": "wss", "http": "https"}[parts.scheme]
        raise SettingsError(
            f"the headers would go to {remote.shown} in clear text: use {sealed}://, "
            "or set the option 'insecure' to 'true'"
        )


def _dead_after(settings: AvatarSettings) -> float:
    seconds = number(settings.options, "dead_after")
    if seconds is None:
        return Remote(url="").dead_after
    if not _SHORTEST_SILENCE <= seconds < float("inf"):
        raise SettingsError(f"option 'dead_after' is at least 1 second; got {seconds:g}")
    return float(seconds)


# Those whose mode `default` asks; the gatekeeper says no in SAFE. Their `plan` is no safer: in that
# of claude-agent-acp 0.49.0 commands that write ran unasked. qwen 0.24.4 and claude-agent-acp
# 0.99.1 would start in `auto`, in which a model decides.
ASK_IN_DEFAULT: Final = ("@agentclientprotocol/claude-agent-acp", "qwen-code")
GEMINI: Final = "gemini-cli"
CODEX: Final = ("@agentclientprotocol/codex-acp", "codex-acp")
OPENCODE: Final = "OpenCode"
# opencode 1.18.33 asks about nothing by itself. Its mode `plan` would stop edits, but no commands.
OPENCODE_VARIABLE: Final = "OPENCODE_PERMISSION"
OPENCODE_ASKS: Final = ("edit", "bash", "webfetch")

# Letters alone, the best first. Never a mode that accepts by itself (auto, yolo, bypass, accept).
LOOKING: Final = ("plan", "readonly")
ASKING: Final = ("ask", "default", "approve", "manual")


def has_to_ask(settings: AvatarSettings) -> bool:
    """Whether anything of the host's is broken by a tool that runs unasked."""
    return settings.permissions is not PermissionMode.UNRESTRICTED or settings.tools != ToolPolicy()


def permission_variables(settings: AvatarSettings) -> dict[str, str]:
    """For the environment of any ACP agent: only opencode looks at it."""
    if not has_to_ask(settings):
        return {}
    servers = [f"{server.name}_*" for server in settings.mcp_servers]
    asks = dict.fromkeys((*OPENCODE_ASKS, *servers), "ask")
    return {OPENCODE_VARIABLE: msgspec.json.encode(asks).decode()}


def with_permissions(profile: AcpProfile, settings: AvatarSettings) -> AcpProfile:
    """The profile with the modes of known and unknown agents that suit these settings."""
    enforced = PermissionBasis.ENFORCED
    is_safe = settings.permissions is PermissionMode.SAFE
    known: dict[str, HeldBy] = dict.fromkeys(ASK_IN_DEFAULT, HeldBy("default", enforced))
    known[GEMINI] = HeldBy("plan" if is_safe else "default", enforced)
    if has_to_ask(settings):
        codex = HeldBy("read-only", enforced, asks_after_start=True)
        known.update(dict.fromkeys(CODEX, codex))
        is_told = not settings.url and OPENCODE_VARIABLE not in settings.env
        basis = PermissionBasis.ASKED if is_told else PermissionBasis.ON_TRUST
        known[OPENCODE] = HeldBy("", basis, asks_after_start=True)
    return msgspec.structs.replace(
        profile, known_agents=known, asking_modes=_asking_modes(settings)
    )


def _asking_modes(settings: AvatarSettings) -> tuple[str, ...]:
    if not has_to_ask(settings):
        return ()
    is_safe = settings.permissions is PermissionMode.SAFE
    return (*LOOKING, *ASKING) if is_safe else (*ASKING, *LOOKING[1:])


# `files`: who reads and writes text files, the agent itself or the host in its name, which keeps
# to the working directory. `auth_method`: tried once when the agent wants authentication.
OPTIONS: Final = ("auth_method", "files", *REMOTE_OPTIONS)
FILES: Final = {"agent": FilesOffered.NONE, "host": FilesOffered.READ_AND_WRITE}


@checked
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
        return AcpWire(with_permissions(_chosen(quirks, settings), settings), settings.max_line)

    return Provider(
        name=name, plan=plan, wire=wire, passes=passes, install=install, remote=remote,
        tools=tool_names.ANY_ACP,
    )  # fmt: skip


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
