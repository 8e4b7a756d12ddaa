"""Every event in a line of its own, for who watches closely: what `-v` and `-vv` add."""

from __future__ import annotations

from avatar_actors import (
    ActivityEvent,
    AvatarEvent,
    ContextEvent,
    CostEvent,
    EngineStateEvent,
    PermissionEvent,
    PlanEvent,
    QueueEvent,
    SessionInfoEvent,
    StallEvent,
    ThinkingEvent,
    ToolEvent,
    TurnStartedEvent,
)
from avatar_actors.cli.display.notices import Line
from avatar_actors.cli.terminal.harmless import one_line


def lifecycle(event: AvatarEvent) -> Line | None:
    """What the event says besides what is seen of it; None: nothing, or it is a happening."""
    words, verbose = _words(event)
    return Line("dim", one_line(words, 400), verbose) if words else None


def _words(event: AvatarEvent) -> tuple[str, int]:
    match event:
        case TurnStartedEvent(turn_id=turn_id, prompt=prompt):
            return f"[turn start] {turn_id}: {prompt}", 1
        case ThinkingEvent():
            return _thinking(event), 1
        case SessionInfoEvent():
            return _session(event), 1
        case StallEvent(verdict=verdict, seconds=seconds, evidence=evidence):
            return f"[stall] {verdict.value} for {seconds:.0f}s: {evidence}", 1
        case _:
            return _detail(event), 2


def _thinking(event: ThinkingEvent) -> str:
    if event.is_start:
        about = f" {event.phase.value}, guessed" if event.synthetic else f" {event.phase.value}"
        return f"[thinking start] block {event.block_id}{about}"
    if event.is_complete:
        tokens = f", {event.token_count} tokens" if event.token_count else ""
        return f"[thinking end] block {event.block_id}{tokens}"
    return ""


def _session(event: SessionInfoEvent) -> str:
    told = {"title": event.title, "mode": event.mode, "model": event.model}
    words = [f"{name} {value}" for name, value in told.items() if value is not None]
    if event.commands is not None:
        words.append(f"{len(event.commands)} command(s)")
    return f"[session] {', '.join(words)}" if words else ""


def _detail(event: AvatarEvent) -> str:
    match event:
        case EngineStateEvent(old_state=old, new_state=new):
            words = f"[engine state] {old.value} to {new.value}"
        case ToolEvent(tool_name=name, tool_id=tool_id, status=status):
            words = f"[tool] {name} {tool_id} {status.value}"
        case ActivityEvent(activity_id=activity_id, status=status, activity_type=kind):
            words = f"[activity] {kind} {activity_id} {status.value}"
        case CostEvent(cost_usd=cost, input_tokens=tokens_in, output_tokens=tokens_out):
            words = f"[cost] {cost} USD, {tokens_in} in, {tokens_out} out ({event.source.value})"
        case ContextEvent(used_tokens=used, size_tokens=size):
            words = f"[context] {used} of {size}"
        case PlanEvent(entries=entries):
            words = f"[plan] {len(entries)} step(s)"
        case QueueEvent(waiting=waiting):
            words = f"[queue] {waiting} wait"
        case PermissionEvent(request_id=request_id, tool_name=name):
            words = f"[permission] {request_id} {name}"
        case _:
            words = ""
    return words
