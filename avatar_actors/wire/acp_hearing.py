"""Routes what an ACP agent sends besides its updates: replies, requests, notifications, garbage."""

from __future__ import annotations

from typing import Final

from msgspec import UNSET

from avatar_actors.events import UnrecognisedEvent
from avatar_actors.wire.acp_profile import AcpProfile
from avatar_actors.wire.acp_requests import PERMISSION, AgentRequests, remark
from avatar_actors.wire.facts import Fact
from avatar_actors.wire.json_values import at, decoded, is_object, raw_text, shown
from avatar_actors.wire.jsonrpc import NO_RESULT, Peer, Reply, RpcError, RpcMessage
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
            return _garbage(line)
        if message.method is UNSET:
            return self._replied(message, line)
        if message.id is UNSET or message.id is None:
            return self._notified(message.method, message, line)
        if message.method == PERMISSION:
            is_wanted = self._progress.phase is Phase.TURN
            return self._requests.asked_permission(message.id, message.params, is_wanted=is_wanted)
        return self._requests.asked(message.id, message.method, message.params)

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
