"""The wire of Claude Code's stream-json and control protocol, 2.1.197 to 2.1.325.

It frames lines, keeps the phase and routes; the other modules of this folder interpret the lines.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from avatar_actors.model.events import DiagnosticEvent
from avatar_actors.model.values import Outcome
from avatar_actors.wire.claude import lines
from avatar_actors.wire.claude.control import ControlProtocol
from avatar_actors.wire.claude.notices import Notices
from avatar_actors.wire.claude.opening import ClaudeBasis, ClaudeOpening
from avatar_actors.wire.claude.outgoing import unacceptable, user_message
from avatar_actors.wire.claude.permissions import ClaudePermissions
from avatar_actors.wire.claude.tools import ClaudeTasks, ClaudeTools
from avatar_actors.wire.claude.turns import ClaudeTurns
from avatar_actors.wire.claude.usage import Meter
from avatar_actors.wire.commands import (
    AnswerFile,
    AnswerPermission,
    AnswerUser,
    Call,
    Cancel,
    Close,
    Command,
    Open,
    Prompt,
    Steer,
)
from avatar_actors.wire.envelope import fields_of, is_too_deep
from avatar_actors.wire.facts import Answered, Fact, TurnOver
from avatar_actors.wire.framing import Lines
from avatar_actors.wire.json_values import (
    UNREADABLE,
    count_at,
    decoded,
    decoded_by,
    is_object,
    shown,
    text_at,
)
from avatar_actors.wire.phases import Phase, PhaseTracker, Step
from avatar_actors.wire.shared_events import remark, unrecognised

MAX_LINE: Final = 64 * 1024 * 1024
UNKNOWN_BASIS: Final = ClaudeBasis()


class ClaudeWire:
    """One connection to one `claude -p --input-format stream-json …`.

    `seed` must differ between processes: the ids of messages are made of it and the turn, and the
    CLI skips a message whose id is in the stored session.
    """

    def __init__(
        self, *, seed: str, max_line: int = MAX_LINE, basis: ClaudeBasis = UNKNOWN_BASIS
    ) -> None:
        self._seed = seed
        self._steers = 0
        self._sendings: Counter[int] = Counter()
        self._lines = Lines(max_line)
        self._out = bytearray()
        self._progress = PhaseTracker()
        self._opening = ClaudeOpening(self._progress, basis)
        self._notices = Notices()
        self._tasks = ClaudeTasks()
        tools = ClaudeTools()
        self._permissions = ClaudePermissions(self._progress, tools, self._out.extend)
        self._conversation = ClaudeTurns(self._progress, tools, self._tasks, Meter())
        self._control = ControlProtocol(
            self._opening, self._conversation, self._permissions, self._notices, self._out.extend
        )
        self._commands = self._command_table()
        self._handlers: dict[type, Callable[[Any], list[Fact]]] = {
            lines.StreamLine: self._conversation.stream,
            lines.AssistantLine: self._conversation.assistant,
            lines.UserLine: self._conversation.user,
            lines.ClaudeResultLine: self._result,
            lines.LifecycleLine: self._conversation.lifecycle,
            lines.ControlRequestLine: self._control.asked,
            lines.ControlResponseLine: self._control.answered,
            lines.ControlCancelLine: lambda line: self._permissions.withdraw(line.request_id),
        }

    def command(self, command: Command) -> list[Fact]:
        """Send the command."""
        return self._commands[type(command)](command)

    def receive(self, data: bytes) -> list[Fact]:
        """The facts in these bytes."""
        facts: list[Fact] = []
        decode, stream_line = lines.line_decoder.decode, lines.StreamLine
        conversation, speech = self._conversation, self._conversation.speech
        for raw in self._lines.feed(data):
            try:
                line = decode(raw)
            except UNREADABLE:
                facts += self._refused(raw)
                continue
            if type(line) is stream_line and conversation.hears_plainly:
                delta = line.event.delta
                if delta is not None and delta.text and not line.parent_tool_use_id:
                    facts.append(speech.text(delta.text))
                    continue
            facts += [*self._conversation.lost_half(), *self._line(line, raw)]
        if overlong := self._lines.take_overlong():
            count = len(overlong)
            facts.append(remark(f"{count} line(s) of the agent were too long and are left out"))
            for head in overlong:
                facts += self._unread(head, "it is longer than max_line")
        self._control.take_back(conversation.left_behind())
        return facts

    def end_of_stream(self) -> list[Fact]:
        """The facts of an unfinished line."""
        rest = self._lines.end()
        half = self._conversation.lost_half()
        cut = [remark(f"the agent stopped within a line: {shown(rest)}")] if rest else []
        return [*half, *cut]

    def data_to_send(self) -> bytes:
        """The bytes to send since the last call."""
        data = bytes(self._out)
        self._out.clear()
        return data

    def _command_table(self) -> dict[type, Callable[[Any], list[Fact]]]:
        return {
            Open: self._open,
            Prompt: self._prompt,
            Steer: self._steer,
            Cancel: self._cancel,
            AnswerPermission: self._permissions.answer,
            AnswerUser: self._permissions.answer_user,
            AnswerFile: lambda _: [remark("Claude Code reads its files by itself")],
            Call: self._call,
            Close: self._close,
        }

    def _open(self, command: Open) -> list[Fact]:
        if not self._progress.go(Step.OPEN):
            return [remark("opened twice")]
        self._opening.begin(command)
        self._control.initialize()
        return []

    def _prompt(self, command: Prompt) -> list[Fact]:
        turn_id = command.turn_id
        error = unacceptable(command.attachments)
        if error or not self._progress.go(Step.PROMPT):
            error = error or f"no prompt is taken while {self._progress.phase.value}"
            return [TurnOver(turn_id=turn_id, outcome=Outcome.REJECTED, error=error)]
        # A retry is another message: one with a known id is ignored.
        again = f" again {sent}" if (sent := self._sendings[turn_id]) else ""
        self._sendings = Counter({turn_id: sent + 1})
        uuid = self._message_id(f"turn {turn_id}{again}")
        self._out += user_message(command.text, command.attachments, uuid)
        self._conversation.begin(turn_id, uuid)
        return []

    def _steer(self, command: Steer) -> list[Fact]:
        # The CLI folds it into the running turn, after the next tool result.
        is_present = command.turn_id == self._conversation.turn_id
        if self._progress.phase is not Phase.TURN or not is_present:
            return [remark(f"turn {command.turn_id} does not run; nothing was said into it")]
        self._steers += 1
        uuid = self._message_id(f"steer {self._steers}")
        self._out += user_message(command.text, (), uuid)
        self._conversation.steered(uuid)
        return []

    def _cancel(self, command: Cancel) -> list[Fact]:
        if command.turn_id < 0:
            return self._cancel_unasked()
        is_present = command.turn_id == self._conversation.turn_id
        if not is_present or not self._progress.go(Step.CANCEL):
            return []
        if self._conversation.unasked is not None:
            # An interrupt would end the run that is under way, which is another turn.
            self._control.take_back(list(self._conversation.own_messages()))
            return []
        self._control.interrupt(self._conversation.own_messages())
        return self._permissions.cancel_all()

    def _cancel_unasked(self) -> list[Fact]:
        unasked = self._conversation.unasked
        if unasked is None or not unasked.cancel():
            return []
        self._control.interrupt(())
        return self._permissions.cancel_all()

    def _call(self, call: Call) -> list[Fact]:
        if self._progress.phase in {Phase.NEW, Phase.CLOSED}:
            return [Answered(call.call_id, error="there is no session")]
        turn_id = call.arguments.get("turn_id")
        if call.action == "rewind_files" and turn_id is not None:
            # The host knows turns, the CLI messages.
            arguments = {**call.arguments, "user_message_id": self._message_id(f"turn {turn_id}")}
            del arguments["turn_id"]
            call = Call(call.call_id, call.action, arguments)
        return self._control.call(call)

    def _close(self, _command: Close) -> list[Fact]:
        if self._progress.go(Step.CLOSE):
            self._control.goodbye()
            self._conversation.close()
        return []

    def _line(self, line: lines.Line, raw: bytes) -> list[Fact]:
        if is_too_deep(raw):
            return [unrecognised(raw, "claude"), *self._unread(raw, "it is nested too deeply")]
        if isinstance(line, lines.SystemLine):
            return [*self._opening.session(line.session_id), *self._system(line.subtype, raw)]
        facts = self._handlers[type(line)](line)
        if isinstance(line, lines.AssistantLine | lines.UserLine | lines.ClaudeResultLine):
            return [*self._opening.session(text_at(line.session_id)), *facts]
        return facts

    def _system(self, subtype: str, raw: bytes) -> list[Fact]:
        fields = decoded(raw)
        if not is_object(fields):
            # Broken UTF-8 in a field that the first decoding skips.
            return [_garbage(raw)]
        if subtype == "init":
            answers = lines.as_texts(fields.get("user_message_uuids"))
            return [*self._conversation.run_begins(answers), *self._notices.init(fields)]
        if subtype == "session_state_changed":
            return self._state(text_at(fields, "state"))
        if subtype == "thinking_tokens":
            self._conversation.speech.thinking_tokens(count_at(fields, "estimated_tokens"))
            return []
        if subtype.startswith("task_"):
            return [*self._tasks.notice(subtype, fields)]
        events = self._notices.notice(subtype, fields)
        return [unrecognised(raw, "claude")] if events is None else [*events]

    def _state(self, state: str) -> list[Fact]:
        # An idle agent has no open permission requests, withdrawn or not.
        forgotten = self._permissions.forget_all() if state == "idle" else []
        return [*forgotten, *self._conversation.state(state)]

    def _result(self, result: lines.ClaudeResultLine) -> list[Fact]:
        if self._progress.phase is Phase.OPENING:
            return self._opening.failed(result)
        return self._conversation.result(result)

    def _refused(self, raw: bytes) -> list[Fact]:
        """A line that does not decode as it is, but may when mended."""
        half, raw = self._conversation.joined(raw)
        line = decoded_by(lines.line_decoder.decode, raw)
        known = self._unknown(raw) if line is None else self._line(line, raw)
        return [*half, *known]

    def _unknown(self, raw: bytes) -> list[Fact]:
        value = decoded(raw)
        if not is_object(value):
            return [_garbage(raw), *self._unread(raw, "it cannot be read")]
        kind = text_at(value, "type")
        if kind.startswith("control_"):
            return [unrecognised(raw, "claude"), *self._unread(raw, "it has not the form of one")]
        events = self._notices.notice(kind, value)
        return [unrecognised(raw, "claude")] if events is None else [*events]

    def _unread(self, raw: bytes, why: str) -> list[Fact]:
        """Handle an unreadable line: refuse a request; an answer counts as an error."""
        fields = fields_of(raw)
        match fields.get("type"):
            case "control_request":
                self._control.refuse(fields.get("request_id"), why)
                return []
            case "control_response":
                error = f"the agent's answer is lost: {why}"
                asked = str(fields.get("response.request_id"))
                return self._control.lost(lines.ControlResponse(asked, "error", error=error))
            case "result":
                error = f"the agent's result is lost: {why}"
                return self._result(lines.ClaudeResultLine(is_error=True, errors=[error]))
            case _:
                return []

    def _message_id(self, name: str) -> str:
        digest = hashlib.sha256(f"{self._seed} {name}".encode()).hexdigest()
        # In the form of a UUID of version 4: the CLI accepts no other.
        return f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-8{digest[17:20]}-{digest[20:32]}"


def _garbage(raw: bytes) -> DiagnosticEvent:
    return remark(f"the agent wrote a line that is no message: {shown(raw)}")
