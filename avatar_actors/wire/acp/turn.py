"""Turns an ACP agent's updates into events, one turn after the other, and decides its outcome."""

from __future__ import annotations

from typing import Final

from avatar_actors.model.events import DiagnosticEvent, PlanEvent, TextEvent, ToolEvent
from avatar_actors.model.values import Level, Outcome, ToolStatus
from avatar_actors.wire.acp.profile import AcpProfile
from avatar_actors.wire.acp.schema import PromptResult
from avatar_actors.wire.acp.tools import AcpTools
from avatar_actors.wire.acp.update_events import (
    block_text,
    context_event,
    mode_event,
    sub_agent_event,
    unshown_event,
)
from avatar_actors.wire.acp.update_types import (
    MessageChunk,
    TextBlock,
    ThoughtChunk,
    ToolFields,
    UsageUpdate,
)
from avatar_actors.wire.acp.usage import UsageMeter
from avatar_actors.wire.facts import Fact, TurnOver
from avatar_actors.wire.json_values import at, decoded_as, text_at
from avatar_actors.wire.jsonrpc import AUTH_REQUIRED, REQUEST_CANCELLED, Reply, error_words
from avatar_actors.wire.phases import RecentIds
from avatar_actors.wire.shared_events import Thoughts, agent_warning, impossible

# An answer that was cut short is an answer; `stop_reason` says so.
OUTCOMES: Final = {
    "end_turn": Outcome.COMPLETED,
    "max_tokens": Outcome.COMPLETED,
    "max_turn_requests": Outcome.COMPLETED,
    "refusal": Outcome.REFUSED,
    "cancelled": Outcome.CANCELLED,
}
MOST_FAILURE: Final = 4096
# Errors of a prompt: ACP's own, and the HTTP status that gemini 0.61.0 gives for a code.
NEED_LOGIN: Final = frozenset({AUTH_REQUIRED, 401})


class AcpTurnAccount:
    """The state of the current turn; `begin` starts the next one."""

    def __init__(self, profile: AcpProfile) -> None:
        self._profile = profile
        self._thoughts = Thoughts()
        self._message_id: str | None = None
        self._earlier_messages = RecentIds()
        self._has_failed = False
        self._failure = ""
        self._told_of_late_ones = False
        # Whether a piece of text needs more than an event: the first one of a turn, or one that
        # ends a thought or says why the turn failed.
        self._attentive = False
        self._has_shown = False
        self.has_past = False
        self.turn_id = 0
        self.login_advice = ""
        self.mode_notice = profile.mode_notice
        self.tools = AcpTools(profile)
        self.usage = UsageMeter()

    def begin(self, turn_id: int) -> None:
        """A prompt was sent."""
        self.turn_id = turn_id
        self.usage.begin_turn()
        self._has_shown = self._has_failed = self._told_of_late_ones = False
        self._attentive = True
        self._failure = ""

    def replayed(self, _: object) -> list[Fact]:
        """A piece of the history of a resumed session; not reported again."""
        self.has_past = True
        return []

    def resumed(self) -> None:
        """The session has a history, which may be replayed until our first turn."""
        self.usage.resumed()
        self._told_of_late_ones = True

    def plain_text(self, chunk: MessageChunk) -> TextEvent | None:
        """The event of a plain piece of text. This is the hot path."""
        content = chunk.content
        if (
            self._attentive
            or chunk.message_id != self._message_id
            or chunk.meta is not None
            or type(content) is not TextBlock
            or not content.text
        ):
            return None
        notice = self._profile.mode_notice
        if notice and content.text.startswith(notice):
            return None
        return TextEvent(text=content.text)

    def text(self, chunk: MessageChunk) -> list[Fact]:
        """Any piece of the answer."""
        if chunk.message_id in self._earlier_messages:
            return self.late("text of an earlier turn")
        self._message_id = chunk.message_id
        text, notice = block_text(chunk.content), self._profile.mode_notice
        if parent_id := text_at(chunk.meta, "claudeCode", "parentToolUseId"):
            return [sub_agent_event(parent_id, text)]
        facts: list[Fact] = list(self._close_thought())
        self._attentive = self._has_failed
        if self._has_failed:
            self._failure = (self._failure + text)[:MOST_FAILURE]
        if usage := at(chunk.meta, "usage"):
            self.usage.call_used(usage)
            facts += [*impossible(usage), self.usage.event()]
        if notice and text.startswith(notice):
            facts.append(mode_event(text, notice))
        elif not self._has_shown and text.startswith(self._profile.warning_notices):
            self._attentive = True
            facts.append(agent_warning(text.strip()))
        elif text and not self._has_failed:
            self._has_shown = True
            facts.append(TextEvent(text=text))
        elif type(chunk.content) is not TextBlock:
            facts.append(unshown_event(chunk.content))
        return facts

    def thought(self, chunk: ThoughtChunk) -> list[Fact]:
        """A piece of a thought; a new message id starts a new block."""
        if chunk.message_id in self._earlier_messages:
            return self.late("a thought of an earlier turn")
        facts: list[Fact] = []
        if chunk.message_id and chunk.message_id != self._thoughts.block_id:
            facts += self._close_thought()
            self._thoughts.open(chunk.message_id)
        if text := block_text(chunk.content):
            self._attentive = True
            facts.append(self._thoughts.chunk(text))
        return facts

    def tool(self, fields: ToolFields) -> list[Fact]:
        """A new or updated tool call."""
        if self.tools.is_fenced(fields):
            return self.late("news of a tool call of an earlier turn")
        self._has_shown = True
        return [*self._close_thought(), *self.tools.told(fields)]

    def plan(self, event: PlanEvent) -> list[Fact]:
        """The plan, after the thought that made it."""
        return [*self._close_thought(), event]

    def asked(self, fields: ToolFields) -> tuple[ToolEvent, list[Fact]]:
        """The agent asks about a tool: the tool, and the events before the question."""
        return self.tools.asked(fields), self._close_thought()

    def used(self, update: UsageUpdate) -> list[Fact]:
        """How full the context is, and perhaps what the session has cost."""
        facts: list[Fact] = [*_odd(update), context_event(update)]
        if update.cost is not None and self.usage.session_costs(update.cost):
            facts.append(self.usage.event())
        return facts

    def used_by_others(self, update: UsageUpdate) -> list[Fact]:
        """The same between turns; such a late cost counts for the next turn."""
        if update.cost is not None:
            self.usage.mark(update.cost)
        return [*_odd(update), context_event(update)]

    def status(self, meta: object) -> list[Fact]:
        """The agent's status: codex-acp 2.6.0 ends a failed turn like a good one."""
        path, failed = self._profile.failed_status
        if path and at(meta, *path) == failed:
            self._has_failed = self._attentive = True
        retry = text_at(meta, *self._profile.retry_notice) if self._profile.retry_notice else ""
        return [agent_warning(retry)] if retry else []

    def late(self, what: str) -> list[Fact]:
        """An update outside of its turn; reported once per turn or gap."""
        if self._told_of_late_ones:
            return []
        self._told_of_late_ones = True
        message = f"the agent sent {what}; this and what follows of it is left out"
        return [DiagnosticEvent(message=message, level=Level.WARNING, source="wire")]

    def end(self, reply: Reply, *, is_cancelling: bool) -> list[Fact]:
        """The reply to the prompt: the last events of the turn, and its outcome."""
        result = None if reply.error else decoded_as(PromptResult, reply.result)
        facts: list[Fact] = list(self._close_thought())
        has_usage = result is not None and self.usage.turn_used(result)
        if result is None:
            over = self._broken_off(reply, is_cancelling=is_cancelling)
        else:
            over = self._over(result, is_cancelling=is_cancelling)
        if self._failure and over.outcome is not Outcome.FAILED:
            facts.append(agent_warning(self._failure.strip()))
        is_cancelled = over.outcome is Outcome.CANCELLED
        facts += self.tools.end_turn(ToolStatus.CANCELLED if is_cancelled else ToolStatus.UNKNOWN)
        facts += impossible({"usage": result.usage, "_meta": result.meta}) if result else []
        facts += [self.usage.event()] if has_usage else []
        if self._message_id:
            self._earlier_messages.add(self._message_id)
        self._message_id = None
        self._told_of_late_ones = False
        return [*facts, over]

    def _over(self, result: PromptResult, *, is_cancelling: bool) -> TurnOver:
        outcome = OUTCOMES.get(result.stop_reason, Outcome.COMPLETED)
        failure = ""
        if is_cancelling and not self._has_shown and outcome is Outcome.COMPLETED:
            # opencode 1.18.33, cancelled during a retry of its model, says "end_turn".
            outcome = Outcome.CANCELLED
        if self._has_failed and outcome is Outcome.COMPLETED:
            outcome = Outcome.FAILED
            failure = error_words(self._failure) or "the agent failed"
        return TurnOver(
            turn_id=self.turn_id,
            outcome=outcome,
            stop_reason=result.stop_reason,
            error=failure,
            usage=self.usage.usage(),
        )

    def _broken_off(self, reply: Reply, *, is_cancelling: bool) -> TurnOver:
        error = reply.error
        code = error.code if error is not None else None
        is_cancelled = is_cancelling or code == REQUEST_CANCELLED
        needs_login = code in NEED_LOGIN and not is_cancelled
        words = error.message if error else "the agent answered without a stop reason"
        return TurnOver(
            turn_id=self.turn_id,
            outcome=Outcome.CANCELLED if is_cancelled else Outcome.FAILED,
            error=f"{words.rstrip('.')}. {self.login_advice}" if needs_login else words,
            usage=self.usage.usage(),
            needs_login=needs_login,
        )

    def _close_thought(self) -> list[Fact]:
        end = self._thoughts.close()
        return [] if end is None else [end]


def _odd(update: UsageUpdate) -> list[DiagnosticEvent]:
    return impossible({"used": update.used, "size": update.size, "cost": update.cost})
