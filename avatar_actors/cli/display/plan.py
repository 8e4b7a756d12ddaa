"""The agent's plan, as a checklist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from avatar_actors import PlanEntry
from avatar_actors.cli.display.style import Signs
from avatar_actors.cli.terminal.harmless import one_line

_LOOKS: Final = {"completed": "dim", "in_progress": "bold"}


def checklist(entries: Sequence[PlanEntry], signs: Signs) -> list[Text]:
    """One line for each step, below a heading with the count."""
    if not entries:
        return []
    done = sum(entry.status == "completed" for entry in entries)
    icons = {"completed": (signs.ok, "ok"), "in_progress": (signs.doing, "spinner")}
    rows = [Text(f"Plan {signs.dot} {done}/{len(entries)} done", "dim")]
    for entry in entries:
        icon, look = icons.get(entry.status, (signs.todo, "dim"))
        row = Text.assemble("  ", (icon, look), " ")
        row.append(one_line(entry.content), _LOOKS.get(entry.status, ""))
        if entry.priority == "high" and entry.status != "completed":
            row.append(" (important)", "warning")
        rows.append(row)
    return rows
