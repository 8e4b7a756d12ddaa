"""What a provider is: how an agent is launched, what it gets of our environment, its login."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct

from avatar_actors.model.checks import check_fields
from avatar_actors.model.command_line import check_environment, check_text, check_word
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.fields import Seconds
from avatar_actors.model.redaction import repr_without
from avatar_actors.model.settings import AvatarSettings, Restarts
from avatar_actors.model.values import StoredSession
from avatar_actors.providers.stores.store import Store, Transcript
from avatar_actors.wire.commands import Beginning
from avatar_actors.wire.json_values import decoded, is_object
from avatar_actors.wire.wire import Wire


class Place(Struct, frozen=True, kw_only=True):
    """Where one life of the agent happens.

    `private_dir` is ours alone (0700) and goes away with the avatar. `session_id` is a fresh UUID
    for an agent that lets us choose; `resume` the stored session to take up again, or empty; and
    `begins` says whether it is that one or a fork of it.
    """

    private_dir: Path
    session_id: str
    resume: str = ""
    begins: Beginning = Beginning.AS_NAMED


class LaunchPlan(Struct, frozen=True, kw_only=True):
    """The command of one life. `files` are written into the private directory first.

    SettingsError for what no process can be given.
    """

    argv: tuple[str, ...]
    env: dict[str, str] = {}
    files: dict[str, str] = {}

    def __post_init__(self) -> None:
        check_fields(self)
        for word in self.argv:
            check_word("the command line", word)
        check_environment(self.env)
        for name, text in self.files.items():
            check_text(f"the file {name}", text)

    def __repr__(self) -> str:
        return repr_without(self, "env", "files")


class Remote(Struct, frozen=True, kw_only=True):
    """An agent that runs elsewhere and is reached at this address (ws, wss, http or https).

    `cwd` is the working directory on its machine. `dead_after`: seconds of silence after which the
    connection counts as lost.
    """

    url: str
    headers: dict[str, str] = {}
    cwd: str = ""
    dead_after: Seconds = 45.0

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def shown(self) -> str:
        """The address for people: without its query, which may hold a secret."""
        return self.url.partition("?")[0]

    def __repr__(self) -> str:
        return f"Remote({self.shown!r}, headers={sorted(self.headers)})"


class SignedIn(Enum):
    """YES and NO: as far as can be seen without asking anybody. UNKNOWN: it cannot be seen."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class SignIn(Struct, frozen=True):
    """Whether an agent is signed in, by what (a variable's name, a file), and what to do if not."""

    verdict: SignedIn = SignedIn.UNKNOWN
    by: str = ""
    advice: str = ""


# A remote that is away is no crasher: it is tried again until it is back, every ten seconds at
# most, which the limit of restarts cannot end.
RECONNECTS: Final = Restarts(max_restarts=60, first_delay=0.05, factor=2.0, max_delay=10.0)


class Provider(Struct, frozen=True, kw_only=True):
    """One kind of agent.

    `plan` may raise SettingsError. `passes` are patterns of the host's environment variables that
    the agent gets besides the harmless ones (PATH, HOME, LANG, …). `install` is what a person
    types when the executable is missing. `remote` tells of an agent that is not launched but
    connected to, if the settings say so; None: this kind is always launched. `store` reads the
    sessions that the agent has kept, `transcript` makes messages of their lines; `delete` deletes
    one, where the store is this package's own. `version_args` make the executable tell its version;
    `minimum` has, by the agent's own name, the oldest versions that are supported. `sign_in` tells
    whether it is signed in, from the settings and the environment that it would get; it runs
    nothing. `tools` are the names of its tools, as far as they are known: the host is warned of a
    tool policy that fits none of them. `one_shot` gives the settings for one process per prompt, if
    the host allows that for an agent that does not start as it should.
    """

    name: str
    plan: Callable[[AvatarSettings, Place], LaunchPlan]
    wire: Callable[[AvatarSettings], Wire]
    passes: tuple[str, ...] = ()
    install: str = ""
    remote: Callable[[AvatarSettings], Remote | None] | None = None
    store: Store | None = None
    transcript: Transcript | None = None
    delete: Callable[[StoredSession], None] | None = None
    version_args: tuple[str, ...] = ("--version",)
    minimum: dict[str, str] = {}
    sign_in: Callable[[AvatarSettings, Mapping[str, str]], SignIn] | None = None
    tools: frozenset[str] = frozenset()
    one_shot: Callable[[AvatarSettings], AvatarSettings | None] | None = None

    def __post_init__(self) -> None:
        check_fields(self)


# What the agent gets of our environment without being named by its provider.
_HARMLESS = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TERM", "TZ", "TMPDIR",
    "XDG_*", "SSL_CERT_*", "NODE_EXTRA_CA_CERTS", "*_proxy", "*_PROXY", "LD_LIBRARY_PATH",
)  # fmt: skip


def passed_to(provider: Provider) -> dict[str, str]:
    """What of our environment an agent of this provider gets."""
    is_passed = _any_of((*_HARMLESS, *provider.passes)).match
    return {name: value for name, value in os.environ.items() if is_passed(name)}


def remote_of(provider: Provider, settings: AvatarSettings) -> Remote | None:
    """Where the agent is, if it is not launched; SettingsError for an address that is no use."""
    if provider.remote is not None:
        return provider.remote(settings)
    if settings.url or settings.headers:
        wanted = "leave out `url` and `headers`, or use the provider `acp`, which has them"
        raise SettingsError(f"{provider.name} is started by a command: {wanted}")
    return None


@cache
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """One pattern that fits what any of the shell patterns fits."""
    return re.compile("|".join(map(fnmatch.translate, patterns)))


LARGEST: Final = 1024 * 1024


def needs_no_sign_in(_: AvatarSettings, __: Mapping[str, str]) -> SignIn:
    """For an agent without accounts."""
    return SignIn(SignedIn.YES, "no account needed")


def home_of(env: Mapping[str, str]) -> Path:
    """The home directory that an agent with this environment has."""
    return Path(env.get("HOME") or Path.home())


def shown_folder(folder: Path, env: Mapping[str, str]) -> str:
    """A folder as people write it, with `~` for their home."""
    home = home_of(env)
    return f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) else str(folder)


def is_small_file(path: Path) -> bool:
    """Whether there is a file that is small enough to be a login."""
    try:
        return path.is_file() and path.stat().st_size <= LARGEST
    except OSError:
        return False


def holds_login(path: Path) -> bool:
    """Whether something is kept in it; logged out, a file may stay with nothing inside."""
    try:
        kept = decoded(path.read_bytes()) if is_small_file(path) else None
    except OSError:
        return False
    return is_object(kept) and any(kept.values())
