"""Looks for agents without starting them: path, version, login, and which ones are ready."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Final, Unpack

from msgspec import Struct
from msgspec.structs import replace

from avatar_actors.model.checks import checked
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import AvatarOptions, AvatarSettings
from avatar_actors.model.values import ProviderCapabilities
from avatar_actors.providers.provider import Place, Provider, SignedIn, SignIn, passed_to, remote_of
from avatar_actors.providers.registry import provider_named, provider_names

_NUMBERS = re.compile(r"\d+(?:\.\d+)+")


def version_in(text: str) -> str:
    """The first version in these words; empty if there is none."""
    found = _NUMBERS.search(text)
    return found.group() if found else ""


def is_older(version: str, minimum: str) -> bool:
    """Whether it is; a version that is none is not."""
    return bool(version_in(version)) and _numbers(version) < _numbers(minimum)


def too_old(agent: ProviderCapabilities, minimum: Mapping[str, str]) -> str:
    """The warning about an agent that is older than what is supported; else nothing."""
    least = minimum.get(agent.agent, "")
    if not least or not is_older(agent.version, least):
        return ""
    name, version = agent.agent, agent.version
    return f"{name} {version} is older than {least}, the oldest that is supported; update it"


def _numbers(version: str) -> list[int]:
    return [int(number) for number in version_in(version).split(".")]


# The slowest, gemini 0.61.0, takes 1.7 s; a busy machine ten times as long.
PATIENCE: Final = 20.0
MOST_HEARD: Final = 4096
# What the program needs to run at all, and nothing by which it could reach its owner's things.
PASSED: Final = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH")


class AgentFound(Struct, frozen=True, kw_only=True):
    """What was found of an agent. `path` is empty when it is missing, `version` if it told none.

    `is_supported`: it is there, and not known to be too old. `advice` says what to do about the
    program, if anything; that of `sign_in` what to do to be signed in.
    """

    name: str
    executable: str
    path: str = ""
    version: str = ""
    is_supported: bool = False
    install: str = ""
    advice: str = ""
    sign_in: SignIn = SignIn()

    @property
    def is_ready(self) -> bool:
        """Whether it could be used at once, as far as can be seen."""
        return self.is_supported and self.sign_in.verdict is SignedIn.YES


@checked
def find_agent(
    provider: str | Provider, executable: str = "", env: Mapping[str, str] | None = None
) -> AgentFound:
    """Look for the agent that `open_avatar` would run with this executable and environment.

    It runs it once to hear its version, with a home directory of its own, and blocks until then.
    SettingsError for a provider that nobody knows.
    """
    kind = provider_named(provider) if isinstance(provider, str) else provider
    around = {**os.environ, **(env or {})}
    found = see_agent(kind, executable=executable, env={**(env or {})})
    if not found.path:
        return found
    heard = _heard((found.path, *kind.version_args), around)
    outdated = _advice(kind, heard)
    return replace(
        found,
        version=version_in(heard),
        is_supported=not outdated,
        advice=outdated or ("" if version_in(heard) else "It did not tell its version."),
    )


@checked
def see_agent(provider: str | Provider, **options: Unpack[AvatarOptions]) -> AgentFound:
    """The same without running anything, so its version stays unknown; also for one at a `url`.

    SettingsError for a provider that nobody knows, or one that these options give no command.
    """
    kind = provider_named(provider) if isinstance(provider, str) else provider
    settings = replace(AvatarSettings(), **options)
    remote = remote_of(kind, settings)
    if remote is not None:
        return AgentFound(name=kind.name, executable=remote.shown, install=kind.install)
    program = _program(kind, settings)
    around = {**os.environ, **settings.env}
    path = shutil.which(program, path=around.get("PATH"))
    if path is None:
        advice = f"Install it: {kind.install}" if kind.install else f"{program!r} was not found"
        return AgentFound(name=kind.name, executable=program, install=kind.install, advice=advice)
    return AgentFound(
        name=kind.name,
        executable=program,
        path=str(Path(path).absolute()),
        is_supported=True,
        install=kind.install,
        sign_in=_sign_in(kind, settings),
    )


def _program(kind: Provider, settings: AvatarSettings) -> str:
    # The command of its own: with some options another program stands before it.
    plain = AvatarSettings(executable=settings.executable)
    place = Place(private_dir=Path(tempfile.gettempdir()), session_id="")
    return kind.plan(plain, place).argv[0]


def _sign_in(kind: Provider, settings: AvatarSettings) -> SignIn:
    if kind.sign_in is None:
        return SignIn()
    return kind.sign_in(settings, {**passed_to(kind), **settings.env})


def _advice(kind: Provider, heard: str) -> str:
    """What to do about a version that is too old; an agent may tell its name with it."""
    named = {name: least for name, least in kind.minimum.items() if name in heard}
    known = named or (kind.minimum if len(kind.minimum) == 1 else {})
    # Of two names the longer one: `codex-acp` is a part of the other adapter's.
    least = known[max(known, key=len)] if known else ""
    version = version_in(heard)
    if not least or not is_older(version, least):
        return ""
    return (
        f"{version} is older than {least}, the oldest that is supported. Update it: {kind.install}"
    )


def _heard(command: tuple[str, ...], around: Mapping[str, str]) -> str:
    """What it writes when it is asked for its version; nothing if it does not in time."""
    with tempfile.TemporaryDirectory(prefix="avatar-version-", ignore_cleanup_errors=True) as home:
        env = {name: around[name] for name in PASSED if name in around}
        env |= {"HOME": home, "TMPDIR": home, "XDG_CONFIG_HOME": home, "XDG_STATE_HOME": home}
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=env,
                cwd=home,
                start_new_session=True,
            )
        except OSError:
            return ""  # found, but no program
        with process:
            try:
                return _read(process)
            finally:
                if process.poll() is None:
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)


def _read(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None
    ready, heard = select.poll(), b""
    ready.register(process.stdout, select.POLLIN)
    deadline = time.monotonic() + PATIENCE
    while len(heard) < MOST_HEARD and (left := deadline - time.monotonic()) > 0:
        if not ready.poll(left * 1000):
            break
        block = os.read(process.stdout.fileno(), MOST_HEARD)
        if not block:
            break
        heard += block
    return heard.decode("utf-8", "replace")


# Before those of other packages. The embedded agent is no choice but what is left without one.
FIRST: Final = ("claude", "gemini", "codex")
NEVER: Final = ("embedded",)


@checked
def ready_agents(sections: Mapping[str, AvatarOptions] | None = None) -> Iterator[AgentFound]:
    """Those that are ready, the first choice first; nothing is run to find out.

    `sections` are the settings by provider, as those of an AvatarConfig. An agent of which nobody
    can say whether it is signed in is not among them.
    """
    given = sections or {}
    for name in chain(FIRST, _others()):
        try:
            found = see_agent(name, **given.get(name, {}))
        except SettingsError:
            continue  # it needs more than its name
        if found.is_ready:
            yield found


def _others() -> Iterator[str]:
    yield from (name for name in provider_names() if name not in {*FIRST, *NEVER})
