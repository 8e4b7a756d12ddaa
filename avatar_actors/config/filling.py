"""Variables in texts, and paths: what a text means with its environment and folder. Pure."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeAlias

from avatar_actors.config.nodes import Spot

Environ: TypeAlias = Mapping[str, str]

_VARIABLE: Final = re.compile(r"\$\$|\$\{(?P<name>[^}:]*)(?P<rest>:-(?P<default>[^}]*)|[^}]*)\}")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def filled(text: str, at: Spot, environ: Environ) -> str:
    """The text with `${NAME}` and `${NAME:-default}` replaced; `$$` is a dollar."""

    def value(found: re.Match[str]) -> str:
        if found[0] == "$$":
            return "$"
        name, default = found["name"], found["default"]
        if not _NAME.fullmatch(name) or (found["rest"] and default is None):
            at.refuse("a variable is written ${NAME} or ${NAME:-default}; $$ is a dollar sign")
        if name in environ and (environ[name] or default is None):
            return environ[name]
        if default is None:
            at.refuse(f"the variable {name} is not set; set it, or write ${{{name}:-default}}")
        return default

    return _VARIABLE.sub(value, text)


def absolute(text: str, at: Spot, environ: Environ) -> Path:
    """The path; a relative one begins in the folder of what named it, `~` in the user's home."""
    if text == "~" or text.startswith("~/"):
        home = environ.get("HOME")
        if not home:
            at.refuse("~ has no meaning here, since the variable HOME is not set")
        text = home + text[1:]
    return Path(os.path.normpath(at.source.folder / text))
