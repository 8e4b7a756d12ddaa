"""Routes what an ACP agent sends besides its updates: replies, requests, notifications, garbage."""

from __future__ import annotations

from typing import Final

from msgspec import UNSET

from avatar_actors.model.events import UnrecognisedEvent
from avatar_actors.wire.acp.incoming import PERMISSION, AgentRequests, remark
from avatar_actors.wire.acp.profile import AcpProfile
from avatar_actors.wire.envelope import fields_of
from avatar_actors.wire.facts import Fact
from avatar_actors.wire.json_values import at, decoded, is_object, raw_text, shown
from avatar_actors.wire.jsonrpc import (
    INVALID_REQUEST,
    NO_RESULT,
    Peer,
    Reply,
    RpcError,
    RpcMessage,
)
from avatar_actors.wire.phases import Phase, Progress

CANCEL_REQUEST: Final = "$/cancel_request"
# Of elicitations that we do not offer, so there is nothing to complete.
QUIET: Final = frozenset({"elicitation/complete"})


class Hearing:
    """One message at a time; each ends in facts, an answer, or both."""

    def __init__(
        self, peer: Peer, profile: AcpProfile, progress: Progress, requests: AgentRequests
    ) -> None:
        self._peer = peer
        self._quiet = profile.quiet_notifications | QUIET
        self._progress = progress
        self._requests = requests

    def heard(self, message: RpcMessage | None, line: bytes) -> list[Fact]:
        """A line, and the message in it if it is one."""
        if self._progress.phase is Phase.CLOSED:
            return []
        if message is None:
            return [*_garbage(line), *self.unread(line, "it cannot be read")]
        if message.method is UNSET:
            return self._replied(message, line)
        if message.id is UNSET or message.id is None:
            return self._notified(message.method, message, line)
        if message.method == PERMISSION:
            is_wanted = self._progress.phase is Phase.TURN
            return self._requests.asked_permission(message.id, message.params, is_wanted=is_wanted)
        return self._requests.asked(message.id, message.method, message.params)

    def unread(self, line: bytes, why: str) -> list[Fact]:
        """Nobody waits for ever: a request gets an error, and an answer is one, if its id is known.

        `line` may be only the beginning of one.
        """
        fields = fields_of(line)
        rpc_id = fields.get("id")
        if self._progress.phase is Phase.CLOSED or not isinstance(rpc_id, int | str | float):
            return []
        if "method" in fields:
            self._peer.refuse(rpc_id, INVALID_REQUEST, f"Invalid request: {why}")
            return []
        is_reply = "result" in fields or "error" in fields
        on_reply = self._peer.waiter(rpc_id) if is_reply and isinstance(rpc_id, int) else None
        lost = RpcError(INVALID_REQUEST, f"the agent's answer is lost: {why}")
        return [] if on_reply is None else on_reply(Reply(error=lost))

    def _replied(self, message: RpcMessage, line: bytes) -> list[Fact]:
        if message.result is UNSET and message.error is UNSET:
            return [not_understood(line)]
        on_reply = self._peer.waiter(message.id)
        if on_reply is None:
            return [remark(f"the agent answered what nobody asked: {shown(line)}")]
        if message.error is not UNSET:
            return on_reply(Reply(error=RpcError.read(message.error)))
        return on_reply(Reply(NO_RESULT if message.result is UNSET else message.result))

    def _notified(self, method: str, message: RpcMessage, line: bytes) -> list[Fact]:
        if method == CANCEL_REQUEST:
            return self._requests.taken_back(at(decoded(message.params), "requestId"))
        return [] if method in self._quiet else [not_understood(line)]


def not_understood(line: bytes) -> UnrecognisedEvent:
    """JSON that this wire does not know, kept as it came."""
    return UnrecognisedEvent(raw=raw_text(line), source="acp")


def _garbage(line: bytes) -> list[Fact]:
    if not line.strip():
        return []
    if is_object(decoded(line)):
        return [not_understood(line)]
    return [remark(f"the agent wrote what is not a message: {shown(line)}")]
