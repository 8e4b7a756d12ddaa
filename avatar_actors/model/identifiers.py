"""What a session's id and the names of models and modes may be: they come from outside, and reach
the command lines and files of agents. Pure.
"""

from __future__ import annotations

import re
from typing import Final

from avatar_actors.model.errors import SettingsError

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


def check_session_id(text: str) -> None:
    """Raise SettingsError for what can be no session's id."""
    if not is_session_id(text):
        raise SettingsError(f"got {_shown(text)} where there must be {SESSION_ID}")


def is_name(text: str) -> bool:
    """Whether a model or a mode can be asked for by this name."""
    return not text.startswith("-") and text.isprintable() and len(text) <= _LONGEST_NAME


def check_name(kind: str, name: str) -> None:
    """Raise SettingsError for what cannot be the name of a model or a mode."""
    if not is_name(name):
        raise SettingsError(f"{kind} must be {NAME}; got {_shown(name)}")


def _shown(text: str) -> str:
    return ascii(text) if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]!a}…"
