"""Arranges the frame within the screen: text, work, plan, question, status, state; no drawing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from rich.text import Text

from avatar_actors import BridgeState, EngineState, PlanEntry, StallVerdict
from avatar_actors.cli.display import permission_question
from avatar_actors.cli.display.notices import GAVE_UP
from avatar_actors.cli.display.work import live_box, progress_line, spinner
from avatar_actors.cli.terminal import formatting
from avatar_actors.cli.terminal.painter import cropped
from avatar_actors.cli.terminal.rendering import Renderer, Signs, Style
from avatar_actors.cli.terminal.text import one_line
from avatar_actors.picture.view_state import ViewState
from avatar_actors.picture.work import Work

_LOOKS: Final = {"completed": "dim", "in_progress": "bold"}


def checklist(entries: Sequence[PlanEntry], signs: Signs) -> list[Text]:
    """One line per step, below a heading with the count; none without a plan."""
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


def state_line(state: ViewState, signs: Signs) -> Text:
    """State, provider, model, mode, tokens, money and context use, as far as known."""
    # The embedded agent reports "none".
    model = state.model if state.model != "none" else ""
    words = [state.engine.value.replace("_", " "), state.provider, model, state.mode]
    words += formatting.used(state.usage)
    if state.context_size:
        words.append(f"context {state.context_used / state.context_size:.0%}")
    words.append(state.title)
    return Text(f" {signs.dot} ".join(filter(None, words)), "dim")


_LEAST_TEXT: Final = 3
_LEAST_BOX: Final = 3


class FrameParts(NamedTuple):
    """What a frame is made of."""

    state: ViewState
    work: Work
    style: Style
    now: float


def arranged(
    parts: FrameParts, text: Sequence[str], renderer: Renderer, size: tuple[int, int]
) -> list[str]:
    """From top to bottom: open text, work, plan, question, status, state; at most `size`."""
    width, height = size
    state, work, style, now = parts
    foot = status_lines(state, work, style, now) if not state.asks else []
    bottom = [renderer.cut(row, width) for row in [*foot, state_line(state, style.signs)]]
    room = height - len(bottom)
    question = _question(parts, renderer, (width, room)) if state.asks else []
    room -= len(question)
    steps = [renderer.cut(row, width) for row in checklist(state.plan, style.signs)]
    box = [renderer.cut(row, width) for row in live_box(work, style, now)]
    least = min(len(text), _LEAST_TEXT)
    box = _shortened(box, room - least, 1)
    room -= len(box)
    steps = _shortened(steps, room - least, 0)
    room -= len(steps)
    shown = list(text[-room:]) if room > 0 else []
    gap = [""] if (box or steps or question or foot) and room > len(shown) else []
    lines = shown + gap + box + steps + question + bottom
    return [cropped(line, width) for line in lines[-height:]] if height else []


def _question(parts: FrameParts, renderer: Renderer, size: tuple[int, int]) -> list[str]:
    """Where room is short, the body goes before head and keys, and its end before its middle."""
    width, room = size
    asked, *others = parts.state.asks.values()
    signs = parts.style.signs
    head, rows, foot = permission_question.panel(
        asked, len(others), signs, parts.now, can_edit=parts.state.can_edit
    )
    body = [line for row in rows for line in renderer.wrapped(row, width - 2, 2)]
    most = min(permission_question.MOST, max(1, room - 1 - len(foot)))
    if len(body) > most:
        first, last = (most - 1) // 2, most // 2
        mark = renderer.cut(permission_question.hidden(len(body) - first - last, rows), width - 2)
        body = [*body[:first], mark, *body[len(body) - last :]]
    side = renderer.line(Text(signs.side, "warning"))
    body = [f"{side} {line}" for line in body]
    lines = [*body, *(renderer.cut(row, width) for row in foot)]
    return [renderer.cut(head, width), *lines] if len(lines) < room else lines[: max(0, room)]


def _shortened(lines: list[str], room: int, foot: int) -> list[str]:
    """The lines that fit, the last `foot` of them included; none if too few would be left."""
    if len(lines) <= room:
        return lines
    if room < _LEAST_BOX:
        return []
    kept = lines[: room - foot - 1]
    hidden = len(lines) - len(kept) - foot
    return [*kept, f"  {hidden} more lines", *lines[len(lines) - foot :]]


def status_lines(state: ViewState, work: Work, style: Style, now: float) -> list[Text]:
    """What the avatar does, how long it has been silent, and how many prompts wait."""
    signs = style.signs
    lines = [_doing(state, work, style, now)] if _is_busy(state) else []
    if state.stall is not None:
        silent = formatting.elapsed(now - state.stall_since)
        lines.append(Text(f"{signs.warning} silent for {silent}: {_verdict(state)}", "warning"))
    if state.waiting:
        noun = "prompt waits" if state.waiting == 1 else "prompts wait"
        lines.append(Text(f"{signs.waiting} {state.waiting} {noun}", "dim"))
    return lines


def _is_busy(state: ViewState) -> bool:
    if state.turn_since is not None or state.engine is not EngineState.IDLE:
        return True
    return state.bridge in {BridgeState.WARMING_UP, BridgeState.ERROR}


def _doing(state: ViewState, work: Work, style: Style, now: float) -> Text:
    signs = style.signs
    since = state.engine_since
    match state.engine:
        case EngineState.ERROR:
            hope = GAVE_UP if state.has_given_up else "waiting for it to come back"
            return Text(f"{signs.failed} No agent now: {hope}", "failed")
        case EngineState.WAITING_APPROVAL:
            timer = formatting.elapsed(now - since)
            return Text(f"{signs.waiting} Waiting for your answer ({timer})", "warning")
        case EngineState.TOOL_EXECUTING:
            if len(work.jobs) > 1:
                bar = progress_line(list(work.jobs.values()), signs)
                timer = f" ({formatting.elapsed(now - since)})"
                return Text.assemble((spinner(signs, now), "spinner"), " ", bar, (timer, "dim"))
            words = "Running a tool"
        case EngineState.RESPONDING:
            words = "Responding"
        case _:
            words, since = _thinking(state)
    row = Text.assemble((spinner(signs, now), "spinner"), f" {words} ")
    return row.append(f"({formatting.elapsed(now - since)})", "dim")


def _thinking(state: ViewState) -> tuple[str, float]:
    if state.bridge is BridgeState.WARMING_UP:
        return "Starting the agent", state.bridge_since
    since = state.turn_since if state.thought_since is None else state.thought_since
    return state.subject or "Thinking", state.engine_since if since is None else since


def _verdict(state: ViewState) -> str:
    if state.stall is None:
        return ""
    verdict = {
        StallVerdict.WORKING: "working",
        StallVerdict.WAITING_ON_YOU: "waiting on you",
        StallVerdict.WEDGED: "it seems stuck; Ctrl-C interrupts it",
    }[state.stall.verdict]
    evidence = one_line(state.stall.evidence)
    return f"{verdict} ({evidence})" if evidence else verdict
