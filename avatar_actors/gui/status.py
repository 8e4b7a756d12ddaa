"""The single lines of the app: header, headline with its light, the question, the keys. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from rich.text import Text

from avatar_actors.cli.display.permission_question import details, heading, hidden, keys
from avatar_actors.cli.display.work import spinner
from avatar_actors.cli.terminal import formatting
from avatar_actors.gui.activity_rows import SIGNS, short_counts
from avatar_actors.gui.figure import FACES
from avatar_actors.gui.strips import Look, between
from avatar_actors.picture import AvatarPicture, Mood

# Beats that the light needs from the left to the right.
_SWEEP: Final = 15
_DARKEST: Final = 0.45
# LinePane of a question; the whole of a longer one stands in the conversation.
_MOST: Final = 8
KEYS: Final = (
    ("^Q", "quit"), ("esc", "cancel"), ("^B", "side"), ("F8", "stop one"), ("^K", "stop all"),
    ("^R", "sessions"), ("^O", "model"), ("^T", "theme"), ("F1", "keys"), ("^P", "palette"),
)  # fmt: skip


def header(picture: AvatarPicture, name: str, width: int, *, has_side: bool) -> Text:
    """Name, provider, model, use and state; without the side bar also the face and the counts."""
    state = picture.state
    mood = picture.mood()
    left = Text.assemble(("● ", f"bold {_STATE_LOOKS.get(mood, 'ok')}"), (name, "bold"))
    if state.provider and state.provider != name:
        left.append(f" · {state.provider}")
    if not has_side:
        left = Text.assemble((f"{FACES[mood].small} {mood.value} ", "title"), left)
    model = state.model if state.model != "none" else ""
    words = [model, state.mode, *formatting.used(state.usage)]
    if state.context_size:
        words.append(f"context {state.context_used / state.context_size:.0%}")
    if state.waiting:
        words.append(f"{state.waiting} queued")
    if has_side:
        words.append(mood.value)
    right = Text(" · ".join(filter(None, words)))
    if not has_side and picture.work.jobs:
        right = Text.assemble(short_counts(picture), " · ", right)
    return between(left, right, width)


_STATE_LOOKS: Final = {
    Mood.ERROR: "failed",
    Mood.RESTARTING: "failed",
    Mood.OVER_BUDGET: "failed",
    Mood.APPROVAL: "warning",
    Mood.STALLED: "warning",
    Mood.WORKING: "warning",
}


def headline(picture: AvatarPicture, look: Look, now: float, tick: int) -> Text:
    """What matters most, with a light that moves over it while the avatar works."""
    told = picture.headline(now)
    if not told.words:
        return Text()
    if not picture.is_busy and picture.mood() not in {Mood.STARTING, Mood.RESTARTING}:
        return Text(f"{SIGNS.warning} {told.words}", "warning")
    row = Text.assemble((spinner(SIGNS, now), "spinner"), " ")
    for index, sign in enumerate(told.words):
        row.append(sign, look.colour("foreground", _light(index, len(told.words), tick)))
    row.append(f"  {formatting.elapsed(now - told.since)} · esc cancels", "muted")
    return row


def _light(index: int, length: int, tick: int) -> float:
    phase = index / max(length, 12) - tick / _SWEEP
    wave = 0.5 + 0.5 * math.cos(2 * math.pi * phase)
    # In steps: neighbours of one brightness become one segment.
    return _DARKEST + (1 - _DARKEST) * round(wave * 6) / 6


def question(picture: AvatarPicture, now: float, *, can_edit: bool) -> list[Text]:
    """The oldest open request or question: what it is about, the keys, the time that is left."""
    asked = next(iter(picture.state.asks.values()), None)
    if asked is None:
        return []
    rows = details(asked.event)
    body = rows[:_MOST]
    if len(rows) > _MOST:
        body = [*rows[: _MOST - 1], hidden(len(rows) - _MOST + 1, rows)]
    foot = keys(asked.event, can_edit=can_edit)
    if asked.until:
        foot.append(f" denied in {formatting.elapsed(asked.until - now)}", "warning")
    if (more := len(picture.state.asks) - 1) > 0:
        foot.append(f" · {more} more to answer", "muted")
    return [Text(heading(asked.event), "bold"), *body, foot]


def tab_row(tabs: Sequence[tuple[str, AvatarPicture, bool]]) -> Text:
    """The avatars by name, with their faces, the one in front lit, and who needs you."""
    row = Text()
    for number, (name, picture, is_front) in enumerate(tabs, start=1):
        look = "reverse" if is_front else ""
        row.append(f" {number} {FACES[picture.mood()].small} {name}", look)
        if picture.needs_you:
            row.append(" needs you", f"{look} warning".strip())
        row.append(" ", look)
    return row


def key_line(width: int) -> Text:
    """The keys, as many as fit."""
    row = Text()
    for key, word in KEYS:
        part = Text.assemble((key, "key"), f" {word}  ")
        if len(row) + len(part) > width:
            break
        row.append_text(part)
    return row
