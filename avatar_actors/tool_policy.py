"""Which tools an avatar may use, by patterns on their names and arguments. Pure."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from typing import TypeAlias

from msgspec import Struct

from avatar_actors.types import JsonObject

Json: TypeAlias = "dict[str, Json] | list[Json] | str | float | bool | None"

# What a tool is about, in the words of the known agents, the telling ones first.
_MAIN_ARGUMENTS = (
    "command", "cmd", "file_path", "path", "notebook_path", "filePath", "url", "pattern", "query",
)  # fmt: skip


class ToolPolicy(Struct, frozen=True):
    """Patterns on tool names, or on names and arguments as `Bash(git *)`; deny is asked first.

    With `allow` given, what it does not name is denied.
    """

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def verdict(self, tool_name: str, tool_input: JsonObject) -> bool | None:
        """True and False decide; None leaves the decision to the permission mode."""
        if any(_denies(pattern, tool_name, tool_input) for pattern in self.deny):
            return False
        if any(_allows(pattern, tool_name, tool_input) for pattern in self.allow):
            return True
        return False if self.allow else None


def _denies(pattern: str, tool_name: str, tool_input: JsonObject) -> bool:
    """Whether the pattern fits any text of the arguments, however deep it stands."""
    name, wanted = _parted(pattern)
    if not fnmatch.fnmatchcase(tool_name, name):
        return False
    return wanted is None or any(fnmatch.fnmatchcase(text, wanted) for text in _texts(tool_input))


def _allows(pattern: str, tool_name: str, tool_input: JsonObject) -> bool:
    """Whether it fits what the tool will do; a description that the agent made up is no help."""
    name, wanted = _parted(pattern)
    if not fnmatch.fnmatchcase(tool_name, name):
        return False
    if wanted is None:
        return True
    texts = _doing(tool_input)
    return bool(texts) and all(fnmatch.fnmatchcase(text, wanted) for text in texts)


def _doing(tool_input: JsonObject) -> list[str]:
    for name in _MAIN_ARGUMENTS:
        if name in tool_input:
            words = list(_texts(tool_input[name]))
            # Codex says ["/bin/bash", "-lc", "git status"].
            return words[2:] if words[1:2] in (["-c"], ["-lc"]) else [" ".join(words)]
    return list(_texts(tool_input))


def _parted(pattern: str) -> tuple[str, str | None]:
    name, bracket, rest = pattern.partition("(")
    return name, rest.removesuffix(")") if bracket else None


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
