"""A message of the model while it is written: its blocks, as stream events and as whole lines."""

from __future__ import annotations

from avatar_actors.programs.embedded.json_lines import Record, encode, to_json
from avatar_actors.programs.embedded.tools import new_id, new_uuid
from tests.fake_agents.claude import shapes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from avatar_actors.programs.embedded.tools import ToolUse
    from tests.fake_agents.claude.state import ClaudeState

FIELDS = {"text": "text", "thinking": "thinking"}


class ClaudeMessage:
    """Opens and closes messages and their blocks as they are needed."""

    def __init__(self, state: ClaudeState) -> None:
        self._state = state
        self._id = ""
        self._index = 0
        self._kind = ""
        self._parts: list[str] = []
        self.last_text = ""

    @property
    def is_open(self) -> bool:
        """Whether a message was begun and not ended."""
        return bool(self._id)

    def add(self, kind: str, text: str) -> None:
        """Adds to a block of text or thinking."""
        self._open_block(kind)
        self._parts.append(text)
        if self._state.is_partial:
            self._state.output.write(self.delta_line(kind, text))

    def delta_line(self, kind: str, text: str) -> bytes:
        """A piece of a block as the bytes of its line; the block is open afterwards."""
        self._open_block(kind)
        if self._state.is_partial:
            delta: Record = {"type": f"{kind}_delta", FIELDS[kind]: text}
            event: Record = {"type": "content_block_delta", "index": self._index, "delta": delta}
            line = shapes.stream_event(event, self._id)
        else:
            line = shapes.assistant(self._id, self._state.session.model, _block(kind, text))
        return encode({**line, "uuid": new_uuid(), "session_id": self._state.session.id})

    def note(self, text: str) -> None:
        """Takes in text whose deltas were written by others."""
        if self._state.is_partial:
            self._parts.append(text)
        else:
            self.last_text += text

    def add_tool(self, call: ToolUse) -> None:
        """Adds the block of a tool's use, whole."""
        self._close_block()
        self._open()
        block: Record = {"type": "tool_use", "id": call.id, "name": call.name, "input": call.input}
        start: Record = {**block, "input": {}}
        self._event({"type": "content_block_start", "index": self._index, "content_block": start})
        delta: Record = {"type": "input_json_delta", "partial_json": to_json(call.input)}
        self._event({"type": "content_block_delta", "index": self._index, "delta": delta})
        self._whole(block, {})
        self._event({"type": "content_block_stop", "index": self._index})
        self._index += 1

    def close(self, stop_reason: str | None) -> None:
        """Ends the message."""
        if self._id:
            self._close_block()
            self._end(stop_reason)

    def abort(self) -> None:
        """Ends the message where it is; the line of a begun block says so."""
        if self._kind:
            self._whole(_block(self._kind, "".join(self._parts)), {"aborted": True})

    def end_aborted(self) -> None:
        """The events that end an aborted message."""
        if self._kind:
            self._event({"type": "content_block_stop", "index": self._index})
            self._kind = ""
        if self._id:
            self._end(None)

    def _end(self, stop_reason: str | None) -> None:
        delta: Record = {"stop_reason": stop_reason, "stop_sequence": None}
        usage = shapes.message_usage(0, 0)
        self._event({"type": "message_delta", "delta": delta, "usage": usage})
        self._event({"type": "message_stop"})
        self._id = ""

    def _open(self) -> None:
        if self._id:
            return
        self._id = new_id("msg_")
        self._index = 0
        if self._state.is_partial:
            self._state.system("status", {"status": "requesting"})
        message = shapes.message(self._id, self._state.session.model, [])
        self._event({"type": "message_start", "message": message})

    def _open_block(self, kind: str) -> None:
        if self._kind == kind:
            return
        self._close_block()
        self._open()
        self._kind = kind
        self._parts = []
        start = _block(kind, "")
        self._event({"type": "content_block_start", "index": self._index, "content_block": start})

    def _close_block(self) -> None:
        if not self._kind:
            return
        text = "".join(self._parts)
        if text:
            self._whole(_block(self._kind, text), {})
        if self._kind == "text":
            self.last_text = text or self.last_text
        self._event({"type": "content_block_stop", "index": self._index})
        self._index += 1
        self._kind = ""

    def _whole(self, block: Record, more: Record) -> None:
        line = shapes.assistant(self._id, self._state.session.model, block)
        self._state.send({**line, **more})

    def _event(self, event: Record) -> None:
        if self._state.is_partial:
            self._state.send(shapes.stream_event(event, self._id))


def _block(kind: str, text: str) -> Record:
    block: Record = {"type": kind, FIELDS[kind]: text}
    if kind == "thinking":
        block["signature"] = ""
    return block
