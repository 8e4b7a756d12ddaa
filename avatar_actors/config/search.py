"""Finds the configuration file, reads its text, and limits what a merely found file may set."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from avatar_actors.config.nodes import Position, Source, Trust
from avatar_actors.config.reading import Effect
from avatar_actors.model.errors import ConfigError
from avatar_actors.model.fields import is_path
from avatar_actors.model.settings import PermissionMode, absolute_path

LARGEST: Final = 1024 * 1024
LOCAL_FILE: Final = ".avatar.yaml"


class FoundConfig(Struct, frozen=True):
    """A file, and whether a person named it."""

    path: Path
    trust: Trust
    is_searched: bool


def search(explicit: str | Path | None, environ: Mapping[str, str]) -> FoundConfig | None:
    """The first there is: the named one, $AVATAR_CONFIG's, the directory's, the user's."""
    if explicit is not None:
        return FoundConfig(Path(explicit), Trust.NAMED, is_searched=False)
    if named := environ.get("AVATAR_CONFIG"):
        return FoundConfig(Path(named), Trust.NAMED, is_searched=False)
    local = Path(LOCAL_FILE)
    if os.path.lexists(local):
        return FoundConfig(local, Trust.FOUND, is_searched=True)
    return users_own(environ)


def users_own(environ: Mapping[str, str]) -> FoundConfig | None:
    """The file in the user's own directory of configurations."""
    users = _user_file(environ)
    if users is not None and os.path.lexists(users):
        return FoundConfig(users, Trust.NAMED, is_searched=True)
    return None


def _user_file(environ: Mapping[str, str]) -> Path | None:
    folder = environ.get("XDG_CONFIG_HOME", "")
    if Path(folder).is_absolute():  # the XDG specification: a relative one is to be ignored
        return Path(folder, "avatar", "config.yaml")
    home = environ.get("HOME")
    return Path(home, ".config", "avatar", "config.yaml") if home else None


def write_new(path: str | Path | None, text: str, environ: Mapping[str, str]) -> Path:
    """Write a file that nobody has yet, by default the user's own; raises ConfigError."""
    file = _user_file(environ) if path is None else Path(path)
    if file is None:
        raise ConfigError("cannot be found, since HOME is not set; name a file", "your own file")
    _refuse_no_name(str(file))
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # O_EXCL: neither a file nor a link in its place is written to.
        number = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise ConfigError("exists already, and was left as it is", str(file)) from None
    except OSError as error:
        raise ConfigError(f"cannot be written: {error.strerror}", str(file)) from None
    with os.fdopen(number, "w", encoding="utf-8") as stream:
        stream.write(text)
    return file


def read_text(found: FoundConfig) -> tuple[str, Source]:
    """The file's text; raises ConfigError if it cannot or must not be read."""
    source = Source(str(found.path), absolute_path(found.path).parent, found.trust)
    try:
        data = _read(found, source)
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", source.name) from None
    return _decoded(data, source), source


def _refuse_no_name(name: str) -> None:
    if not is_path(name):
        shown = name.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
        raise ConfigError("cannot be the name of a file", shown)


def _read(found: FoundConfig, source: Source) -> bytes:
    _refuse_no_name(source.name)
    # O_NONBLOCK: a pipe that nobody writes to would block for ever.
    number = os.open(found.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(number)
        _refuse_odd(source, status)
        if found.is_searched:
            _refuse_foreign(source, status)
        with os.fdopen(number, "rb", closefd=False) as file:
            return file.read(LARGEST + 1)
    finally:
        os.close(number)


def _refuse_odd(source: Source, status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise ConfigError("is a directory; name the file in it", source.name)
    if not stat.S_ISREG(status.st_mode):
        raise ConfigError("is not a regular file", source.name)


def _refuse_foreign(source: Source, status: os.stat_result) -> None:
    if status.st_uid not in {os.geteuid(), 0}:
        raise ConfigError("belongs to another user; change its owner, or remove it", source.name)
    # By custom, a group with the user's own number has no other members.
    is_shared = status.st_mode & stat.S_IWGRP and status.st_gid != status.st_uid
    if is_shared or status.st_mode & stat.S_IWOTH:
        raise ConfigError(f"others can write it; chmod go-w {source.name}", source.name)


def _decoded(data: bytes, source: Source) -> str:
    if len(data) > LARGEST:
        line = data.count(b"\n") + 1
        Position(source, line).refuse(f"the file is too long: more than {LARGEST} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        Position(source, line).refuse(f"not text in UTF-8: byte {data[error.start]:#04x}")


# Every other setting needs a file that was named: a new key is refused until it is added here.
FOUND_MAY_SET: Final = {
    "budget.cost_usd": "A limit of money: it only ends the spending sooner.",
    "budget.tokens": "A limit of tokens: it only ends the spending sooner.",
    "budget.turns": "A limit of prompts: it only ends the spending sooner.",
    "budget.warn_at": "It moves a warning, and the limit stays.",
    "max_avatars": "A limit: it only refuses further avatars.",
    "max_history": "It bounds what our own memory keeps of what was said.",
    "max_history_bytes": "The same bound, in bytes.",
    "permissions": "Only `safe`, which allows less than any other mode.",
    "rate_limit.enabled": "It switches the file's own limit; one of the user's counts before it.",
    "rate_limit.per_minute": "A limit: prompts wait, and none is sent that would not be.",
    "rate_limit.burst": "A part of the same limit.",
    "timeouts.turn": "A limit: a turn is only ended sooner.",
    "timeouts.permission": "A question that nobody answers is denied, never allowed.",
    "timeouts.stall_warning": "It moves a warning about silence.",
    "timeouts.stall_alarm": "It moves an alarm about silence, which ends nothing.",
    "while_busy": "It orders the host's own prompts; none is added.",
}


def refuse_powers(effects: Iterable[Effect]) -> None:
    """Raise ConfigError for what a file that was only found may not set."""
    for effect in effects:
        source = effect.at.source
        if source.trust is Trust.FOUND and not _is_harmless(effect):
            effect.at.refuse(
                "a file that was only found in the current directory may not set this; "
                f"if it is yours, name it: -c {source.name} or AVATAR_CONFIG={source.name}"
            )


def _is_harmless(effect: Effect) -> bool:
    is_strict = effect.target != "permissions" or effect.value is PermissionMode.SAFE
    return is_strict and effect.target in FOUND_MAY_SET
