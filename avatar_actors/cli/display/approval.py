"""The question whether a tool may run: exactly what it would do, and the keys for the answer."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from rich.text import Text

from avatar_actors import PermissionEvent
from avatar_actors.cli.display.file_edits import file_edits
from avatar_actors.cli.display.style import Signs
from avatar_actors.cli.display.view_state import OpenPermission
from avatar_actors.cli.terminal import formatting
from avatar_actors.cli.terminal.text import one_line, revealed

# So many lines of it stand in the question; what may need more is printed above, whole.
MOST: Final = 12
_NARROW: Final = 36
_BOX: Final = 60
_OF_A_COMMAND: Final = frozenset({"command", "cwd", "description"})
_LOOKS: Final = {"+": "added", "-": "removed", "@": "place"}


def named(ask: PermissionEvent) -> str:
    """The tool in a few words."""
    name, title = one_line(ask.tool_name), one_line(ask.title)
    if not title or title == name:
        return name
    return title if title.startswith(f"{name} ") else f"{name}: {title}"


def details(ask: PermissionEvent) -> list[Text]:
    """What the tool would do, whole: the command, the diff, or all that it is given."""
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
    """Whether a narrow screen needs more lines for it than the question has."""
    return sum(1 + len(row) // _NARROW for row in rows) > MOST


def hidden(count: int, rows: list[Text]) -> Text:
    """Stands where lines of the question are left out."""
    where = "all of it is above" if is_long(rows) else "the screen is small"
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
        return "(it is nested too deeply to be shown)"


def panel(
    asked: OpenPermission, more: int, signs: Signs, now: float
) -> tuple[Text, list[Text], list[Text]]:
    """The head, what it is about, and the foot with the keys. `more`: so many others wait."""
    ask = asked.event
    head = f"{signs.top}{signs.line} Allow {named(ask)}? "
    head += signs.line * max(0, _BOX - len(head))
    foot = [Text.assemble((f"{signs.side} ", "warning"), keys())]
    note = [f"denied in {formatting.elapsed(asked.until - now)}"] if asked.until else []
    note += [f"{more} more to answer"] if more else []
    tail = f"{signs.bottom}{signs.line * 2}"
    foot.append(Text(f"{tail} {f' {signs.dot} '.join(note)}" if note else tail, "warning"))
    title = Text(head, "warning", overflow="crop" if head.endswith(signs.line) else None)
    return title, details(ask), foot


def keys() -> Text:
    """The keys; an agent that knows no "always" is answered for by the program that shows this."""
    words = [("y", "es"), ("n", "o"), ("a", "lways"), ("e", "dit")]
    row = Text()
    for key, rest in words:
        row.append(f"[{key}]", "key").append(f"{rest}  ")
    return row
