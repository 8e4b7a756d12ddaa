"""Gemini and Codex in ACP: the embedded agent's sessions with the quirks of one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from avatar_actors.programs.embedded.acp.agent import AcpAgent, AcpClient
from avatar_actors.programs.embedded.acp.messages import INTERNAL_ERROR, RpcRefused, text_block
from avatar_actors.programs.embedded.acp.sessions import AcpSessions
from avatar_actors.programs.embedded.json_lines import Record, text_in
from avatar_actors.programs.embedded.script.script import TurnPlayer
from avatar_actors.programs.embedded.tools import new_uuid
from tests.fake_agents.acp import messages
from tests.fake_agents.acp.turn import VariantTurn
from tests.fake_agents.system_prompt import system_prompt

if TYPE_CHECKING:
    from collections.abc import Callable

    from avatar_actors.programs.embedded.process import LineOutput, ProcessControl, StartSettings
    from avatar_actors.programs.embedded.session import Session
    from avatar_actors.programs.embedded.turn import PendingTurns
    from tests.fake_agents.acp.variants import AcpVariant
    from tests.fake_agents.flags import Flags


def speak_acp(
    variant: AcpVariant, flags: Flags, start: StartSettings, control: ProcessControl
) -> None:
    """Speaks ACP as that agent until stdin ends."""
    client = VariantClient(control.output, variant)
    sessions = VariantSessions(client, start, TurnPlayer(control), flags)
    agent = VariantAgent(client, start, lambda: sessions)
    for line in control.lines():
        if line.strip():
            agent.receive(line)
    control.lifetime.end_of_input()


class VariantClient(AcpClient):
    """The client, as an agent sees it that may name its requests by strings."""

    def __init__(self, output: LineOutput, variant: AcpVariant) -> None:
        super().__init__(output, variant)
        self.variant = variant

    def next_id(self) -> object:
        return new_uuid() if self.variant.has_string_ids else super().next_id()


class VariantAgent(AcpAgent):
    """Announces what the variant does."""

    def __init__(
        self, client: VariantClient, start: StartSettings, sessions: Callable[[], AcpSessions]
    ) -> None:
        super().__init__(client, start, sessions)
        self._variant = client.variant

    def initialized(self) -> Record:
        start = self._start
        return messages.initialized(self._variant, start.version, can_load=start.can_load)

    def _initialize(self, message: Record) -> None:
        super()._initialize(message)
        if self._variant.name == "codex-acp" and not self._start.is_mute:
            status = {"kind": "gateway", "label": "Custom model gateway", "detail": "fake"}
            params: Record = {"authStatus": status}
            note: Record = {"jsonrpc": "2.0", "method": "_auth/status_update", "params": params}
            self._client.output.send(note)


class VariantSessions(AcpSessions):
    """Sessions with the methods, modes and models of the variant."""

    def __init__(
        self, client: VariantClient, start: StartSettings, player: TurnPlayer, flags: Flags
    ) -> None:
        self._variant = client.variant
        self._flags = flags
        super().__init__(client, start, player)

    def known_methods(self) -> dict[str, Callable[[Record], Record]]:
        return {**super().known_methods(), "session/set_model": self._set_model}

    def system_prompt(self, params: Record) -> str:
        return system_prompt(self._flags, params)

    def session_state(self, session: Session) -> Record:
        return messages.session_state(self._variant, session)

    def add_turn(self, session: Session, turns: PendingTurns, message: Record) -> None:
        if self._variant.new_prompt_cancels:
            turns.cancel_all()
        turns.add(VariantTurn(session, self._client, message, self._variant))

    def _set_mode(self, params: Record) -> Record:
        if self._variant.name != "gemini":
            return super()._set_mode(params)
        session, mode = self._find(params), text_in(params, "modeId")
        old_mode = session.mode
        self.change_mode(session, mode)
        if mode != old_mode:
            # Gemini CLI 0.61.0 tells of the switch in the words of the agent.
            chunk = text_block(f"[MODE_UPDATE] {mode}")
            update: Record = {"sessionUpdate": "agent_message_chunk", "content": chunk}
            self._client.output.send(self._client.update(session.id, update))
        return {}

    def change_mode(self, session: Session, mode: str) -> None:
        try:
            super().change_mode(session, mode)
        except RpcRefused:
            if self._variant.name != "gemini":
                raise
            details: Record = {"details": f"Invalid or unavailable mode: {mode}"}
            raise RpcRefused(INTERNAL_ERROR, "Internal error", details) from None

    def _set_model(self, params: Record) -> Record:
        session, model = self._find(params), text_in(params, "modelId")
        is_codex = self._variant.name == "codex-acp"
        if is_codex and not model.endswith("]"):
            why = f"Unsupported format of modelId: {model}. Expected: modelId[effort]."
            raise RpcRefused(INTERNAL_ERROR, "Internal error", {"details": why})
        session.model = model
        if is_codex:
            self.show_options(session)
        return {}
