"""Claude Code's control protocol: matches requests and answers, in both directions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, TypeAlias

from avatar_actors.model.values import JsonObject
from avatar_actors.wire.claude.lines import (
    ControlRequestLine,
    ControlResponse,
    ControlResponseLine,
    as_object,
    as_objects,
    as_texts,
)
from avatar_actors.wire.claude.notices import Notices
from avatar_actors.wire.claude.opening import ClaudeOpening
from avatar_actors.wire.claude.outgoing import control_error, control_request
from avatar_actors.wire.claude.permissions import ClaudePermissions
from avatar_actors.wire.claude.turns import ClaudeTurns
from avatar_actors.wire.commands import Call
from avatar_actors.wire.facts import Answered, Fact
from avatar_actors.wire.json_values import at, text_at
from avatar_actors.wire.shared_events import remark

SUBTYPES: Final = {
    "set_model": "set_model",
    "set_mode": "set_permission_mode",
    "mcp_status": "mcp_status",
    "stop_task": "stop_task",
    "rewind_files": "rewind_files",
}
RAW: Final = "raw:"
SERVER_FIELDS: Final = ("name", "status", "error", "transport", "scope", "source", "tools")

OnAnswer: TypeAlias = Callable[[ControlResponse], list[Fact]]


class ControlProtocol:
    """Tracks requests in both directions and routes their answers."""

    def __init__(
        self,
        opening: ClaudeOpening,
        conversation: ClaudeTurns,
        permissions: ClaudePermissions,
        notices: Notices,
        send: Callable[[bytes], None],
    ) -> None:
        self._opening = opening
        self._conversation = conversation
        self._permissions = permissions
        self._notices = notices
        self._send = send
        self._asked = 0
        self._waiting: dict[str, OnAnswer] = {}

    def initialize(self) -> None:
        """Send the handshake: the only source about the CLI before the first prompt."""
        self._ask({"subtype": "initialize"}, self._opening.answered)

    def interrupt(self, uuids: tuple[str, ...]) -> None:
        """Interrupt the running turn, in which these messages were sent."""
        self._ask({"subtype": "interrupt"}, partial(self._interrupted, uuids))

    def take_back(self, uuids: list[str]) -> None:
        """Withdraw these messages, so that they do not start a run."""
        for uuid in uuids:
            request = {"subtype": "cancel_async_message", "message_uuid": uuid}
            self._ask(request, partial(self._unqueued, uuid))

    def goodbye(self) -> None:
        """End the session: the only way that also ends background commands (2.1.325)."""
        self._ask({"subtype": "end_session"}, lambda _: [])

    def call(self, call: Call) -> list[Fact]:
        """A request of the host."""
        is_raw = call.action.startswith(RAW)
        subtype = call.action.removeprefix(RAW) if is_raw else SUBTYPES.get(call.action, "")
        if not subtype:
            error = f"Claude Code cannot {call.action!r} over its protocol"
            return [Answered(call.call_id, error=error)]
        self._ask({**call.arguments, "subtype": subtype}, partial(self._called, call))
        return []

    def asked(self, line: ControlRequestLine) -> list[Fact]:
        """Handle a request of the CLI."""
        request = as_object(line.request)
        subtype = text_at(request, "subtype")
        if not line.request_id:
            return [remark(f"a request {subtype[:80]!r} without an id cannot be answered")]
        if subtype == "can_use_tool":
            return self._permissions.ask(line.request_id, request)
        # Hooks and in-process MCP servers are never offered; the error ends the CLI's wait.
        self._send(control_error(line.request_id, f"unsupported request: {subtype}"))
        return [remark(f"the agent asked for {subtype[:80]!r}, which is not supported")]

    def refuse(self, request_id: object, why: str) -> None:
        """Refuse a request that cannot be read, if its id is known."""
        if request_id is not None:
            self._send(control_error(request_id, f"invalid request: {why}"))

    def lost(self, response: ControlResponse) -> list[Fact]:
        """Treat an answer that cannot be read as a refusal."""
        is_waited_for = response.request_id in self._waiting
        return self.answered(ControlResponseLine(response)) if is_waited_for else []

    def answered(self, line: ControlResponseLine) -> list[Fact]:
        """Handle the answer to a request of ours."""
        response = line.response
        on_answer = self._waiting.pop(response.request_id, None)
        if on_answer is None:
            return [remark(f"an answer came to no question: {response.request_id[:80]!r}")]
        return on_answer(response)

    def _ask(self, request: JsonObject, on_answer: OnAnswer) -> None:
        self._asked += 1
        request_id = f"avatar-{self._asked}"
        self._waiting[request_id] = on_answer
        self._send(control_request(request_id, request))

    def _called(self, call: Call, response: ControlResponse) -> list[Fact]:
        return [*self._changed(call, response), call_answer(call, response)]

    def _changed(self, call: Call, response: ControlResponse) -> list[Fact]:
        """Report the change: the CLI mentions a new model only with its next run."""
        if response.subtype != "success" or call.action not in {"set_model", "set_mode"}:
            return []
        kind = call.action.removeprefix("set_")
        now = text_at(response.response, kind) or text_at(call.arguments, kind)
        return [*self._notices.chosen(**{kind: now})]

    def _unqueued(self, uuid: str, response: ControlResponse) -> list[Fact]:
        if at(response.response, "cancelled") is True:
            return self._conversation.taken_back(uuid)
        if self._conversation.is_cancelling(uuid):
            # It started after the interrupt, which has therefore missed it (seen with 2.1.325).
            self.interrupt(self._conversation.own_messages())
        return []

    def _interrupted(self, uuids: tuple[str, ...], response: ControlResponse) -> list[Fact]:
        # The turn itself ends with its result. What is still queued would run after it; what was
        # sent after the interrupt belongs to the next turn and stays.
        queued = as_texts(at(response.response, "still_queued"))
        self.take_back([uuid for uuid in queued if uuid in uuids])
        if response.subtype == "success":
            return []
        return [remark(f"the agent did not take the interrupt: {text_at(response.error)}")]


def call_answer(call: Call, response: ControlResponse) -> Answered:
    """The answer for the host. An MCP server's configuration may hold secrets and is left out."""
    if response.subtype != "success":
        return Answered(call.call_id, error=text_at(response.error) or "the request was refused")
    result = as_object(response.response)
    if call.action.removeprefix(RAW) == "mcp_status":
        servers = as_objects(result.get("mcpServers"))
        kept = [{key: one[key] for key in SERVER_FIELDS if key in one} for one in servers]
        result = {"mcpServers": kept}
    return Answered(call.call_id, result=result)
