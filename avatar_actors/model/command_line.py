"""Builds the command lines of agents, and refuses text that no process can be given. Pure.

A value always travels in one word with its flag, `--model=opus`: an agent never takes it for a
flag of its own, whatever it begins with.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from avatar_actors.model.errors import SettingsError

# A flag alone, or a flag and its value.
Flag: TypeAlias = str | tuple[str, str]

# Linux gives a process no argument or variable of 128 KiB or more, its ending NUL included.
LONGEST_WORD: Final = 128 * 1024 - 1
_LONG_FLAG: Final = re.compile(r"--[A-Za-z][A-Za-z0-9-]*")


def command_line(
    program: Iterable[str], flags: Iterable[Flag], args: Iterable[str] = ()
) -> tuple[str, ...]:
    """The words of a command: the program, our flags, and then the host's own arguments."""
    words = [_word(flag) for flag in flags]
    return (*program, *words, *args)


def check_word(what: str, word: str) -> None:
    """Raise SettingsError for an argument or a variable that no process can be given."""
    if "\0" in word:
        raise SettingsError(f"{what} holds a NUL character, which no process can be given")
    try:
        size = len(os.fsencode(word))
    except UnicodeEncodeError:
        raise SettingsError(f"{what} holds half a surrogate pair, which is no text") from None
    if size > LONGEST_WORD:
        raise SettingsError(f"{what} has {size} bytes; a process takes at most {LONGEST_WORD}")


def check_environment(variables: Mapping[str, str]) -> None:
    """Raise SettingsError for variables that no process can have."""
    for name, value in variables.items():
        if not name or "=" in name:
            raise SettingsError(f"env: {name!r} is no name of a variable")
        check_word(f"env: {name}" if name.isprintable() else "env: a name", f"{name}={value}")


def check_text(what: str, text: str) -> None:
    """Raise SettingsError for text that cannot stand in a file of the agent's."""
    if "\0" in text:
        raise SettingsError(f"{what} holds a NUL character; take it out")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise SettingsError(f"{what} holds half a surrogate pair, which is no text") from None


def _word(flag: Flag) -> str:
    name, value = flag if isinstance(flag, tuple) else (flag, None)
    if not _LONG_FLAG.fullmatch(name):
        raise SettingsError(f"{name!r} is no flag; one is written as --model")
    word = name if value is None else f"{name}={value}"
    check_word(name, word)
    return word


# Those of all known agents are UUIDs, but opencode's: `ses_` and 26 letters and digits.
_SESSION_ID: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._:-]{0,199}")
_LONGEST_NAME: Final = 200
SESSION_ID: Final = "a session id, of letters, digits and . _ : - (a dash not first), at most 200"
NAME: Final = f"a name of at most {_LONGEST_NAME} printable characters that begins with no dash"
_LONGEST_SHOWN: Final = 60


def is_session_id(text: str) -> bool:
    """Whether an agent's session can be asked for by this id."""
    return _SESSION_ID.fullmatch(text) is not None


def unusable_session(text: str) -> str:
    """What is said of an agent that names a session by something else."""
    return f"the agent named a session by {_shown(text)}: no session is asked for by such an id"


def check_session_id(text: str, name: str = "session_id") -> None:
    """Raise SettingsError for what can be no session's id."""
    if not is_session_id(text):
        raise SettingsError(f"{name} must be {SESSION_ID}; got {_shown(text)}")


def is_name(text: str) -> bool:
    """Whether a model or a mode can be asked for by this name."""
    return not text.startswith("-") and text.isprintable() and len(text) <= _LONGEST_NAME


def check_name(kind: str, name: str) -> None:
    """Raise SettingsError for what cannot be the name of a model or a mode."""
    if not is_name(name):
        raise SettingsError(f"{kind} must be {NAME}; got {_shown(name)}")


def _shown(text: str) -> str:
    return ascii(text) if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]!a}…"
