"""Draws what a person is asked: what the tool would do, as a diff if it edits, and the keys."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct, field
from rich.text import Text

from avatar_actors import PermissionEvent, QuestionEvent, UserQuestion
from avatar_actors.cli.terminal import formatting
from avatar_actors.cli.terminal.questions import ways
from avatar_actors.cli.terminal.rendering import Signs
from avatar_actors.cli.terminal.text import labelled, one_line, revealed
from avatar_actors.picture.view_state import OpenRequest

# The most lines in the question; what may need more is printed above it in full.
MOST: Final = 12
# Characters of a description beside its option.
_DESCRIPTION: Final = 300
_NARROW: Final = 36
_BOX: Final = 60
_OF_A_COMMAND: Final = frozenset({"command", "cwd", "description"})
_LOOKS: Final = {"+": "added", "-": "removed", "@": "place"}


def named(ask: PermissionEvent | QuestionEvent) -> str:
    """The tool and its title; the first question."""
    if isinstance(ask, QuestionEvent):
        first = next(iter(ask.questions), None)
        return one_line(first.text if first is not None else ask.message, 200)
    return labelled(one_line(ask.tool_name), one_line(ask.title))


def heading(ask: PermissionEvent | QuestionEvent) -> str:
    """What is asked, as a title."""
    return "The agent asks" if isinstance(ask, QuestionEvent) else f"Allow {named(ask)}?"


def introduction(ask: PermissionEvent | QuestionEvent) -> str:
    """Stands above all the details."""
    return "The agent asks:" if isinstance(ask, QuestionEvent) else f"{named(ask)} would:"


def details(ask: PermissionEvent | QuestionEvent) -> list[Text]:
    """Everything that the tool would do (the command, the diff, or its whole input); or asks."""
    if isinstance(ask, QuestionEvent):
        return _questions(ask)
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
    asked: OpenRequest, more: int, signs: Signs, now: float, *, can_edit: bool
) -> tuple[Text, list[Text], list[Text]]:
    """Head, body, and foot with the keys; `more` is the number of other open requests."""
    ask = asked.event
    head = f"{signs.top}{signs.line} {heading(ask)} "
    head += signs.line * max(0, _BOX - len(head))
    foot = [Text.assemble((f"{signs.side} ", "warning"), keys(ask, can_edit=can_edit))]
    note = [f"denied in {formatting.elapsed(asked.until - now)}"] if asked.until else []
    note += [f"{more} more to answer"] if more else []
    tail = f"{signs.bottom}{signs.line * 2}"
    foot.append(Text(f"{tail} {f' {signs.dot} '.join(note)}" if note else tail, "warning"))
    title = Text(head, "warning", overflow="crop" if head.endswith(signs.line) else None)
    return title, details(ask), foot


def keys(ask: PermissionEvent | QuestionEvent, *, can_edit: bool) -> Text:
    """The keys. Where the agent has no "always", the program remembers the answer."""
    if isinstance(ask, QuestionEvent):
        only = ask.questions[0] if len(ask.questions) == 1 else None
        how = ways(only) if only is not None else "numbers or your own words, one after the other"
        return Text.assemble((f"[{how}]", "key"), " Enter  ", ("[Esc]", "key"), "decline")
    words = [("y", "es"), ("n", "o"), ("a", "lways")]
    words += [("e", "dit")] if can_edit else []
    row = Text()
    for key, rest in words:
        row.append(f"[{key}]", "key").append(f"{rest}  ")
    return row


def _questions(asked: QuestionEvent) -> list[Text]:
    """All the questions, with their options."""
    texts = {each.text for each in asked.questions}
    rows = [Text(line) for line in revealed(asked.message).split("\n")]
    rows = rows if asked.message and asked.message not in texts else []
    for number, question in enumerate(asked.questions, 1):
        rows += _question_rows(question, f"{number}. " if len(asked.questions) > 1 else "")
    return rows


def _question_rows(question: UserQuestion, number: str) -> list[Text]:
    first, *rest = revealed(question.text).split("\n")
    header = one_line(question.header)
    rows = [Text(labelled(f"{number}{header}", first) if header else f"{number}{first}", "bold")]
    rows += [Text(line, "bold") for line in rest]
    for index, option in enumerate(question.options, 1):
        row = Text.assemble("  ", (f"{index}", "key"), f" {one_line(option.label)}")
        if description := one_line(option.description, _DESCRIPTION):
            row.append(f"  {description}", "dim")
        rows.append(row)
    return rows


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
