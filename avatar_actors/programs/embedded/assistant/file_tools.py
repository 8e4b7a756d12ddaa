"""The tools of the assistant: they look around in the working directory and really do it."""

from __future__ import annotations

import time

from avatar_actors.programs.embedded.assistant.arithmetic import NoArithmetic, calculate
from avatar_actors.programs.embedded.tools import ToolFailed, ToolUse
from avatar_actors.programs.embedded.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from avatar_actors.programs.embedded.turn import AgentTurn

MOST_LISTED = 200
MOST_FOUND = 50
MOST_SHOWN = 20_000
LONGEST_LINE = 200


class FileTools:
    """Makes the tool calls of one turn."""

    def __init__(self, turn: AgentTurn) -> None:
        self._turn = turn
        self.workspace = Workspace(turn.session.cwd)

    def listing(self) -> ToolUse:
        """Lists the files."""
        return ToolUse("List", {"path": str(self.workspace.root)}, self._list)

    def reading(self, name: str) -> ToolUse:
        """Reads a file."""

        def work() -> str:
            return self.workspace.read(name)[:MOST_SHOWN]

        return ToolUse("Read", {"path": name}, work)

    def searching(self, needle: str) -> ToolUse:
        """Searches the files for a text."""
        return ToolUse(
            "Search", {"pattern": needle, "title": f"Search for {needle}"}, self._finder(needle)
        )

    def counting(self) -> ToolUse:
        """Counts files and lines, by the endings of the names."""
        return ToolUse("Count", {"path": str(self.workspace.root)}, self._count)

    def clock(self) -> ToolUse:
        """Tells the time."""
        return ToolUse("Clock", {}, lambda: time.strftime("%A %Y-%m-%d %H:%M:%S %Z"))

    def calculation(self, expression: str) -> ToolUse:
        """Calculates."""

        def work() -> str:
            try:
                return str(calculate(expression))
            except NoArithmetic as error:
                raise ToolFailed(str(error)) from None

        return ToolUse("Calculator", {"expression": expression, "title": expression}, work)

    def writing(self, name: str, text: str) -> ToolUse:
        """Writes a file; whoever runs it has asked before."""

        def work() -> str:
            self.workspace.locate(name)
            self._turn.write_file(name, text)
            return f"{len(text)} characters are in {name}"

        return ToolUse("Write", {"file_path": name, "content": text}, work)

    def _list(self) -> str:
        files = self.workspace.files()
        rest = len(files) - MOST_LISTED
        more = [f"... and {rest} more"] if rest > 0 else []
        return "\n".join(files[:MOST_LISTED] + more) or "(no files)"

    def _finder(self, needle: str) -> Callable[[], str]:
        def work() -> str:
            found: list[str] = []
            for name, text in self._texts():
                for number, line in enumerate(text.splitlines(), 1):
                    if needle.lower() in line.lower():
                        found.append(f"{name}:{number}: {line.strip()[:LONGEST_LINE]}")
                if len(found) >= MOST_FOUND:
                    return "\n".join([*found[:MOST_FOUND], "... and maybe more"])
            return "\n".join(found) or "(nothing found)"

        return work

    def _count(self) -> str:
        files: dict[str, int] = {}
        lines: dict[str, int] = {}
        for name, text in self._texts():
            ending = f".{name.rpartition('.')[2]}" if "." in name else "(no ending)"
            files[ending] = files.get(ending, 0) + 1
            lines[ending] = lines.get(ending, 0) + len(text.splitlines())
        rows = sorted(files, key=lambda ending: -lines[ending])
        shown = [f"{ending}: {files[ending]} files, {lines[ending]} lines" for ending in rows]
        total = f"all: {sum(files.values())} text files, {sum(lines.values())} lines"
        return "\n".join([*shown, total])

    def _texts(self) -> Iterator[tuple[str, str]]:
        for name in self.workspace.files():
            if self._turn.is_cancelled:
                raise ToolFailed("cancelled")
            try:
                yield name, self.workspace.read(name)
            except ToolFailed:
                # Not a text, or a link that leads out: it is not looked into.
                continue
