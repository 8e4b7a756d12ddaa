"""Tables that map each kind of update to its handler, one per phase."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from avatar_actors.model.events import PlanEvent, SessionInfoEvent
from avatar_actors.wire.acp.turn import AcpTurnAccount
from avatar_actors.wire.acp.update_events import (
    block_text,
    commands_event,
    compaction_event,
    config_event,
    mode_event,
    named_plan_event,
    notice_event,
    plan_event,
)
from avatar_actors.wire.acp.update_types import (
    CommandsUpdate,
    CompactionSummary,
    CompactionUpdate,
    ConfigUpdate,
    InfoUpdate,
    MessageChunk,
    ModeUpdate,
    NamedPlanUpdate,
    NoticeUpdate,
    PlanRemoved,
    PlanUpdate,
    ThoughtChunk,
    ToolChange,
    ToolStart,
    Update,
    UsageUpdate,
    UserChunk,
)
from avatar_actors.wire.facts import Fact
from avatar_actors.wire.phases import Phase

# Each function takes the turn's account and the kind of update that it is listed for.
Meaning: TypeAlias = Callable[[AcpTurnAccount, Any], list[Fact]]
Table: TypeAlias = Mapping[type, Meaning]

# Updates that belong to a turn, as opposed to those about the session.
OF_A_TURN: Final[tuple[type[Update], ...]] = (
    MessageChunk,
    ThoughtChunk,
    UserChunk,
    ToolStart,
    ToolChange,
    PlanUpdate,
    NamedPlanUpdate,
    PlanRemoved,
)


def _info(turn: AcpTurnAccount, update: InfoUpdate) -> list[Fact]:
    told: list[Fact] = [SessionInfoEvent(title=update.title)] if update.title else []
    return told + turn.status(update.meta)


def _outside(turn: AcpTurnAccount, _: Update) -> list[Fact]:
    return turn.late("what belongs to no turn")


def _text_outside(turn: AcpTurnAccount, chunk: MessageChunk) -> list[Fact]:
    words, notice = block_text(chunk.content), turn.mode_notice
    if notice and words.startswith(notice):
        return [mode_event(words, notice)]
    return turn.late("text outside of a turn") if words else []


def _nothing(_turn: AcpTurnAccount, _: Update) -> list[Fact]:
    return []


_OF_SESSION: Final[Table] = {
    CommandsUpdate: lambda _, update: [commands_event(update)],
    ModeUpdate: lambda _, update: [SessionInfoEvent(mode=update.current_mode_id)],
    ConfigUpdate: lambda _, update: [config_event(update)],
    InfoUpdate: _info,
    UsageUpdate: AcpTurnAccount.used_by_others,
    NoticeUpdate: lambda _, update: [notice_event(update)],
    CompactionUpdate: lambda _, update: [compaction_event(update)],
    CompactionSummary: _nothing,
}
_IN_TURN: Final[Table] = {
    **_OF_SESSION,
    MessageChunk: AcpTurnAccount.text,
    ThoughtChunk: AcpTurnAccount.thought,
    UserChunk: _nothing,
    ToolStart: AcpTurnAccount.tool,
    ToolChange: AcpTurnAccount.tool,
    PlanUpdate: lambda turn, update: turn.plan(plan_event(update)),
    NamedPlanUpdate: lambda turn, update: turn.plan(named_plan_event(update)),
    PlanRemoved: lambda turn, _: turn.plan(PlanEvent()),
    UsageUpdate: AcpTurnAccount.used,
}
# Replayed history is left out.
_OPENING: Final[Table] = {**_OF_SESSION, **dict.fromkeys(OF_A_TURN, AcpTurnAccount.replayed)}
MEANINGS: Final[Mapping[Phase, Table]] = {
    Phase.NEW: _OPENING,
    Phase.OPENING: _OPENING,
    Phase.IDLE: {**_OF_SESSION, **dict.fromkeys(OF_A_TURN, _outside), MessageChunk: _text_outside},
    Phase.TURN: _IN_TURN,
    Phase.CANCELLING: _IN_TURN,
    Phase.CLOSED: dict.fromkeys(_IN_TURN, _nothing),
}
