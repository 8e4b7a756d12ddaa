"""Sends prompts, and words into a running one, to an ACP agent."""

from __future__ import annotations

from typing import Final

from avatar_actors.model.events import DiagnosticEvent
from avatar_actors.model.values import Level
from avatar_actors.wire.acp.content import (
    NotAccepted,
    instructions_block,
    prompt_blocks,
    text_block,
)
from avatar_actors.wire.acp.opening import Opening
from avatar_actors.wire.commands import Prompt
from avatar_actors.wire.facts import Fact
from avatar_actors.wire.json_values import decoded, text_at
from avatar_actors.wire.jsonrpc import OnReply, Peer, Reply

# An extension of codex-acp 2.6.0, which tells of it in the `_meta` of its handshake. Not measured:
# this is how several hosts call it. The agent shall not begin a turn that we know nothing of.
STEERING: Final = "_session/steering"
STEERING_META: Final = {"steering": {"idleBehavior": "promptRequired"}}


class Prompting:
    """The prompts of one session; the first of a fresh one may carry the system prompt."""

    def __init__(self, peer: Peer, opening: Opening) -> None:
        self._peer = peer
        self._opening = opening
        self._has_sent = False

    def send(self, prompt: Prompt, on_reply: OnReply) -> str:
        """Send it; answered with why it was not sent, or with nothing."""
        agent = self._opening.agent.capabilities
        try:
            blocks = prompt_blocks(prompt.text, prompt.attachments, agent)
        except NotAccepted as refusal:
            return str(refusal)
        if not self._has_sent and self._opening.injects_system_prompt():
            blocks.insert(0, instructions_block(self._opening.wanted.system_prompt))
        self._has_sent = True
        params = {"sessionId": self._opening.session_id, "prompt": blocks}
        self._peer.request("session/prompt", params, on_reply)
        return ""

    def steer(self, text: str) -> None:
        """Say this into the running turn."""
        params = {
            "sessionId": self._opening.session_id,
            "prompt": [text_block(text)],
            "_meta": STEERING_META,
        }
        self._peer.request(STEERING, params, _steered)


def _steered(reply: Reply) -> list[Fact]:
    outcome = text_at(decoded(reply.result), "outcome")
    if reply.error is None and outcome == "injected":
        return []
    why = reply.error.message if reply.error else outcome
    message = f"what was said into the turn did not reach it: {why or 'no reason given'}"
    return [DiagnosticEvent(message=message, level=Level.WARNING, source="wire")]
