"""A turn in ACP: its updates, its permission requests and the answer to its prompt."""

from __future__ import annotations

from avatar_actors.programs.embedded.acp import messages
from avatar_actors.programs.embedded.json_lines import (
    Record,
    encode,
    is_record,
    record_in,
    records_in,
    text_in,
)
from avatar_actors.programs.embedded.tools import ToolFailed, ToolUse
from avatar_actors.programs.embedded.turn import ALLOWED, CANCELLED, DENIED, AgentTurn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from avatar_actors.programs.embedded.acp.agent import AcpClient
    from avatar_actors.programs.embedded.session import Session


class AcpTurn(AgentTurn):
    """Answers one session/prompt."""

    def __init__(self, session: Session, client: AcpClient, message: Record) -> None:
        super().__init__(session, client.output, prompt_text(record_in(message, "params")))
        self._client = client
        self._request_id = message["id"]

    def begin(self) -> None:
        """Sends nothing: the client knows what it has asked."""

    def show_text(self, text: str) -> None:
        """An agent_message_chunk."""
        self.output.write(self.text_line(text))

    def text_line(self, text: str) -> bytes:
        """An agent_message_chunk as bytes."""
        return encode(self.chunk("agent_message_chunk", text))

    def show_thought(self, text: str) -> None:
        """An agent_thought_chunk."""
        self.output.send(self.chunk("agent_thought_chunk", text))

    def chunk(self, kind: str, text: str) -> Record:
        """A piece of a message of that kind."""
        update: Record = {"sessionUpdate": kind, "content": messages.text_block(text)}
        return self._client.update(self.session.id, update)

    def update(self, update: Record) -> None:
        """Sends a session/update."""
        self.output.send(self._client.update(self.session.id, update))

    def show_plan(self, entries: list[Record]) -> None:
        """A plan update."""
        self.update({"sessionUpdate": "plan", "entries": entries})

    def show_tool_start(self, call: ToolUse) -> None:
        """A tool_call."""
        self.update({"sessionUpdate": "tool_call", **self.tool_started(call)})

    def show_tool_end(self, call: ToolUse) -> None:
        """A tool_call_update that ends the call."""
        self.update({"sessionUpdate": "tool_call_update", **self.tool_ended(call)})

    def tool_started(self, call: ToolUse) -> Record:
        """What is shown of a tool that begins."""
        # As qwen 0.15.10 tells it: ACP itself has no name for a tool.
        named: Record = {"_meta": {"toolName": call.name}}
        return {**messages.tool_started(call, self.session.cwd), **named}

    def tool_pending(self, call: ToolUse) -> Record:
        """What a permission request shows of its tool."""
        return {**self.tool_started(call), "status": "pending"}

    def tool_ended(self, call: ToolUse) -> Record:
        """What is shown of a tool that has ended."""
        return messages.tool_ended(call)

    def ask_permission(self, call: ToolUse) -> str:
        """A session/request_permission, unless the mode or an earlier answer decides."""
        if self.is_free(call):
            self.show_tool_start(call)
            return ALLOWED
        self.update({"sessionUpdate": "tool_call", **self.tool_pending(call)})
        answer = self.request_permission(call)
        if answer != ALLOWED:
            self.show_refusal(call)
        return answer

    def ask_user(self, question: Record) -> str:
        """An elicitation/create, if the client offers it."""
        if not self._client.can_ask_user:
            return super().ask_user(question)
        form = messages.question_form(question, self.session.id)
        reply = self.request("elicitation/create", form)
        return messages.form_answer(record_in(reply if is_record(reply) else {}, "result"))

    def show_refusal(self, call: ToolUse) -> None:
        """Ends a tool call that was not allowed."""
        call.is_failed = True
        call.output = "The user refused this tool"
        self.show_tool_end(call)

    def is_free(self, call: ToolUse) -> bool:
        """Whether the tool may run without a question."""
        is_allowed = call.name in self.session.always_allowed
        return is_allowed or self.session.mode in self._client.features.free_modes

    def request_permission(self, call: ToolUse) -> str:
        """Asks the client: allowed, denied or cancelled."""
        features = self._client.features
        reply = self.request(
            "session/request_permission",
            {
                "sessionId": self.session.id,
                "toolCall": self.tool_pending(call),
                "options": messages.permission_options(features),
            },
        )
        outcome = record_in(record_in(reply if is_record(reply) else {}, "result"), "outcome")
        if reply is None or text_in(outcome, "outcome") == "cancelled":
            return CANCELLED
        chosen = text_in(outcome, "optionId")
        kinds = [kind for option, _, kind in features.permission if option == chosen]
        if kinds == ["allow_always"]:
            self.session.always_allowed.add(call.name)
        return ALLOWED if kinds and kinds[0].startswith("allow") else DENIED

    def request(self, method: str, params: Record) -> object:
        """A JSON-RPC request; gives the whole reply, with its `result` or its `error`."""
        if method.startswith("session/"):
            params = {"sessionId": self.session.id, **params}
        request_id = self._client.next_id()
        slot = self._client.replies.expect(request_id)
        message: Record = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        self.output.send(message)
        return self.await_reply(slot)

    def notify(self, method: str, params: Record) -> None:
        """A JSON-RPC notification."""
        self.output.send({"jsonrpc": "2.0", "method": method, "params": params})

    def read_file(self, name: str) -> str:
        """Through fs/read_text_file where the client offers it."""
        if not self._client.can_read:
            return super().read_file(name)
        return text_in(self._request_file("fs/read_text_file", name, {}), "content")

    def write_file(self, name: str, text: str) -> None:
        """Through fs/write_text_file where the client offers it."""
        if self._client.can_write:
            self._request_file("fs/write_text_file", name, {"content": text})
        else:
            super().write_file(name, text)

    def _request_file(self, method: str, name: str, more: Record) -> Record:
        path = messages.absolute(name, self.session.cwd)
        reply = self.request(method, {"sessionId": self.session.id, "path": path, **more})
        if not is_record(reply) or "error" in reply:
            error = record_in(reply if is_record(reply) else {}, "error")
            raise ToolFailed(text_in(error, "message", "no reply"))
        return record_in(reply, "result")

    def report_usage(self) -> None:
        """A usage_update."""
        self.update(messages.usage_update(self))

    def finish(self) -> None:
        """The answer to the prompt."""
        message: Record = {"jsonrpc": "2.0", "id": self._request_id}
        if self.ending.error is None:
            message["result"] = self.result()
        else:
            message["error"] = {"code": -32603, "message": "failed", **self.ending.error}
        self.output.send(message)

    def result(self) -> Record:
        """The answer to a prompt that ended with a stop reason."""
        result: Record = {"stopReason": self.ending.reason}
        return {**result, "usage": messages.usage(self.usage)} if self.usage else result


def prompt_text(params: Record) -> str:
    """The texts of a prompt; linked and embedded resources are named by their address."""
    parts: list[str] = []
    for block in records_in(params, "prompt"):
        resource = record_in(block, "resource") or block
        parts.append(text_in(block, "text") or text_in(resource, "uri"))
    return "\n".join(part for part in parts if part)
