"""How the living lines share the screen: the question first, then what runs, then the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from rich.text import Text

from avatar_actors.cli.display import approval, plan, work_box
from avatar_actors.cli.display.ink import Ink, cropped
from avatar_actors.cli.display.scene import Scene
from avatar_actors.cli.display.state_line import state_line
from avatar_actors.cli.display.style import Style
from avatar_actors.cli.display.thinking import status_lines
from avatar_actors.cli.display.work import Work

_LEAST_TEXT: Final = 3
_LEAST_BOX: Final = 3
# The line with the keys, and the one below it.
_FOOT: Final = 2


class Parts(NamedTuple):
    """What there is to show."""

    scene: Scene
    work: Work
    style: Style
    now: float


def arranged(parts: Parts, text: Sequence[str], ink: Ink, size: tuple[int, int]) -> list[str]:
    """From top to bottom: the open text, work, plan, question, status, state; at most `size`."""
    width, height = size
    scene, work, style, now = parts
    foot = status_lines(scene, work, style, now) if not scene.asks else []
    bottom = [ink.cut(row, width) for row in [*foot, state_line(scene, style.signs)]]
    room = height - len(bottom)
    question = _shortened(_question(parts, ink, width), room, _FOOT) if scene.asks else []
    room -= len(question)
    steps = [ink.cut(row, width) for row in plan.checklist(scene.plan, style.signs)]
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


def final_plan(scene: Scene, style: Style) -> list[Text]:
    """The plan as it was when the turn ended."""
    return plan.checklist(scene.plan, style.signs)


def _question(parts: Parts, ink: Ink, width: int) -> list[str]:
    asked, *others = parts.scene.asks.values()
    signs = parts.style.signs
    head, rows, foot = approval.panel(asked, len(others), signs, parts.now)
    side = ink.line(Text(signs.side, "warning"))
    body = [f"{side} {line}" for row in rows for line in ink.wrapped(row, width - 2, 2)]
    return [ink.cut(head, width), *body, *(ink.cut(row, width) for row in foot)]


def _shortened(lines: list[str], room: int, foot: int) -> list[str]:
    """As many lines as there is room for, with the last ones; nothing, where that says nothing."""
    if len(lines) <= room:
        return lines
    if room < max(_LEAST_BOX, foot + 1):
        return lines[len(lines) - foot :][-room:] if foot > 1 and room > 0 else []
    kept = lines[: room - foot - 1]
    hidden = len(lines) - len(kept) - foot
    return [*kept, f"  {hidden} more lines", *lines[len(lines) - foot :]]
