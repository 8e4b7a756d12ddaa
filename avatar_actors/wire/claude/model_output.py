"""Turns what the model writes in a turn into events: text (once), thoughts and tool calls."""

from __future__ import annotations

from typing import Final

from avatar_actors.model.events import AvatarEvent, TextEvent, ThinkingEvent
from avatar_actors.model.values import ActivityStatus, ToolStatus
from avatar_actors.wire.claude.lines import (
    AssistantLine,
    ContentBlock,
    ModelMessage,
    StreamEvent,
    UserLine,
)
from avatar_actors.wire.claude.tools import ClaudeTasks, ClaudeTools, plan_of
from avatar_actors.wire.shared_events import Thoughts, remark

CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})


class ModelOutput:
    """The model's output, one turn after the other.

    With partial messages every message comes twice: as deltas, then block by block as `assistant`
    lines with the same id. What was streamed is skipped in the second.
    """

    def __init__(self, tools: ClaudeTools, tasks: ClaudeTasks) -> None:
        self.has_text = False
        self._tools = tools
        self._tasks = tasks
        self._thoughts = Thoughts()
        self._thinking_tokens = 0
        self._message_id = ""
        self._streamed: set[str] = set()

    def begin_turn(self) -> None:
        """Start a turn."""
        self.has_text = False
        self._message_id = ""
        self._streamed.clear()

    def end_turn(self) -> list[AvatarEvent]:
        """End the turn, and a thought that was cut off."""
        return self._close_thought()

    def text(self, text: str) -> TextEvent:
        """A piece of the answer."""
        self.has_text = True
        return TextEvent(text=text)

    def thinking_tokens(self, count: int) -> None:
        """The CLI's estimate for the open thought; the next event of it carries the number."""
        self._thinking_tokens = count

    def stream(self, event: StreamEvent) -> list[AvatarEvent]:
        """The events of a stream event other than a piece of text."""
        if event.type == "content_block_delta" and event.delta is not None:
            thought = event.delta.thinking
            return [self._thought(thought)] if thought else []
        if event.type == "message_start":
            self._begin_message(event.message or ModelMessage())
            return self._close_thought()
        if event.type == "content_block_start" and event.content_block is not None:
            return self._begin_block(event.content_block)
        if event.type == "content_block_stop":
            return self._close_thought()
        return []

    def assistant(self, line: AssistantLine) -> list[AvatarEvent]:
        """The events that the blocks of a whole message add."""
        events: list[AvatarEvent] = []
        is_known = bool(line.message.id) and line.message.id == self._message_id
        for block in line.message.blocks:
            if line.parent_tool_use_id:
                events += self._of_sub_agent(block, line)
            elif not (is_known and block.type in self._streamed):
                events += self._block(block)
        return events

    def results(self, line: UserLine, failure: ToolStatus) -> list[AvatarEvent]:
        """The results of tools; the rest of a `user` line is echoes and text of the CLI."""
        events: list[AvatarEvent] = []
        for block in line.message.blocks if line.message else []:
            if block.type == "tool_result":
                events += self._result(block, failure)
        return events

    def _begin_message(self, message: ModelMessage) -> None:
        self._message_id = message.id
        self._streamed.clear()

    def _begin_block(self, block: ContentBlock) -> list[AvatarEvent]:
        events = self._close_thought()
        if block.type in CALLS:
            events += self._tools.announced(block)
            return events
        self._streamed.add(block.type)
        if block.type == "thinking":
            self._thoughts.open()
        return events

    def _block(self, block: ContentBlock) -> list[AvatarEvent]:
        if block.type in CALLS:
            return [*self._close_thought(), *self._tools.started(block, ""), *plan_of(block)]
        if block.type == "text" and block.text:
            self.has_text = True
            return [*self._close_thought(), TextEvent(text=block.text, is_complete=True)]
        if block.type == "thinking" and block.thinking:
            return [*self._close_thought(), self._thought(block.thinking), *self._close_thought()]
        if block.tool_use_id:
            return self._result(block, ToolStatus.FAILED)
        return []

    def _of_sub_agent(self, block: ContentBlock, line: AssistantLine) -> list[AvatarEvent]:
        if block.type in CALLS:
            return [*self._tools.started(block, line.parent_tool_use_id or "")]
        return [*self._tasks.said(line, block.text)] if block.text else []

    def _result(self, block: ContentBlock, failure: ToolStatus) -> list[AvatarEvent]:
        events: list[AvatarEvent] = [*self._tools.finished(block, failure=failure)]
        if not events:
            words = f"a result came for a tool call that is not open: {block.tool_use_id[:80]!r}"
            return [remark(words)]
        status = ActivityStatus.FAILED if block.is_error else ActivityStatus.COMPLETED
        return [*events, *self._tasks.tool_over(block.tool_use_id, status)]

    def _thought(self, thought: str) -> ThinkingEvent:
        return self._thoughts.chunk(thought, self._thinking_tokens)

    def _close_thought(self) -> list[AvatarEvent]:
        # A block with only signatures or hidden text has no events unless it has
        # tokens to report.
        event = self._thoughts.close(self._thinking_tokens)
        tokens, self._thinking_tokens = self._thinking_tokens, 0
        if event is None or (event.is_start and not tokens):
            return []
        return [event]
