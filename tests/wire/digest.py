"""Facts in short words, so that a test can spell out a whole turn."""

from collections.abc import Iterable
from itertools import groupby

from avatar_actors.model.events import (
    ActivityEvent,
    ContextEvent,
    CostEvent,
    DiagnosticEvent,
    PlanEvent,
    SessionInfoEvent,
    TextEvent,
    ThinkingEvent,
    ToolEvent,
    UnrecognisedEvent,
)
from avatar_actors.wire.facts import (
    Answered,
    Fact,
    PermissionAsked,
    RequestWithdrawn,
    SessionRenamed,
    TurnOver,
    UnaskedTurnBegun,
)

LENGTH = 44


def digest(facts: Iterable[Fact]) -> list[str]:
    """One line for each fact; pieces of text, and of a thought, that follow each other are one."""
    words: list[str] = []
    for kind, group in groupby(facts, type):
        if kind is TextEvent:
            text = "".join(fact.text for fact in group if isinstance(fact, TextEvent))
            words.append(f"text {cut(text)}")
        elif kind is ThinkingEvent:
            words += _thoughts(fact for fact in group if isinstance(fact, ThinkingEvent))
        else:
            words += [word for fact in group if (word := _word(fact))]
    return words


def cut(text: str, length: int = LENGTH) -> str:
    return text if len(text) <= length else f"{text[:length]}…"


def _thoughts(events: Iterable[ThinkingEvent]) -> Iterable[str]:
    for _, block in groupby(events, lambda event: event.block_id):
        pieces = list(block)
        marks = f"{pieces[0].is_start:d}{pieces[-1].is_complete:d}"
        yield f"thought {marks} {cut(''.join(piece.thought for piece in pieces))}"


def _word(fact: Fact) -> str:
    match fact:
        case ToolEvent():
            return _tool(fact)
        case ActivityEvent():
            output = f" | {cut(fact.output, 24)}" if fact.output else ""
            done = f"{fact.status.value} {cut(fact.detail, 24)}{output}"
            return f"{fact.activity_type} {fact.name} {done}"
        case CostEvent():
            money = "" if fact.cost_usd is None else f" ${fact.cost_usd:.6f}"
            return f"cost {fact.input_tokens}+{fact.output_tokens}{money}"
        case ContextEvent():
            return f"context {fact.used_tokens}/{fact.size_tokens}"
        case TurnOver():
            money = "" if fact.usage.cost_usd is None else f" ${fact.usage.cost_usd:.6f}"
            end = f"over {fact.turn_id} {fact.outcome.value} {fact.stop_reason}{money}"
            return f"{end} {cut(fact.error)}".rstrip()
        case _:
            return _rarer_word(fact)


def _rarer_word(fact: Fact) -> str:
    word = repr(fact)
    match fact:
        case UnaskedTurnBegun(cause):
            word = f"unasked: {cut(cause)}"
        case DiagnosticEvent():
            word = f"{fact.level.value} {cut(fact.message)}"
        case SessionInfoEvent():
            word = f"session {fact.title or ''}{fact.model or ''} {fact.mode or ''}".rstrip()
        case PermissionAsked():
            kinds = " ".join(option.kind.value for option in fact.options)
            word = f"asked {fact.tool.tool_name} {kinds}"
        case RequestWithdrawn():
            word = "withdrawn"
        case SessionRenamed():
            word = f"renamed {fact.session_id[:8]}"
        case Answered():
            word = f"answered {fact.error or sorted(fact.result)}"
        case PlanEvent():
            word = f"plan {len(fact.entries)}"
        case UnrecognisedEvent():
            word = f"UNRECOGNISED {cut(fact.raw)}"
        case _:
            pass
    return word


def _tool(fact: ToolEvent) -> str:
    outcome = fact.result if fact.error is None else f"! {fact.error}"
    inside = " in sub-agent" if fact.parent_id else ""
    said = "" if outcome is None else f" {cut(outcome)}"
    return f"{fact.tool_name} {fact.status.value}{inside}{said}"
