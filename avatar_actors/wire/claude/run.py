"""What the run under way has said and used, from its first event to the end of its turn."""

from __future__ import annotations

from avatar_actors.model.events import AvatarEvent, TextEvent
from avatar_actors.model.values import Outcome, ToolStatus
from avatar_actors.wire.claude.lines import AssistantLine, ClaudeResultLine, StreamLine
from avatar_actors.wire.claude.model_output import ModelOutput
from avatar_actors.wire.claude.tools import ClaudeTasks, ClaudeTools
from avatar_actors.wire.claude.usage import Meter
from avatar_actors.wire.claude.verdict import ResultVerdict
from avatar_actors.wire.facts import Fact, TurnOver
from avatar_actors.wire.json_values import text_at
from avatar_actors.wire.shared_events import agent_warning


class RunOutput:
    """The output of one run after the other."""

    def __init__(self, tools: ClaudeTools, tasks: ClaudeTasks, meter: Meter) -> None:
        self.speech = ModelOutput(tools, tasks)
        self.meter = meter
        self._tools = tools

    def begin(self) -> None:
        """Start with nothing said and nothing used."""
        self.meter.begin()
        self.speech.begin_turn()

    def stream(self, line: StreamLine) -> list[Fact]:
        """An event of the model's stream."""
        event = line.event
        if event.delta is not None and event.delta.text:
            return [self.speech.text(event.delta.text)]
        facts: list[Fact] = [*self.speech.stream(event)]
        if event.type == "message_delta" and event.usage:
            facts += self.meter.message(event.usage)
        return facts

    def assistant(self, line: AssistantLine) -> list[AvatarEvent]:
        """A block of a message."""
        if line.error and not line.parent_tool_use_id:
            # "Not logged in", "API Error: 500": not of the model. The result repeats it.
            return [agent_warning("".join(block.text for block in line.message.blocks))]
        return self.speech.assistant(line)

    def unsaid(self, result: ClaudeResultLine) -> list[Fact]:
        """The answer, if it is only in the result: of a local command, or structured output."""
        text = text_at(result.result)
        if self.speech.has_text or result.is_error or not text:
            return []
        return [TextEvent(text=text, is_complete=True)]

    def end(self, turn_id: int, verdict: ResultVerdict) -> list[Fact]:
        """The ends of what the turn left open, and its own."""
        is_cancelled = verdict.outcome is Outcome.CANCELLED
        left = ToolStatus.CANCELLED if is_cancelled else ToolStatus.UNKNOWN
        over = TurnOver(
            turn_id=turn_id,
            outcome=verdict.outcome,
            stop_reason=verdict.stop_reason,
            error=verdict.error,
            usage=self.meter.turn,
            data=verdict.data,
            needs_login=verdict.needs_login,
        )
        return [*self.speech.end_turn(), *self._tools.end_turn(left), over]
