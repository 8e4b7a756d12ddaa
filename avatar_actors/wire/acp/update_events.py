"""Converts stateless ACP updates into events, one function per kind."""

from __future__ import annotations

from typing import Final

from avatar_actors.model.events import (
    ActivityEvent,
    ContextEvent,
    DiagnosticEvent,
    PlanEvent,
    SessionInfoEvent,
)
from avatar_actors.model.values import ActivityStatus, Choice, Level, PlanEntry
from avatar_actors.wire.acp.choices import option_of
from avatar_actors.wire.acp.schema import ConfigOption
from avatar_actors.wire.acp.update_types import (
    AudioBlock,
    Block,
    CommandsUpdate,
    CompactionUpdate,
    ConfigUpdate,
    ImageBlock,
    LinkBlock,
    NamedPlanUpdate,
    NoticeUpdate,
    PlanUpdate,
    TextBlock,
    UsageUpdate,
)
from avatar_actors.wire.json_values import as_count, at, is_array, text_at

# Severities of the protocol; a custom one counts as a remark.
LEVELS: Final = {"warning": Level.WARNING, "error": Level.ERROR}
COMPACTIONS: Final = {
    "in_progress": ("the agent is compacting its context", Level.INFO),
    "completed": ("the agent has compacted its context", Level.INFO),
    "cancelled": ("the agent has not compacted its context: cancelled", Level.WARNING),
    "failed": ("the agent could not compact its context", Level.WARNING),
}


def block_text(block: Block) -> str:
    """The text of a content block; a link is shown as one."""
    if isinstance(block, TextBlock):
        return block.text
    if isinstance(block, LinkBlock):
        return f"[{block.name or block.uri}]({block.uri})"
    if isinstance(block, ImageBlock | AudioBlock):
        return ""
    return text_at(block.resource, "text")


def unshown_event(block: Block) -> DiagnosticEvent:
    """The event for a block that no other event can carry."""
    mime_type = block.mime_type if isinstance(block, ImageBlock | AudioBlock) else "binary"
    return DiagnosticEvent(message=f"the agent sent {mime_type} content; left out", source="wire")


def context_event(update: UsageUpdate) -> ContextEvent:
    """How full the context is."""
    return ContextEvent(used_tokens=as_count(update.used), size_tokens=as_count(update.size))


def mode_event(text: str, notice: str) -> SessionInfoEvent:
    """The new mode, which gemini 0.61.0 sends as text: "[MODE_UPDATE] plan"."""
    return SessionInfoEvent(mode=text.removeprefix(notice).strip())


def plan_event(update: PlanUpdate) -> PlanEvent:
    """The whole plan."""
    entries = (PlanEntry(each.content, each.status, each.priority) for each in update.entries)
    return PlanEvent(entries=tuple(entries))


def named_plan_event(update: NamedPlanUpdate) -> PlanEvent:
    """A plan of the unstable form: its entries, else its text or address as the only one."""
    entries = at(update.plan, "entries")
    if not is_array(entries):
        text = text_at(update.plan, "content") or text_at(update.plan, "uri")
        return PlanEvent(entries=(PlanEntry(text),))
    return PlanEvent(
        entries=tuple(
            PlanEntry(
                text_at(each, "content"),
                text_at(each, "status") or "pending",
                text_at(each, "priority") or "medium",
            )
            for each in entries
        )
    )


def commands_event(update: CommandsUpdate) -> SessionInfoEvent:
    """The agent's slash commands, with their descriptions."""
    commands = (Choice(each.name, each.description or "") for each in update.available_commands)
    return SessionInfoEvent(commands=tuple(commands))


def config_event(update: ConfigUpdate) -> SessionInfoEvent:
    """The mode and the model among the options."""
    options = update.config_options
    return SessionInfoEvent(
        mode=_value(option_of("mode", options)), model=_value(option_of("model", options))
    )


def notice_event(update: NoticeUpdate) -> DiagnosticEvent:
    """A warning or remark of the agent's."""
    words = ": ".join(filter(None, (update.title, text_at(update.description))))
    level = LEVELS.get(update.severity, Level.INFO)
    return DiagnosticEvent(message=words, level=level, source="agent")


def compaction_event(update: CompactionUpdate) -> DiagnosticEvent:
    """How far the compaction of the context is."""
    unknown = f"compaction of the agent's context: {update.status[:80]}", Level.INFO
    words, level = COMPACTIONS.get(update.status, unknown)
    words = ": ".join(filter(None, (words, text_at(update.error))))
    return DiagnosticEvent(message=words, level=level, source="agent")


def sub_agent_event(parent_id: str, text: str) -> ActivityEvent:
    """Text of a sub-agent, which is not part of the answer."""
    return ActivityEvent(
        activity_id=f"{parent_id}-agent",
        parent_activity_id=parent_id,
        activity_type="agent",
        name="sub-agent",
        status=ActivityStatus.RUNNING,
        output=text,
    )


def _value(option: ConfigOption | None) -> str | None:
    value = option.current_value if option is not None else None
    return value if isinstance(value, str) else None
