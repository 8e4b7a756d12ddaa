"""Draws a permission request: what the tool would do, as a diff if it edits files, and the keys."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct, field
from rich.text import Text

from avatar_actors import PermissionEvent
from avatar_actors.cli.terminal import formatting
from avatar_actors.cli.terminal.rendering import Signs
from avatar_actors.cli.terminal.text import labelled, one_line, revealed
from avatar_actors.picture.view_state import OpenPermission

# The most lines in the question; what may need more is printed above it in full.
MOST: Final = 12
_NARROW: Final = 36
_BOX: Final = 60
_OF_A_COMMAND: Final = frozenset({"command", "cwd", "description"})
_LOOKS: Final = {"+": "added", "-": "removed", "@": "place"}


def named(ask: PermissionEvent) -> str:
    """The tool and its title."""
    return labelled(one_line(ask.tool_name), one_line(ask.title))


def details(ask: PermissionEvent) -> list[Text]:
    """Everything that the tool would do: the command, the diff, or its whole input."""
    given = ask.tool_input
    command = given.get("command")
    if isinstance(command, str) and command:
        return _command(command, given)
    if edits := file_edits(given):
        return [Text(line, _LOOKS.get(line[:1], "")) for line in edits]
    if given:
        return [Text(line) for line in revealed(_json(given)).split("\n")]
    return [Text(named(ask))]


def is_long(rows: list[Text]) -> bool:
    """Whether a narrow screen needs more lines than the question has."""
    return sum(1 + len(row) // _NARROW for row in rows) > MOST


def hidden(count: int, rows: list[Text]) -> Text:
    """Stands in for the lines that are left out."""
    where = "see all of it above" if is_long(rows) else "the screen is small"
    return Text(f"({count} lines hidden: {where})", "warning")


def _command(command: str, given: dict[str, Any]) -> list[Text]:
    first, *rest = revealed(command).split("\n")
    rows = [Text.assemble(("$ ", "dim"), (first, "bold"))]
    rows += [Text.assemble("  ", (line, "bold")) for line in rest]
    others = {name: value for name, value in given.items() if name not in _OF_A_COMMAND}
    rows += [Text(line) for line in revealed(_json(others)).split("\n")] if others else []
    notes = [given.get("cwd"), given.get("description")]
    return rows + [Text(f"  {one_line(note)}", "dim") for note in notes if isinstance(note, str)]


def _json(given: dict[str, Any]) -> str:
    try:
        return msgspec.json.format(msgspec.json.encode(given)).decode()
    except RecursionError:
        return "(too deeply nested to be shown)"


def panel(
    asked: OpenPermission, more: int, signs: Signs, now: float, *, can_edit: bool
) -> tuple[Text, list[Text], list[Text]]:
    """Head, body, and foot with the keys; `more` is the number of other open requests."""
    ask = asked.event
    head = f"{signs.top}{signs.line} Allow {named(ask)}? "
    head += signs.line * max(0, _BOX - len(head))
    foot = [Text.assemble((f"{signs.side} ", "warning"), keys(can_edit))]
    note = [f"denied in {formatting.elapsed(asked.until - now)}"] if asked.until else []
    note += [f"{more} more to answer"] if more else []
    tail = f"{signs.bottom}{signs.line * 2}"
    foot.append(Text(f"{tail} {f' {signs.dot} '.join(note)}" if note else tail, "warning"))
    title = Text(head, "warning", overflow="crop" if head.endswith(signs.line) else None)
    return title, details(ask), foot


def keys(can_edit: bool) -> Text:
    """The keys. Where the agent has no "always", the program remembers the answer."""
    words = [("y", "es"), ("n", "o"), ("a", "lways")]
    words += [("e", "dit")] if can_edit else []
    row = Text()
    for key, rest in words:
        row.append(f"[{key}]", "key").append(f"{rest}  ")
    return row


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
        """The change as a unified diff; empty if there is none."""
        for new in (self.new_string, self.new_text, self.content):
            if new is not None:
                return _diff(path, self.old_string or self.old_text or "", new)
        return ""


class Change(Struct):
    """Codex: the change of one file."""

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


class EditInput(Replacement):
    """The input of a tool that edits files."""

    file_path: str = ""
    path: str = ""
    edits: tuple[Replacement, ...] = ()
    changes: dict[str, Change] = {}

    def diffs(self) -> Iterator[str]:
        """One per file or place."""
        path = self.file_path or self.path
        for name, change in self.changes.items():
            yield change.diff(name)
        if path:
            for one in self.edits or (self,):
                yield one.diff(path)


def file_edits(tool_input: dict[str, Any]) -> list[str]:
    """The lines of a unified diff; none if the tool edits no file."""
    try:
        edit = msgspec.convert(tool_input, EditInput)
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
