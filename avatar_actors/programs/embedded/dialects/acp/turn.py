"""A turn in ACP: its updates, its permission requests and the answer to its prompt."""

from __future__ import annotations

from avatar_actors.programs.embedded.dialects.acp import shapes
from avatar_actors.programs.embedded.json_lines import (
    Record,
    encode,
    is_record,
    record_in,
    records_in,
    text_in,
)
from avatar_actors.programs.embedded.session import title_of
from avatar_actors.programs.embedded.tool_call import ToolFailed, ToolUse, new_id, new_uuid
from avatar_actors.programs.embedded.turn import (
    ALLOWED,
    CANCELLED,
    DENIED,
    AgentTurn,
    TurnEnded,
    TurnResult,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from avatar_actors.programs.embedded.cancelling import ReplySlot
    from avatar_actors.programs.embedded.dialects.acp.agent import AcpClient
    from avatar_actors.programs.embedded.session import Session


class AcpTurn(AgentTurn):
    """Answers one session/prompt."""

    def __init__(self, session: Session, client: AcpClient, message: Record) -> None:
        super().__init__(session, client.output, prompt_text(record_in(message, "params")))
        self._client = client
        self._flavour = client.flavour
        self._request_id = message["id"]
        self._message_id = new_id("msg_")
        self._thought_id = ""
        self._open_calls: list[ToolUse] = []

    def begin(self) -> None:
        """Codex says that its thread is active."""
        if self._flavour.name == "codex-acp":
            self._update({"sessionUpdate": "session_info_update", "_meta": _thread("active")})

    def show_text(self, text: str) -> None:
        """An agent_message_chunk."""
        self._thought_id = ""
        self.output.write(self.text_line(text))

    def text_line(self, text: str) -> bytes:
        """An agent_message_chunk as bytes."""
        return encode(self._chunk("agent_message_chunk", text, self._message_id))

    def show_thought(self, text: str) -> None:
        """An agent_thought_chunk; Codex begins each thought with an empty line of its own."""
        if not self._thought_id:
            self._thought_id = new_id("rs_")
            if prefix := self._flavour.thought_prefix:
                self._thought(prefix)
        self._thought(text)

    def _thought(self, text: str) -> None:
        self.output.send(self._chunk("agent_thought_chunk", text, self._thought_id))

    def _chunk(self, kind: str, text: str, message_id: str) -> Record:
        update: Record = {"sessionUpdate": kind, "content": shapes.text_block(text)}
        if self._flavour.has_message_ids:
            update["messageId"] = message_id
        return self._client.update(self.session.id, update)

    def _update(self, update: Record) -> None:
        self.output.send(self._client.update(self.session.id, update))

    def show_plan(self, entries: list[Record]) -> None:
        """A plan update."""
        self._update({"sessionUpdate": "plan", "entries": entries})

    def show_tool_start(self, call: ToolUse) -> None:
        """A tool_call."""
        self._open_calls.append(call)
        shown = shapes.tool_started(self._flavour, call, self.session.cwd)
        self._update({"sessionUpdate": "tool_call", **shown})

    def show_tool_end(self, call: ToolUse) -> None:
        """A tool_call_update that ends the call."""
        self._open_calls = [other for other in self._open_calls if other is not call]
        ended = shapes.tool_ended(self._flavour, call)
        self._update({"sessionUpdate": "tool_call_update", **ended})

    def run_tools(self, calls: list[ToolUse]) -> None:
        """Side by side; Gemini 0.61.0 runs even parallel calls one after the other."""
        if self._flavour.runs_tools_in_turn:
            for call in calls:
                super().run_tools([call])
        else:
            super().run_tools(calls)

    def ask_permission(self, call: ToolUse) -> str:
        """A session/request_permission, unless the mode or an earlier answer decides."""
        flavour = self._flavour
        kinds = flavour.shown_before_asking
        is_free = self._is_free(call)
        if is_free or (flavour.name != "plain" and (kinds is None or call.kind in kinds)):
            self.show_tool_start(call)
        elif flavour.name == "plain":
            self._open_calls.append(call)
            shown = shapes.tool_pending(flavour, call, self.session.cwd)
            self._update({"sessionUpdate": "tool_call", **shown})
        if is_free:
            return ALLOWED
        answer = self._ask(call)
        if answer == ALLOWED:
            return answer
        if flavour.rejection_is_shown:
            call.is_failed = True
            call.output = "The user refused this tool"
            self.show_tool_end(call)
        if flavour.rejection_ends_turn:
            self.ending = TurnResult(CANCELLED)
            raise TurnEnded
        return answer

    def _is_free(self, call: ToolUse) -> bool:
        flavour, mode = self._flavour, self.session.mode
        is_edit = call.kind == "edit" and mode in flavour.edit_modes
        return is_edit or mode in flavour.free_modes or call.name in self.session.always_allowed

    def _ask(self, call: ToolUse) -> str:
        reply = self.request(
            "session/request_permission",
            {
                "sessionId": self.session.id,
                "toolCall": shapes.tool_pending(self._flavour, call, self.session.cwd),
                "options": shapes.permission_options(self._flavour),
            },
        )
        outcome = record_in(record_in(reply if is_record(reply) else {}, "result"), "outcome")
        if reply is None or text_in(outcome, "outcome") == "cancelled":
            return CANCELLED
        chosen = text_in(outcome, "optionId")
        kinds = [kind for option, _, kind in self._flavour.permission if option == chosen]
        if kinds == ["allow_always"]:
            self.session.always_allowed.add(call.name)
        return ALLOWED if kinds and kinds[0].startswith("allow") else DENIED

    def request(self, method: str, params: Record) -> object:
        """A JSON-RPC request; gives the whole reply, with its `result` or its `error`."""
        if method.startswith("session/"):
            params = {"sessionId": self.session.id, **params}
        request_id: object = new_uuid() if self._flavour.has_string_ids else self._client.next_id()
        slot = self._client.replies.expect(request_id)
        message: Record = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        self.output.send(message)
        return self.await_reply(slot)

    def release_on_cancel(self, slot: ReplySlot) -> None:
        """Gemini 0.61.0 hangs until the client answers its open question."""
        if not self._flavour.cancel_waits_for_answer:
            super().release_on_cancel(slot)

    def notify(self, method: str, params: Record) -> None:
        """A JSON-RPC notification."""
        self.output.send({"jsonrpc": "2.0", "method": method, "params": params})

    def read_file(self, name: str) -> str:
        """Through fs/read_text_file where the client offers it."""
        if not self._client.can_read:
            return super().read_file(name)
        return text_in(self._ask_for_file("fs/read_text_file", name, {}), "content")

    def write_file(self, name: str, text: str) -> None:
        """Through fs/write_text_file where the client offers it."""
        if self._client.can_write:
            self._ask_for_file("fs/write_text_file", name, {"content": text})
        else:
            super().write_file(name, text)

    def _ask_for_file(self, method: str, name: str, more: Record) -> Record:
        path = shapes.absolute(name, self.session.cwd)
        reply = self.request(method, {"sessionId": self.session.id, "path": path, **more})
        if not is_record(reply) or "error" in reply:
            error = record_in(reply if is_record(reply) else {}, "error")
            raise ToolFailed(text_in(error, "message", "no reply"))
        return record_in(reply, "result")

    def report_usage(self) -> None:
        """A usage_update, where the agent sends them."""
        forms = self._flavour.usage_forms
        if "update" in forms:
            self._update(shapes.usage_update(self, has_cost="cost" in forms))

    def finish(self) -> None:
        """The answer to the prompt, after what Gemini and Codex say before it."""
        if self.ending.reason == CANCELLED and self._flavour.name == "gemini":
            self._show_cancelled_tools()
        if self._flavour.name == "codex-acp":
            self._update({"sessionUpdate": "session_info_update", "_meta": _thread("idle")})
            self._tell_title()
        message: Record = {"jsonrpc": "2.0", "id": self._request_id}
        if self.ending.error is None:
            message["result"] = shapes.prompt_answered(self._flavour, self)
        else:
            message["error"] = {"code": -32603, "message": "failed", **self.ending.error}
        self.output.send(message)

    def _tell_title(self) -> None:
        title = title_of(self.session.history)
        if title and not self.session.is_titled:
            self.session.is_titled = True
            self._update({"sessionUpdate": "session_info_update", "title": title})

    def _show_cancelled_tools(self) -> None:
        for call in list(self._open_calls):
            call.is_failed = False
            call.output = "Command cancelled by user."
            call.kind = "other" if call.kind != "execute" else call.kind
            ended = shapes.tool_ended(self._flavour, call)
            content = shapes.tool_text(call.output)
            self._update({"sessionUpdate": "tool_call_update", **ended, "content": content})


def prompt_text(params: Record) -> str:
    """The texts of a prompt; linked and embedded resources are named by their address."""
    parts: list[str] = []
    for block in records_in(params, "prompt"):
        resource = record_in(block, "resource") or block
        parts.append(text_in(block, "text") or text_in(resource, "uri"))
    return "\n".join(part for part in parts if part)


def _thread(state: str) -> Record:
    status: Record = {"type": state}
    if state == "active":
        status["activeFlags"] = []
    return {"codex": {"threadStatus": status}}
