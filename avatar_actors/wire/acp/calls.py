"""Sends the host's requests to an opened ACP session: prompts, stored sessions, model, mode."""

from __future__ import annotations

from typing import Final

from avatar_actors.model.events import SessionInfoEvent
from avatar_actors.model.values import JsonObject
from avatar_actors.wire.acp.choices import choose, models_of, modes_of
from avatar_actors.wire.acp.content import (
    NotAccepted,
    instructions_block,
    prompt_blocks,
    text_block,
)
from avatar_actors.wire.acp.opening import AcpOpening, session_rows
from avatar_actors.wire.acp.profile import AcpProfile
from avatar_actors.wire.commands import Call, Prompt
from avatar_actors.wire.facts import Answered, Fact
from avatar_actors.wire.json_values import decoded, text_at
from avatar_actors.wire.jsonrpc import OnReply, Peer, Reply
from avatar_actors.wire.shared_events import remark

RAW: Final = "raw:"
# Sessions come in pages; this many are read from an agent whose pages never end.
MOST_PAGES: Final = 50

# These name a session: the current one unless `session_id` is given.
SESSION_METHODS: Final = {
    "close_session": "session/close",
    "delete": "session/delete",
    "fork": "session/fork",
}


class HostCalls:
    """The calls to one opened session."""

    def __init__(self, peer: Peer, opening: AcpOpening, profile: AcpProfile) -> None:
        self._peer = peer
        self._opening = opening
        self._profile = profile

    def call(self, call: Call) -> list[Fact]:
        """Send the call; returns facts only if it cannot be sent."""
        if call.action == "list_sessions":
            return self._list_sessions(call)
        if call.action in {"set_model", "set_mode"}:
            return self._choose(call, call.action.removeprefix("set_"))
        if call.action in SESSION_METHODS:
            return self._about_session(call)
        if call.action.startswith(RAW):
            return self._send(call, call.action.removeprefix(RAW), call.arguments)
        return [Answered(call.call_id, error=f"{call.action!r} is not supported by ACP")]

    def _send(self, call: Call, method: str, params: JsonObject) -> list[Fact]:
        def answered(reply: Reply) -> list[Fact]:
            if reply.error is not None:
                return [Answered(call.call_id, error=reply.error.message)]
            return [Answered(call.call_id, decoded(reply.result))]

        self._peer.request(method, params, answered)
        return []

    def _about_session(self, call: Call) -> list[Fact]:
        session_id = text_at(call.arguments, "session_id") or self._opening.session_id
        params: JsonObject = {"sessionId": session_id}
        if call.action == "fork":
            params |= {"cwd": self._opening.wanted.cwd, "mcpServers": []}
        return self._send(call, SESSION_METHODS[call.action], params)

    def _choose(self, call: Call, kind: str) -> list[Fact]:
        session = self._opening.session
        choices = models_of(session) if kind == "model" else modes_of(session)
        wanted = text_at(call.arguments, kind)
        # qwen 0.15.10 silently accepts any mode, and then works in none.
        is_free = kind == "model" and self._profile.takes_any_model
        if choices.all and not is_free and not choices.offers(wanted):
            return [Answered(call.call_id, error=choices.refusal(wanted))]

        def chosen(why: str) -> list[Fact]:
            if why:
                return [Answered(call.call_id, error=why)]
            return [_changed(kind, wanted), Answered(call.call_id, {})]

        return choose(self._peer, self._opening.session_id, choices, wanted, chosen)

    def _list_sessions(self, call: Call) -> list[Fact]:
        rows: list[JsonObject] = []
        cwd = text_at(call.arguments, "cwd")
        pages = [{"cwd": cwd} if cwd else {}]

        def answered(reply: Reply) -> list[Fact]:
            if reply.error is not None:
                return [Answered(call.call_id, error=reply.error.message)]
            result = decoded(reply.result)
            rows.extend(session_rows(result))
            cursor = text_at(result, "nextCursor")
            if not cursor or len(pages) >= MOST_PAGES:
                return [Answered(call.call_id, rows)]
            pages.append({**pages[0], "cursor": cursor})
            self._peer.request("session/list", pages[-1], answered)
            return []

        self._peer.request("session/list", pages[0], answered)
        return []


def _changed(kind: str, wanted: str) -> SessionInfoEvent:
    return SessionInfoEvent(model=wanted) if kind == "model" else SessionInfoEvent(mode=wanted)


# An extension of codex-acp 2.6.0, advertised in the `_meta` of its handshake. Not measured: several
# hosts call it this way. The agent must not start a turn that we do not know of.
STEERING: Final = "_session/steering"
STEERING_META: Final = {"steering": {"idleBehavior": "promptRequired"}}


class Prompting:
    """The prompts of one session; the first of a fresh one may carry the system prompt."""

    def __init__(self, peer: Peer, opening: AcpOpening) -> None:
        self._peer = peer
        self._opening = opening
        self._has_sent = False

    def send(self, prompt: Prompt, on_reply: OnReply) -> str:
        """Send the prompt; returns why it was not sent, or nothing."""
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
        """Send this text into the running turn."""
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
    return [remark(f"what was said into the turn did not reach it: {why or 'no reason given'}")]
