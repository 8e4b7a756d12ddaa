"""Which files a tool would change, and how, from the forms in which agents ask to edit."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct, field

from avatar_actors.cli.terminal.text import revealed

_CONTEXT: Final = 3
_NOTHING: Final = "/dev/null"


class Replacement(Struct):
    """Claude: `old_string` and `new_string`, or the whole `content`; ACP: `oldText`, `newText`."""

    old_string: str = ""
    new_string: str | None = None
    old_text: str | None = field(name="oldText", default=None)
    new_text: str | None = field(name="newText", default=None)
    content: str | None = None

    def diff(self, path: str) -> str:
        """The change as a unified diff; nothing, if there is none."""
        for new in (self.new_string, self.new_text, self.content):
            if new is not None:
                return _diff(path, self.old_string or self.old_text or "", new)
        return ""


class Change(Struct):
    """Codex: what becomes of one file."""

    type: str = ""
    content: str = ""
    unified_diff: str = ""
    move_path: str | None = None

    def diff(self, path: str) -> str:
        """The change as a unified diff."""
        if self.unified_diff:
            diff = self.unified_diff.removesuffix("\n")
            return f"--- {path}\n+++ {self.move_path or path}\n{diff}"
        if self.type == "delete":
            return _diff(path, self.content, "")
        return _diff(path, "", self.content)


class Edit(Replacement):
    """What tools that edit are given."""

    file_path: str = ""
    path: str = ""
    edits: tuple[Replacement, ...] = ()
    changes: dict[str, Change] = {}

    def diffs(self) -> Iterator[str]:
        """One for each file or place."""
        path = self.file_path or self.path
        for name, change in self.changes.items():
            yield change.diff(name)
        if path:
            for one in self.edits or (self,):
                yield one.diff(path)


def file_edits(tool_input: dict[str, Any]) -> list[str]:
    """Lines of a unified diff; none: this is no edit of a file."""
    try:
        edit = msgspec.convert(tool_input, Edit)
    except msgspec.ValidationError:
        return []
    return [line for diff in edit.diffs() if diff for line in revealed(diff).split("\n")]


def _diff(path: str, old: str, new: str) -> str:
    lines = difflib.unified_diff(
        _lines(old),
        _lines(new),
        path if old else _NOTHING,
        path if new else _NOTHING,
        n=_CONTEXT,
        lineterm="",
    )
    return "\n".join(lines)


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []
