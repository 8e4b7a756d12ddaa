"""Which tools an avatar may use, by patterns on their names and arguments. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from fnmatch import fnmatchcase
from functools import cache
from typing import Final

from msgspec import Struct

from avatar_actors.model.checks import check_fields
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.tool_input import (
    OPERATORS,
    Argument,
    ArgumentKind,
    Unreadable,
    arguments,
    every_text,
    normal_path,
)
from avatar_actors.model.values import JsonObject

# `[…]` as fnmatch reads it.
_CLASS: Final = re.compile(r"\[!?\]?[^\]]*\]")
# A step up, in every spelling that a client of the web takes for one.
_STEP_UP: Final = re.compile(r"(?:^|[/\\])(?:\.|%2e){2}(?:[/\\?#]|$)|[\x00-\x1f]", re.IGNORECASE)


class ToolPolicy(Struct, frozen=True):
    """Patterns on tool names, or on names and arguments as `Bash(git *)`; deny is asked first.

    With `allow` given, what it does not name is denied. Capitals in a name count in `allow` only.
    """

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, patterns in (("allow", self.allow), ("deny", self.deny)):
            if isinstance(patterns, str):
                raise SettingsError(f"{name} is a tuple of patterns; write ({patterns!r},)")
        check_fields(self)
        for name, patterns in (("allow", self.allow), ("deny", self.deny)):
            for pattern in patterns:
                _check(name, pattern)

    def verdict(self, tool_name: str, tool_input: JsonObject) -> bool | None:
        """True and False decide; None leaves the decision to the permission mode."""
        if any(_denies(pattern, tool_name, tool_input) for pattern in self.deny):
            return False
        if any(_allows(pattern, tool_name, tool_input) for pattern in self.allow):
            return True
        return False if self.allow else None

    def denials_of_kinds(self) -> ToolPolicy:
        """The `deny` patterns that may mean a kind of tools: those whose name has no capitals."""
        names = {pattern: _parted(pattern)[0] for pattern in self.deny}
        return ToolPolicy(deny=tuple(each for each in self.deny if names[each].islower()))

    def unknown_names(self, known: Collection[str]) -> list[tuple[str, str]]:
        """The patterns that fit none of these tools, each as (field, pattern).

        Names of MCP tools are not known beforehand: their patterns are left out.
        """
        small = {name.lower() for name in known}
        allow = [each for each in self.allow if not _fits_any(_parted(each)[0], known)]
        deny = [each for each in self.deny if not _fits_any(_parted(each)[0].lower(), small)]
        unknown = [*(("allow", each) for each in allow), *(("deny", each) for each in deny)]
        return [(field, each) for field, each in unknown if not each.lower().startswith("mcp")]


def _fits_any(pattern: str, names: Collection[str]) -> bool:
    return any(fnmatchcase(name, pattern) for name in names)


def _denies(pattern: str, tool_name: str, tool_input: JsonObject) -> bool:
    """Whether the pattern fits any text of the input; what cannot be read is denied."""
    name, wanted = _parted(pattern)
    if not fnmatchcase(tool_name.lower(), name.lower()):
        return False
    try:
        return wanted is None or any(fnmatchcase(text, wanted) for text in every_text(tool_input))
    except Unreadable:
        return True


def _allows(pattern: str, tool_name: str, tool_input: JsonObject) -> bool:
    """Whether it fits all that the tool will do; a description by the agent is no help."""
    name, wanted = _parted(pattern)
    if not fnmatchcase(tool_name, name):
        return False
    if wanted is None:
        return True
    try:
        found = arguments(tool_input)
    except Unreadable:
        return False
    return bool(found) and all(_fits(argument, wanted) for argument in found)


def _fits(argument: Argument, wanted: str) -> bool:
    text = argument.text
    match argument.kind:
        case ArgumentKind.COMMAND:
            # As many operators as the pattern has itself, so that none is taken for its `*`.
            own = OPERATORS.findall(_CLASS.sub("", wanted))
            return OPERATORS.findall(text) == own and fnmatchcase(text, wanted)
        case ArgumentKind.PATH:
            # Whose home `~` is, and so what is above it, only the agent knows.
            is_above_home = text.startswith("~") and ".." in text.split("/")
            return not is_above_home and fnmatchcase(normal_path(text), wanted)
        case ArgumentKind.TEXT:
            return not _STEP_UP.search(text) and fnmatchcase(text, wanted)


@cache
def _parted(pattern: str) -> tuple[str, str | None]:
    """Its name, and the argument if it has one; `*` alone is any input."""
    name, _, rest = pattern.partition("(")
    wanted = rest.removesuffix(")")
    return name, wanted if wanted.strip("*") else None


def _check(field: str, pattern: str) -> None:
    example = "a pattern is Write, mcp__files__*, Bash(git *) or *(*secret*)"
    name, bracket, rest = pattern.partition("(")
    is_closed = rest.endswith(")") and rest != ")" if bracket else ")" not in name
    if not name.strip() or not is_closed:
        raise SettingsError(f"{field}: {pattern!r} is no pattern; {example}")
