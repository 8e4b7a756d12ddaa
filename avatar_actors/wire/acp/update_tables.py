"""Tables that map each kind of update to its handler, one per phase."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from avatar_actors.model.events import PlanEvent, SessionInfoEvent
from avatar_actors.wire.acp.profile import AcpProfile
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

# Each function takes the kind of update that it is listed for.
Meaning: TypeAlias = Callable[[Any], list[Fact]]

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


Table: TypeAlias = Mapping[type, Meaning]


def meanings(turn: AcpTurnAccount, profile: AcpProfile) -> Mapping[Phase, Table]:
    """The tables; during the opening, replayed history is left out."""
    of_session = _of_session(turn)
    in_turn = {**of_session, **_in_turn(turn)}
    opening = {**of_session, **dict.fromkeys(OF_A_TURN, turn.replayed)}
    return {
        Phase.NEW: opening,
        Phase.OPENING: opening,
        Phase.IDLE: {**of_session, **_outside(turn, profile)},
        Phase.TURN: in_turn,
        Phase.CANCELLING: in_turn,
        Phase.CLOSED: dict.fromkeys(in_turn, _nothing),
    }


def _of_session(turn: AcpTurnAccount) -> Table:
    def info(update: InfoUpdate) -> list[Fact]:
        told: list[Fact] = [SessionInfoEvent(title=update.title)] if update.title else []
        return told + turn.status(update.meta)

    return {
        CommandsUpdate: lambda update: [commands_event(update)],
        ModeUpdate: lambda update: [SessionInfoEvent(mode=update.current_mode_id)],
        ConfigUpdate: lambda update: [config_event(update)],
        InfoUpdate: info,
        UsageUpdate: turn.used_by_others,
        NoticeUpdate: lambda update: [notice_event(update)],
        CompactionUpdate: lambda update: [compaction_event(update)],
        CompactionSummary: _nothing,
    }


def _in_turn(turn: AcpTurnAccount) -> Table:
    return {
        MessageChunk: turn.text,
        ThoughtChunk: turn.thought,
        UserChunk: _nothing,
        ToolStart: turn.tool,
        ToolChange: turn.tool,
        PlanUpdate: lambda update: turn.plan(plan_event(update)),
        NamedPlanUpdate: lambda update: turn.plan(named_plan_event(update)),
        PlanRemoved: lambda _: turn.plan(PlanEvent()),
        UsageUpdate: turn.used,
    }


def _outside(turn: AcpTurnAccount, profile: AcpProfile) -> Table:
    def anything(_: Update) -> list[Fact]:
        return turn.late("what belongs to no turn")

    def text(chunk: MessageChunk) -> list[Fact]:
        words, notice = block_text(chunk.content), profile.mode_notice
        if notice and words.startswith(notice):
            return [mode_event(words, notice)]
        return turn.late("text outside of a turn") if words else []

    return {**dict.fromkeys(OF_A_TURN, anything), MessageChunk: text}


def _nothing(_: Update) -> list[Fact]:
    return []
