"""Text that came with a prompt, as from a pipe: described, counted and searched, never obeyed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Changes = dict[str, tuple[int, int]]

MOST_FOUND = 50
MOST_QUOTED = 5
LONGEST_LINE = 200
_NEW_FILE = "+++ "


class GivenText:
    """The texts of a prompt's context, by name."""

    def __init__(self, context: dict[str, object]) -> None:
        self._texts = {name: text for name, text in context.items() if isinstance(text, str)}

    def __bool__(self) -> bool:
        return any(map(str.strip, self._texts.values()))

    def described(self) -> str:
        """What each text is: a diff by its files, any other by its size and its first lines."""
        return "\n\n".join(_described(name, text) for name, text in self._texts.items())

    def counted(self) -> str:
        """The size of each text."""
        return "\n".join(f"{name}: {_size(text)}" for name, text in self._texts.items())

    def searched(self, needle: str) -> str:
        """The lines that have this text in them."""
        found = list(self._matches(needle.lower()))
        more = ["... and more"] if len(found) > MOST_FOUND else []
        return "\n".join(found[:MOST_FOUND] + more) or "(nothing found)"

    def _matches(self, needle: str) -> Iterator[str]:
        for name, text in self._texts.items():
            for number, line in enumerate(text.splitlines(), 1):
                if needle in line.lower():
                    yield f"{name}:{number}: {line.strip()[:LONGEST_LINE]}"


def _described(name: str, text: str) -> str:
    changes = changes_in(text)
    if not changes:
        first = [f"    {line[:LONGEST_LINE]}" for line in text.splitlines()[:MOST_QUOTED]]
        return "\n".join([f"{name} has {_size(text)}. It begins:", "", *first])
    rows = [f"- {path}: +{added} -{removed}" for path, (added, removed) in changes.items()]
    files = "1 file" if len(rows) == 1 else f"{len(rows)} files"
    more = [f"- ... and {len(rows) - MOST_FOUND} more"] if len(rows) > MOST_FOUND else []
    return "\n".join([f"{name} is a diff of {files}:", "", *rows[:MOST_FOUND], *more])


def _size(text: str) -> str:
    lines = len(text.splitlines())
    noun = "line" if lines == 1 else "lines"
    return f"{lines} {noun}, {len(text.split())} words, {len(text)} characters"


def changes_in(text: str) -> Changes:
    """How many lines a unified diff adds to and removes from each file; empty for other text."""
    changes: Changes = {}
    path, before = "", ""
    for line in text.splitlines():
        if line.startswith(_NEW_FILE) and before.startswith("--- "):
            new = line.removeprefix(_NEW_FILE).partition("\t")[0]
            old = before.removeprefix("--- ").partition("\t")[0]
            path = old.removeprefix("a/") if new == "/dev/null" else new.removeprefix("b/")
            changes.setdefault(path, (0, 0))
        elif path and not line.startswith("--- "):
            added, removed = changes[path]
            changes[path] = added + line.startswith("+"), removed + line.startswith("-")
        before = line
    return changes
