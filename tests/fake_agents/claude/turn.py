"""A turn of the fake Claude: init, messages, tool results, permissions and the result."""

from __future__ import annotations

import time

from avatar_actors.programs.embedded.json_lines import (
    Record,
    is_record,
    items_in,
    record_in,
    records_in,
    text_in,
    to_json,
)
from avatar_actors.programs.embedded.tools import ToolUse, new_uuid
from avatar_actors.programs.embedded.turn import (
    ALLOWED,
    CANCELLED,
    DENIED,
    AgentTurn,
    TurnEnded,
    TurnResult,
)
from tests.fake_agents.claude import ending, shapes
from tests.fake_agents.claude.message import ClaudeMessage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from avatar_actors.programs.embedded.cancellation import ReplySlot
    from tests.fake_agents.claude.host import ClaudeHost


class ToolDecision:
    """Whether the tool may run, with which input, and what else the answer asks for."""

    def __init__(self, reply: object) -> None:
        answer = record_in(reply if is_record(reply) else {}, "response")
        self.is_allowed = text_in(answer, "behavior") == "allow"
        self.input = record_in(answer, "updatedInput")
        self.interrupts = answer.get("interrupt") is True and not self.is_allowed
        self.reason = _reason(reply, answer)
        self.allowed_tools: set[str] = set()
        self.mode = ""
        for update in records_in(answer, "updatedPermissions"):
            self.allowed_tools |= {
                text_in(rule, "toolName") for rule in records_in(update, "rules")
            }
            self.mode = text_in(update, "mode", self.mode)


def _reason(reply: object, answer: Record) -> str:
    if not is_record(reply):
        return "Tool permission stream closed before response received"
    if text_in(reply, "subtype") == "error":
        return f"Tool permission request failed: Error: {text_in(reply, 'error')}"
    if text_in(answer, "behavior") == "deny":
        return text_in(answer, "message", "denied")
    return "The canUseTool callback returned an invalid permission result."


class ClaudeTurn(AgentTurn):
    """A user's message being answered, or the end of a background task being told."""

    def __init__(self, host: ClaudeHost, prompt: str, user_uuid: str = "") -> None:
        super().__init__(host.state.session, host.state.output, prompt)
        self._host = host
        self._state = host.state
        self.user_uuid = user_uuid
        self.origin: Record | None = None
        self._message = ClaudeMessage(host.state)
        self._began = 0.0
        self._tools = 0
        self._open_calls: list[ToolUse] = []
        self._denials: list[Record] = []
        self._asked = ""
        self._question: ReplySlot | None = None
        self._data: Record = {}

    def begin(self) -> None:
        """The state, what becomes of the user's message, and init."""
        self._began = time.monotonic()
        state = self._state
        state.enter("running")
        state.lifecycle(self.user_uuid, "started")
        state.send(state.init())
        if state.replays and self.origin is None:
            uuid = self.user_uuid or new_uuid()
            state.send(shapes.replayed(self.prompt, uuid))

    def show_text(self, text: str) -> None:
        """A piece of a text block."""
        self._message.add("text", text)

    def text_line(self, text: str) -> bytes:
        """A piece of a text block as bytes."""
        return self._message.delta_line("text", text)

    def note_text(self, text: str) -> None:
        """The text of deltas that were written as bytes."""
        super().note_text(text)
        self._message.note(text)

    def give_data(self, value: object) -> None:
        """Structured output goes with the result, and ends the turn at once (2.1.325)."""
        if self._state.has_schema:
            self._data = {"structured_output": value, "result": to_json(value)}
            raise TurnEnded
        super().give_data(value)

    def show_thought(self, text: str) -> None:
        """A piece of a thinking block."""
        self._message.add("thinking", text)

    def show_plan(self, entries: list[Record]) -> None:
        """The tool TodoWrite, which is how Claude plans."""
        todos = [{**entry, "activeForm": entry["content"]} for entry in entries]
        self.run_tools([ToolUse("TodoWrite", {"todos": todos}, _todos_written)])

    def show_tool_start(self, call: ToolUse) -> None:
        """A tool_use block."""
        if call.id.startswith("call_"):
            call.id = "toolu_" + call.id.removeprefix("call_")
        self._open_calls.append(call)
        self._message.add_tool(call)

    def run_tools(self, calls: list[ToolUse]) -> None:
        """All the uses in one message, then the results as they come."""
        super().run_tools(calls)
        self._message.close("tool_use")

    def show_tool_end(self, call: ToolUse) -> None:
        """A tool_result; what the user said meanwhile joins the turn here."""
        accepted: Record = {"decision": "accept", "source": "config", "reason_type": "rule"}
        self._end_tool(call, {"permission_decision": accepted})
        self._host.fold_waiting(self)

    def _end_tool(self, call: ToolUse, meta: Record) -> None:
        self._message.close("tool_use")
        self._tools += 1
        self._open_calls = [other for other in self._open_calls if other is not call]
        self._state.send(shapes.tool_result(call, meta))

    def start_task(self, step: Record) -> None:
        """A background task: the turn goes on, and a turn of its own tells its end."""
        task = self._host.tasks.create(step, self.session.cwd)
        self.show_tool_start(task.call)
        self._message.close("tool_use")
        self._host.tasks.start(task)
        self._end_tool(task.receipt(), {})

    def ask_permission(self, call: ToolUse) -> str:
        """can_use_tool, unless the mode or a rule decides; without a host to ask it is denied."""
        self.show_tool_start(call)
        if self._state.allows(call.name, call.kind):
            return ALLOWED
        self._message.close("tool_use")
        if self._state.asks_host and not self._state.input_ended:
            return self._decide(call, ToolDecision(self._ask(call)))
        why = "This tool use requires approval"
        denied: Record = {"tool_name": call.name, "tool_use_id": call.id, "message": why}
        self._state.system("permission_denied", {**denied, "decision_reason_type": "mode"})
        return self._deny(call, why)

    def ask_user(self, question: Record) -> str:
        """The tool AskUserQuestion, whose answers come with the permission to run it."""
        text = text_in(question, "question")
        asked: Record = {
            "question": text,
            "header": text_in(question, "header", "Answer"),
            "options": [
                {"label": str(one), "description": f"This is {one}"}
                for one in items_in(question, "options")
            ],
            "multiSelect": question.get("multiple") is True,
        }
        call = ToolUse("AskUserQuestion", {"questions": [asked]}, _answers_told)
        if self.ask_permission(call) != ALLOWED:
            return call.output
        call.perform()
        self.show_tool_end(call)
        return text_in(record_in(call.input, "answers"), text, "no answer")

    def _ask(self, call: ToolUse) -> object:
        self._state.enter("requires_action")
        reply = self.request("can_use_tool", shapes.can_use_tool(call))
        self._state.enter("running")
        return reply

    def _decide(self, call: ToolUse, verdict: ToolDecision) -> str:
        self.check()
        if verdict.interrupts:
            self.ending = TurnResult(CANCELLED)
            raise TurnEnded
        if not verdict.is_allowed:
            return self._deny(call, verdict.reason)
        call.input = verdict.input or call.input
        self.session.always_allowed |= verdict.allowed_tools
        self.session.mode = verdict.mode or self.session.mode
        return ALLOWED

    def _deny(self, call: ToolUse, why: str) -> str:
        call.output, call.is_failed = why, True
        denial: Record = {"tool_name": call.name, "tool_use_id": call.id, "tool_input": call.input}
        self._denials.append(denial)
        self._end_tool(call, {"non_execution_kind": "user-rejected"})
        return DENIED

    def request(self, method: str, params: Record) -> object:
        """A control request; gives the `response` of its answer."""
        self._asked = new_uuid()
        slot = self._question = self._state.replies.expect(self._asked)
        request: Record = {"subtype": method, **params}
        line: Record = {"type": "control_request", "request_id": self._asked, "request": request}
        self.output.send(line)
        return self.await_reply(slot)

    def take_back_question(self) -> None:
        """Tells the host that an open question needs no answer, for the turn will be cancelled."""
        is_obedient = not self.ignores_cancel and not self.acknowledges_after
        if is_obedient and self._question is not None and not self._question.is_answered:
            self.output.send({"type": "control_cancel_request", "request_id": self._asked})

    def notify(self, method: str, params: Record) -> None:
        """A system line of that subtype."""
        self._state.system(method, params)

    def report_usage(self) -> None:
        """Nothing: the result tells it."""

    def finish(self) -> None:
        """The result, after what an interrupt or an error has to say."""
        if self.ending.reason == CANCELLED:
            self._finish_aborted()
        elif self.ending.error is not None:
            self._message.close(None)
            ended = ending.refused(self.ending.error)
            self._state.send(shapes.synthetic(ended))
            self._result(ended)
        else:
            self._message.close(ending.stop_reason(self.ending))
            ended = ending.ended(self.ending, self._message.last_text)
            self._result({**ended, **self._data})
        self._state.lifecycle(self.user_uuid, "completed")

    def _finish_aborted(self) -> None:
        is_in_tool = bool(self._open_calls)
        self._message.abort()
        for call in list(self._open_calls):
            call.output, call.is_failed = shapes.REJECTED, True
            self._end_tool(call, {"non_execution_kind": "user-rejected"})
        what = " for tool use" if is_in_tool else ""
        self._state.send(shapes.user_text(f"[Request interrupted by user{what}]"))
        self._message.end_aborted()
        self._result(ending.aborted(is_in_tool=is_in_tool))

    def _result(self, ended: Record) -> None:
        state, session = self._state, self.session
        for key, count in self.usage.items():
            state.used[key] = state.used.get(key, 0) + count
        since = shapes.model_usage(session.model, self.usage, self.cost)
        line: Record = {
            **shapes.RESULT,
            **ended,
            "duration_ms": int((time.monotonic() - self._began) * 1000),
            "num_turns": 1 + self._tools,
            "total_cost_usd": session.cost,
            "usage": shapes.result_usage(self.usage),
            "modelUsage": shapes.model_usage(session.model, state.used, session.cost),
            "permission_denials": self._denials,
            "model_usage_since_last_result": since,
            "result_index": state.results,
        }
        if self.origin is not None:
            line["origin"] = self.origin
        if self.user_uuid:
            line["user_message_uuids"] = [self.user_uuid]
        state.results += 1
        state.last_is_error = ended["is_error"] is True
        state.send(line)


def _answers_told() -> str:
    return "Your questions have been answered."


def _todos_written() -> str:
    return "Todos have been modified successfully."
