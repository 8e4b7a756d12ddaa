"""Whether an agent is signed in, as far as its variables and the files of its login tell.

Nothing is run, and of a secret only its name is told.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from avatar_actors.model.settings import AvatarSettings
from avatar_actors.providers.codex_login import KEY_METHODS
from avatar_actors.providers.gemini_generation import GENERATION
from avatar_actors.providers.provider import SignedIn, SignIn
from avatar_actors.wire.json_values import decoded, is_object

CLAUDE_VARIABLES: Final = (
    "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY",
)  # fmt: skip
GEMINI_VARIABLES: Final = ("GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY")
# Vertex takes a key of its own, or the account of a project in a place.
VERTEX: Final = "GOOGLE_GENAI_USE_VERTEXAI"
VERTEX_BY: Final = (("GOOGLE_API_KEY",), ("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"))
LARGEST: Final = 1024 * 1024


def needs_no_sign_in(_: AvatarSettings, __: Mapping[str, str]) -> SignIn:
    """For an agent without accounts."""
    return SignIn(SignedIn.YES, "no account needed")


def claude_sign_in(_: AvatarSettings, env: Mapping[str, str]) -> SignIn:
    """By a variable, or by the file that `claude` keeps its login in."""
    if name := next((name for name in CLAUDE_VARIABLES if env.get(name)), ""):
        return SignIn(SignedIn.YES, name)
    folder = Path(env.get("CLAUDE_CONFIG_DIR") or _home(env) / ".claude")
    advice = "Run `claude` once and log in, or set ANTHROPIC_API_KEY"
    if _holds_login(folder / ".credentials.json"):
        return SignIn(SignedIn.YES, f"a login in {_shown(folder, env)}")
    if sys.platform == "darwin":
        return SignIn(SignedIn.UNKNOWN, "it may be in the keychain", advice)
    return SignIn(SignedIn.NO, advice=advice)


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
    folder = Path(env.get("GEMINI_CLI_HOME") or _home(env)) / ".gemini"
    if _holds_login(folder / "oauth_creds.json"):
        return SignIn(SignedIn.YES, f"a login in {_shown(folder, env)}")
    if _is_there(folder / ".env"):
        return SignIn(SignedIn.UNKNOWN, f"it may be by {_shown(folder, env)}/.env", advice)
    return SignIn(SignedIn.NO, advice=advice)


def _vertex_sign_in(env: Mapping[str, str]) -> SignIn:
    for names in VERTEX_BY:
        if all(map(env.get, names)):
            return SignIn(SignedIn.YES, " and ".join(names))
    wanted = ", or ".join(" and ".join(names) for names in VERTEX_BY)
    return SignIn(SignedIn.NO, advice=f"{VERTEX} is set: set {wanted} too")


def codex_sign_in(settings: AvatarSettings, env: Mapping[str, str]) -> SignIn:
    """By a key that the host gives, or by the file that `codex login` writes."""
    keys = tuple(dict.fromkeys(name for _, name in KEY_METHODS))
    if name := next((name for name in keys if settings.env.get(name)), ""):
        return SignIn(SignedIn.YES, name)
    folder = Path(env.get("CODEX_HOME") or _home(env) / ".codex")
    if _holds_login(folder / "auth.json"):
        return SignIn(SignedIn.YES, f"a login in {_shown(folder, env)}")
    if name := next((name for name in keys if env.get(name)), ""):
        # The adapters take a key only by a request (2.6.0, 0.16.0), made for one that is given.
        way = f"codex: env: {name}: ${{{name}}}"
        return SignIn(SignedIn.NO, advice=f"{name} is set but not given: configure {way}")
    return SignIn(SignedIn.NO, advice="Run `codex login` once, or give OPENAI_API_KEY in `env`")


def _home(env: Mapping[str, str]) -> Path:
    return Path(env.get("HOME") or Path.home())


def _shown(folder: Path, env: Mapping[str, str]) -> str:
    home = _home(env)
    return f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) else str(folder)


def _is_there(path: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size <= LARGEST
    except OSError:
        return False


def _holds_login(path: Path) -> bool:
    """Whether something is kept in it; logged out, a file may stay with nothing inside."""
    try:
        kept = decoded(path.read_bytes()) if _is_there(path) else None
    except OSError:
        return False
    return is_object(kept) and any(kept.values())
