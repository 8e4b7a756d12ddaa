"""A turn as Gemini and Codex play it in ACP."""

from __future__ import annotations

from avatar_actors.programs.embedded.acp import messages as plain
from avatar_actors.programs.embedded.acp.turn import AcpTurn
from avatar_actors.programs.embedded.json_lines import Record
from avatar_actors.programs.embedded.session import title_of
from avatar_actors.programs.embedded.tools import ToolUse, new_id
from avatar_actors.programs.embedded.turn import ALLOWED, CANCELLED, TurnEnded, TurnResult
from tests.fake_agents.acp import messages
from tests.fake_agents.acp.variants import AcpVariant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from avatar_actors.programs.embedded.acp.agent import AcpClient
    from avatar_actors.programs.embedded.cancellation import ReplySlot
    from avatar_actors.programs.embedded.session import Session


class VariantTurn(AcpTurn):
    """Answers one session/prompt with the quirks of one agent."""

    def __init__(
        self, session: Session, client: AcpClient, message: Record, variant: AcpVariant
    ) -> None:
        super().__init__(session, client, message)
        self._variant = variant
        self._message_id = new_id("msg_")
        self._thought_id = ""
        self._open_calls: list[ToolUse] = []

    def begin(self) -> None:
        if self._variant.name == "codex-acp":
            self.update({"sessionUpdate": "session_info_update", "_meta": _thread("active")})

    def show_text(self, text: str) -> None:
        self._thought_id = ""
        super().show_text(text)

    def show_thought(self, text: str) -> None:
        """Codex begins each thought with an empty line of its own."""
        if not self._thought_id:
            self._thought_id = new_id("rs_")
            if prefix := self._variant.thought_prefix:
                super().show_thought(prefix)
        super().show_thought(text)

    def chunk(self, kind: str, text: str) -> Record:
        update: Record = {"sessionUpdate": kind, "content": plain.text_block(text)}
        if self._variant.has_message_ids:
            is_thought = kind == "agent_thought_chunk"
            update["messageId"] = self._thought_id if is_thought else self._message_id
        return self._client.update(self.session.id, update)

    def show_tool_start(self, call: ToolUse) -> None:
        self._open_calls.append(call)
        super().show_tool_start(call)

    def show_tool_end(self, call: ToolUse) -> None:
        self._open_calls = [other for other in self._open_calls if other is not call]
        super().show_tool_end(call)

    def tool_started(self, call: ToolUse) -> Record:
        return messages.tool_started(self._variant, call, self.session.cwd)

    def tool_pending(self, call: ToolUse) -> Record:
        return messages.tool_pending(self._variant, call, self.session.cwd)

    def tool_ended(self, call: ToolUse) -> Record:
        return messages.tool_ended(self._variant, call)

    def run_tools(self, calls: list[ToolUse]) -> None:
        """Gemini 0.61.0 runs even parallel calls one after the other."""
        if self._variant.runs_tools_in_turn:
            for call in calls:
                super().run_tools([call])
        else:
            super().run_tools(calls)

    def ask_permission(self, call: ToolUse) -> str:
        kinds = self._variant.shown_before_asking
        is_free = self.is_free(call)
        if is_free or kinds is None or call.kind in kinds:
            self.show_tool_start(call)
        if is_free:
            return ALLOWED
        answer = self.request_permission(call)
        if answer == ALLOWED:
            return answer
        if self._variant.rejection_is_shown:
            self.show_refusal(call)
        if self._variant.rejection_ends_turn:
            self.ending = TurnResult(CANCELLED)
            raise TurnEnded
        return answer

    def is_free(self, call: ToolUse) -> bool:
        is_edit = call.kind == "edit" and self.session.mode in self._variant.edit_modes
        return is_edit or super().is_free(call)

    def release_on_cancel(self, slot: ReplySlot) -> None:
        """Gemini 0.61.0 hangs until the client answers its open question."""
        if not self._variant.cancel_waits_for_answer:
            super().release_on_cancel(slot)

    def report_usage(self) -> None:
        if "update" in self._variant.usage_forms:
            update = plain.usage_update(self)
            del update["cost"]
            self.update(update)

    def result(self) -> Record:
        return messages.result(self._variant, self)

    def finish(self) -> None:
        """The answer to the prompt, after what Gemini and Codex say before it."""
        if self.ending.reason == CANCELLED and self._variant.name == "gemini":
            self._show_cancelled_tools()
        if self._variant.name == "codex-acp":
            self.update({"sessionUpdate": "session_info_update", "_meta": _thread("idle")})
            self._show_title()
        super().finish()

    def _show_title(self) -> None:
        said = [entry for entry in self.session.history if entry.get("role") == "user"]
        if len(said) == 1 and (title := title_of(said)):
            self.update({"sessionUpdate": "session_info_update", "title": title})

    def _show_cancelled_tools(self) -> None:
        for call in list(self._open_calls):
            call.is_failed = False
            call.output = "Command cancelled by user."
            call.kind = "other" if call.kind != "execute" else call.kind
            content = plain.tool_text(call.output)
            ended = {**self.tool_ended(call), "content": content}
            self.update({"sessionUpdate": "tool_call_update", **ended})


def _thread(state: str) -> Record:
    status: Record = {"type": state}
    if state == "active":
        status["activeFlags"] = []
    return {"codex": {"threadStatus": status}}
