"""How the living lines share the screen: the question first, then what runs, the plan, the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from rich.text import Text

from avatar_actors import PlanEntry
from avatar_actors.cli.display import approval, work_box
from avatar_actors.cli.display.rendering import Renderer, cropped
from avatar_actors.cli.display.status_line import status_lines
from avatar_actors.cli.display.style import Signs, Style
from avatar_actors.cli.display.view_state import ViewState
from avatar_actors.cli.display.work import Work
from avatar_actors.cli.terminal import formatting
from avatar_actors.cli.terminal.text import one_line

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


def state_line(scene: ViewState, signs: Signs) -> Text:
    """State, provider, model, mode, tokens, money and how full the context is, where known."""
    # The embedded agent says so: it has no model.
    model = scene.model if scene.model != "none" else ""
    words = [scene.engine.value.replace("_", " "), scene.provider, model, scene.mode]
    words += formatting.used(scene.usage)
    if scene.context_size:
        words.append(f"context {scene.context_used / scene.context_size:.0%}")
    words.append(scene.title)
    return Text(f" {signs.dot} ".join(filter(None, words)), "dim")


_LEAST_TEXT: Final = 3
_LEAST_BOX: Final = 3


class Parts(NamedTuple):
    """What there is to show."""

    scene: ViewState
    work: Work
    style: Style
    now: float


def arranged(parts: Parts, text: Sequence[str], ink: Renderer, size: tuple[int, int]) -> list[str]:
    """From top to bottom: the open text, work, plan, question, status, state; at most `size`."""
    width, height = size
    scene, work, style, now = parts
    foot = status_lines(scene, work, style, now) if not scene.asks else []
    bottom = [ink.cut(row, width) for row in [*foot, state_line(scene, style.signs)]]
    room = height - len(bottom)
    question = _question(parts, ink, (width, room)) if scene.asks else []
    room -= len(question)
    steps = [ink.cut(row, width) for row in checklist(scene.plan, style.signs)]
    box = [ink.cut(row, width) for row in work_box.living(work, style, now)]
    least = min(len(text), _LEAST_TEXT)
    box = _shortened(box, room - least, 1)
    room -= len(box)
    steps = _shortened(steps, room - least, 0)
    room -= len(steps)
    shown = list(text[-room:]) if room > 0 else []
    gap = [""] if (box or steps or question or foot) and room > len(shown) else []
    lines = shown + gap + box + steps + question + bottom
    return [cropped(line, width) for line in lines[-height:]] if height else []


def final_plan(scene: ViewState, style: Style) -> list[Text]:
    """The plan as it was when the turn ended."""
    return checklist(scene.plan, style.signs)


def _question(parts: Parts, ink: Renderer, size: tuple[int, int]) -> list[str]:
    """What it is about comes before its head and its keys, and its end before its middle."""
    width, room = size
    asked, *others = parts.scene.asks.values()
    signs = parts.style.signs
    head, rows, foot = approval.panel(asked, len(others), signs, parts.now)
    body = [line for row in rows for line in ink.wrapped(row, width - 2, 2)]
    most = min(approval.MOST, max(1, room - 1 - len(foot)))
    if len(body) > most:
        first, last = (most - 1) // 2, most // 2
        mark = ink.cut(approval.hidden(len(body) - first - last, rows), width - 2)
        body = [*body[:first], mark, *body[len(body) - last :]]
    side = ink.line(Text(signs.side, "warning"))
    body = [f"{side} {line}" for line in body]
    lines = [*body, *(ink.cut(row, width) for row in foot)]
    return [ink.cut(head, width), *lines] if len(lines) < room else lines[: max(0, room)]


def _shortened(lines: list[str], room: int, foot: int) -> list[str]:
    """As many lines as there is room for, with the last ones; nothing, where that says nothing."""
    if len(lines) <= room:
        return lines
    if room < _LEAST_BOX:
        return []
    kept = lines[: room - foot - 1]
    hidden = len(lines) - len(kept) - foot
    return [*kept, f"  {hidden} more lines", *lines[len(lines) - foot :]]
