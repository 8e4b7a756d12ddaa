"""What tool policy and permission mode decide without asking anybody. Pure."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from typing import Final

from avatar_actors.model.settings import PermissionMode
from avatar_actors.model.tool_policy import ToolPolicy
from avatar_actors.model.values import JsonObject, PermissionBasis, Permit

# Tool kinds, in ACP's words, that only look, and all of them.
LOOKING: Final = frozenset({"read", "search", "think", "fetch"})
TOOL_KINDS: Final = LOOKING | {"edit", "delete", "move", "execute", "switch_mode", "other"}
# The kind is the agent's word. These names and arguments belie a word that says "only looking".
_CHANGING_NAMES: Final = {
    **dict.fromkeys(("bash", "exec", "exec_command", "run_shell_command", "shell"), "execute"),
    **dict.fromkeys(("apply_patch", "edit", "edit_file", "multiedit", "notebookedit"), "edit"),
    **dict.fromkeys(("patch", "replace", "write", "write_file"), "edit"),
}
_CHANGING_ARGUMENTS: Final = {
    **dict.fromkeys(("cmd", "command"), "execute"),
    **dict.fromkeys(("changes", "content", "diff", "edits", "newText", "new_source"), "edit"),
    **dict.fromkeys(("newString", "new_str", "new_string", "patch", "patchText"), "edit"),
}
_EDITS: Final = frozenset({"edit", "delete", "move"})
# Which kinds count as changing things when they run unasked. An agent whose own mode or sandbox
# holds lets commands through that only read; one that asks has other tools that are harmless.
_COUNTED: Final = {
    PermissionBasis.ENFORCED: _EDITS,
    PermissionBasis.ASKED: _EDITS | {"execute"},
}
_UNCOUNTED: Final = LOOKING | {"switch_mode"}


class Rule(Enum):
    """What a tool has broken that ran without being asked about."""

    DENIED = "a `deny` of the tool policy"
    NOT_ALLOWED = "the tool policy, whose `allow` does not name it"
    SAFE = "safe mode"
    ASK = "ask mode"


_OF_MODES: Final = {PermissionMode.SAFE: Rule.SAFE, PermissionMode.ASK: Rule.ASK}


class Rules:
    """The decisions of one avatar's settings."""

    def __init__(self, mode: PermissionMode, policy: ToolPolicy) -> None:
        self._mode = mode
        self._policy = policy
        self._denials = ToolPolicy(deny=policy.deny)
        self._denied_kinds = policy.denials_of_kinds()
        self._allowances = ToolPolicy(allow=policy.allow)

    def verdict(
        self, tool_name: str, kind: str, tool_input: JsonObject, title: str = ""
    ) -> tuple[Permit, str] | None:
        """The decision and who made it; None: the host is to be asked."""
        if self._denies(tool_name, kind, tool_input, title):
            return Permit.REJECT_ONCE, "tool policy"
        allowed = self._policy.verdict(tool_name, tool_input)
        if allowed is not None:
            return (Permit.ALLOW_ONCE if allowed else Permit.REJECT_ONCE), "tool policy"
        if self._mode is PermissionMode.UNRESTRICTED:
            return Permit.ALLOW_ONCE, "unrestricted mode"
        if self._mode is PermissionMode.SAFE:
            looks = kind_of(tool_name, kind, tool_input) in LOOKING
            return (Permit.ALLOW_ONCE if looks else Permit.REJECT_ONCE), "safe mode"
        return None

    def warnings(self, known: Collection[str]) -> list[str]:
        """What to tell the host about patterns that fit none of the agent's known tools."""
        unknown = self._policy.unknown_names({*known, *TOOL_KINDS})
        return [
            f"{field} {pattern!r} fits no known tool of this agent and no kind of tools, so it may"
            f" {field} nothing; the names to use are those in PermissionEvent.tool_name"
            for field, pattern in unknown
        ]

    def _denies(self, tool_name: str, kind: str, tool_input: JsonObject, title: str) -> bool:
        """Whether `deny` fits the name, the kind, or the title of a tool that has no name."""
        names = [tool_name, title] if title and tool_name == kind else [tool_name]
        is_denied = any(self._denials.verdict(name, tool_input) is False for name in names)
        return is_denied or self._denied_kinds.verdict(kind, tool_input) is False

    def broken_by(
        self,
        tool_name: str,
        kind: str,
        tool_input: JsonObject,
        basis: PermissionBasis,
        *,
        title: str = "",
    ) -> Rule | None:
        """The rule that forbids this tool to run unasked, if one does.

        A denial counts for every tool that does more than think, the others for those that change
        things. Some agents ask by a tool's kind and run it by its name: a pattern may have either.
        """
        does = kind_of(tool_name, kind, tool_input)
        if self._denies(tool_name, kind, tool_input, title) and does != "think":
            return Rule.DENIED
        if not changes_things(does, basis):
            return None
        decisions = {self._allowances.verdict(name, tool_input) for name in (tool_name, kind)}
        if True in decisions:
            return None
        return Rule.NOT_ALLOWED if False in decisions else _OF_MODES.get(self._mode)


def kind_of(tool_name: str, kind: str, tool_input: JsonObject) -> str:
    """What the tool does: the kind that was told, unless its name or arguments belie it."""
    if kind not in LOOKING:
        return kind
    if named := _CHANGING_NAMES.get(tool_name.lower()):
        return named
    return next((is_for for key, is_for in _CHANGING_ARGUMENTS.items() if key in tool_input), kind)


def changes_things(kind: str, basis: PermissionBasis) -> bool:
    """Whether a tool of this kind counts when it runs unasked. Of a stranger every unknown does."""
    counted = _COUNTED.get(basis)
    return kind not in _UNCOUNTED if counted is None else kind in counted
