"""The line that says what the avatar does now: a spinner, the subject, and for how long."""

from __future__ import annotations

from rich.text import Text

from avatar_actors import BridgeState, EngineState, StallVerdict
from avatar_actors.cli.display.notices import GAVE_UP
from avatar_actors.cli.display.style import Style
from avatar_actors.cli.display.view_state import ViewState
from avatar_actors.cli.display.work import Work
from avatar_actors.cli.display.work_box import spinner
from avatar_actors.cli.terminal import formatting
from avatar_actors.cli.terminal.text import one_line


def status_lines(scene: ViewState, work: Work, style: Style, now: float) -> list[Text]:
    """What it does, then what is wrong with that, and who waits."""
    signs = style.signs
    lines = [_doing(scene, work, style, now)] if _is_busy(scene) else []
    if scene.stall is not None:
        silent = formatting.elapsed(now - scene.stall_since)
        lines.append(Text(f"{signs.warning} silent for {silent}: {_verdict(scene)}", "warning"))
    if scene.waiting:
        noun = "prompt waits" if scene.waiting == 1 else "prompts wait"
        lines.append(Text(f"{signs.waiting} {scene.waiting} {noun}", "dim"))
    return lines


def _is_busy(scene: ViewState) -> bool:
    if scene.turn_since is not None or scene.engine is not EngineState.IDLE:
        return True
    return scene.bridge in {BridgeState.WARMING_UP, BridgeState.ERROR}


def _doing(scene: ViewState, work: Work, style: Style, now: float) -> Text:
    signs = style.signs
    since = scene.engine_since
    match scene.engine:
        case EngineState.ERROR:
            hope = GAVE_UP if scene.has_given_up else "waiting for it to come back"
            return Text(f"{signs.failed} No agent now: {hope}", "failed")
        case EngineState.WAITING_APPROVAL:
            timer = formatting.elapsed(now - since)
            return Text(f"{signs.waiting} Waiting for your answer ({timer})", "warning")
        case EngineState.TOOL_EXECUTING:
            running = sum(not job.is_over for job in work.jobs.values())
            words = "Running a tool" if running <= 1 else f"Running {running} tools"
        case EngineState.RESPONDING:
            words = "Responding"
        case _:
            words, since = _thinking(scene)
    row = Text.assemble((spinner(signs, now), "spinner"), f" {words} ")
    return row.append(f"({formatting.elapsed(now - since)})", "dim")


def _thinking(scene: ViewState) -> tuple[str, float]:
    if scene.bridge is BridgeState.WARMING_UP:
        return "Starting the agent", scene.bridge_since
    since = scene.turn_since if scene.thought_since is None else scene.thought_since
    return scene.subject or "Thinking", scene.engine_since if since is None else since


def _verdict(scene: ViewState) -> str:
    if scene.stall is None:
        return ""
    verdict = {
        StallVerdict.WORKING: "working",
        StallVerdict.WAITING_ON_YOU: "waiting on you",
        StallVerdict.WEDGED: "it seems stuck; Ctrl-C interrupts it",
    }[scene.stall.verdict]
    evidence = one_line(scene.stall.evidence)
    return f"{verdict} ({evidence})" if evidence else verdict
