"""Where a remote ACP agent is: the check of its address and of what goes there with it."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final
from urllib.parse import SplitResult, urlsplit

from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import AvatarSettings
from avatar_actors.providers.options import choice, number
from avatar_actors.providers.provider import Remote

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
