"""The wire of Gemini's headless mode through our shim: a process per prompt as one connection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from avatar_actors.model.command_line import command_line, is_session_id, unusable_session
from avatar_actors.model.events import ContinuityEvent, DiagnosticEvent, SessionInfoEvent, TextEvent
from avatar_actors.model.values import (
    Continuity,
    Level,
    Outcome,
    PermissionBasis,
    ProviderCapabilities,
    ToolStatus,
    Usage,
)
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
from avatar_actors.wire.envelope import is_too_deep
from avatar_actors.wire.facts import (
    Answered,
    Broken,
    Fact,
    Opened,
    OpenFailed,
    OpenFailure,
    SessionRenamed,
    TurnOver,
)
from avatar_actors.wire.framing import Lines, json_line
from avatar_actors.wire.gemini import lines
from avatar_actors.wire.gemini.turn import (
    GeminiTools,
    prompt_text,
    turn_over,
    unacceptable,
    usage_of,
)
from avatar_actors.wire.json_values import UNREADABLE, decoded, decoded_by, is_object, shown
from avatar_actors.wire.mending import SplitSigns
from avatar_actors.wire.phases import Phase, PhaseTracker, Step
from avatar_actors.wire.shared_events import cost_event, impossible, remark, unrecognised

MAX_LINE: Final = 64 * 1024 * 1024
ON_TRUST: Final = PermissionBasis.ON_TRUST
CAPABILITIES: Final = ProviderCapabilities(
    agent="Gemini CLI (headless)",
    can_load_session=True,
    system_prompt="native",
    parallel_tools=True,
    attachments=("text",),
)
UNCHECKED: Final = "gemini looks for the session with the first prompt"


class GeminiHeadlessWire:
    """One connection to the shim; a turn ends with its process, not with its result."""

    def __init__(
        self, *, max_line: int = MAX_LINE, permissions: PermissionBasis = ON_TRUST
    ) -> None:
        self._permissions = permissions
        self._lines = Lines(max_line)
        self._out = bytearray()
        self._progress = PhaseTracker()
        self._hello: lines.HelloLine | None = None
        self._wish = Open(cwd="")
        self._session_id = ""
        self._is_stored = False
        self._is_unchecked = False
        self._model = ""
        self._tools = GeminiTools()
        self._turn_id = 0
        self._hears = False
        self._has_strayed = False
        self._result: lines.GeminiResultLine | None = None
        self._halves = SplitSigns(b"assistant", lines.piece_of)
        self._commands: dict[type, Callable[[Any], list[Fact]]] = {
            Open: self._open,
            Prompt: self._prompt,
            Steer: lambda _: [remark("gemini takes nothing into a running turn")],
            Cancel: self._cancel,
            AnswerPermission: lambda _: [remark("gemini asks for no permission in this mode")],
            AnswerUser: lambda _: [remark("gemini asks its user nothing in this mode")],
            AnswerFile: lambda _: [remark("gemini reads its files by itself")],
            Call: lambda call: [Answered(call.call_id, error="gemini cannot do that in this mode")],
            Close: self._close,
        }
        self._handlers: dict[type, Callable[[Any], list[Fact]]] = {
            lines.HelloLine: self._heard_hello,
            lines.InitLine: self._init,
            lines.MessageLine: self._message,
            lines.ToolUseLine: self._tool_use,
            lines.ToolResultLine: self._tool_result,
            lines.ErrorLine: self._error,
            lines.GeminiResultLine: self._heard_result,
            lines.ExitLine: self._exit,
        }

    def command(self, command: Command) -> list[Fact]:
        """Send the command."""
        return self._commands[type(command)](command)

    def receive(self, data: bytes) -> list[Fact]:
        """The facts in these bytes."""
        facts: list[Fact] = []
        message_line, halves = lines.MessageLine, self._halves
        for raw in self._lines.feed(data):
            try:
                line = lines.line_decoder.decode(raw)
            except UNREADABLE:
                facts += self._refused(raw)
                continue
            is_message = type(line) is message_line and self._hears
            if is_message and line.role == "assistant" and line.content and not halves.half:
                facts.append(TextEvent(text=line.content, is_complete=not line.delta))
            else:
                facts += [*self._lost_half(), *self._line(line, raw)]
        if overlong := self._lines.take_overlong():
            count = len(overlong)
            facts.append(remark(f"{count} line(s) of gemini were too long and are left out"))
        return facts

    def end_of_stream(self) -> list[Fact]:
        """The facts of an unfinished line."""
        rest = self._lines.end()
        left: list[Fact] = self._lost_half()
        return [*left, remark(f"the shim stopped within a line: {shown(rest)}")] if rest else left

    def _line(self, line: lines.Line, raw: bytes) -> list[Fact]:
        if is_too_deep(raw):
            return [unrecognised(raw, "gemini")]
        if type(line) is lines.MessageLine and self._hears and line.role == "assistant":
            text = TextEvent(text=line.content, is_complete=not line.delta)
            return [text] if line.content else []
        return self._handlers[type(line)](line)

    def _refused(self, raw: bytes) -> list[Fact]:
        """A line that does not decode as it is, but may when mended."""
        lost: list[Fact] = []
        if self._hears:
            half, raw = self._halves.joined(raw)
            lost = [TextEvent(text=half)] if half else []
        line = decoded_by(lines.line_decoder.decode, raw)
        if line is not None:
            return [*lost, *self._line(line, raw)]
        is_message = is_object(decoded(raw))
        garbage = remark(f"gemini wrote a line that is no message: {shown(raw)}")
        return [*lost, unrecognised(raw, "gemini") if is_message else garbage]

    def _lost_half(self) -> list[Fact]:
        half = self._halves.left_over()
        return [TextEvent(text=half)] if half else []

    def data_to_send(self) -> bytes:
        """The bytes to send since the last call."""
        data = bytes(self._out)
        self._out.clear()
        return data

    def _open(self, command: Open) -> list[Fact]:
        if not self._progress.go(Step.OPEN):
            return [remark("opened twice")]
        self._wish = command
        self._is_stored = self._is_unchecked = bool(command.resume)
        return self._heard_hello(self._hello) if self._hello else []

    def _heard_hello(self, hello: lines.HelloLine) -> list[Fact]:
        self._hello = hello
        if self._progress.phase is not Phase.OPENING:
            return []
        if hello.error:
            self._progress.go(Step.REFUSED)
            return [OpenFailed(OpenFailure.NOT_FOUND, hello.error, _advice(hello.error))]
        self._progress.go(Step.OPENED)
        resume = self._wish.resume
        self._session_id = resume or hello.session_id
        opened = Opened(
            session_id=self._session_id,
            capabilities=replace(CAPABILITIES, permissions=self._permissions),
            continuity=Continuity.PENDING if resume else Continuity.NEW,
            why=UNCHECKED if resume else "",
            model=self._wish.model,
            mode=self._wish.mode,
            # An unknown tool is reported as used, too, and then as failed.
            asks_after_start=True,
        )
        return [opened]

    def _prompt(self, command: Prompt) -> list[Fact]:
        error = unacceptable(command)
        if error or not self._progress.go(Step.PROMPT):
            error = error or f"no prompt is taken while {self._progress.phase.value}"
            over = TurnOver(turn_id=command.turn_id, outcome=Outcome.REJECTED, error=error)
            return [over]
        self._turn_id, self._result = command.turn_id, None
        self._hears, self._has_strayed = True, False
        flag = "--resume" if self._is_stored else "--session-id"
        flags = [(flag, self._session_id)] if self._session_id else []
        args = command_line((), flags)
        order = {"turn": command.turn_id, "prompt": prompt_text(command), "args": args}
        self._out += json_line(order)
        return []

    def _cancel(self, command: Cancel) -> list[Fact]:
        if command.turn_id == self._turn_id and self._progress.go(Step.CANCEL):
            self._out += json_line({"cancel": command.turn_id})
        return []

    def _close(self, _command: Close) -> list[Fact]:
        # The shim ends with its stdin.
        self._hears = False
        self._progress.go(Step.CLOSE)
        return []

    def _init(self, line: lines.InitLine) -> list[Fact]:
        facts: list[Fact] = []
        if line.session_id and not is_session_id(line.session_id):
            facts.append(remark(unusable_session(line.session_id)))
        elif line.session_id and line.session_id != self._session_id:
            self._session_id = line.session_id
            facts.append(SessionRenamed(line.session_id))
        if line.model and line.model != self._model:
            self._model = line.model
            facts.append(SessionInfoEvent(model=line.model))
        return facts

    def _message(self, _line: lines.MessageLine) -> list[Fact]:
        if not self._hears:
            return self._stray()
        # The echoed prompt: from here on there is a session to resume.
        self._is_stored = True
        return self._checked(Continuity.RESUMED, "")

    def _tool_use(self, line: lines.ToolUseLine) -> list[Fact]:
        return [*self._tools.started(line)] if self._hears else self._stray()

    def _tool_result(self, line: lines.ToolResultLine) -> list[Fact]:
        if not self._hears:
            return self._stray()
        lost = remark(f"a result came for a tool call that is not open: {line.tool_id[:80]!r}")
        return [*self._tools.finished(line)] or [lost]

    def _error(self, line: lines.ErrorLine) -> list[Fact]:
        level = Level.ERROR if line.severity == "error" else Level.WARNING
        return [DiagnosticEvent(message=line.message, level=level, source="agent")]

    def _heard_result(self, line: lines.GeminiResultLine) -> list[Fact]:
        if not self._hears:
            return self._stray()
        if self._result is not None:
            return [remark("a result came twice")]
        self._result = line
        return [*impossible(line.stats), cost_event(usage_of(line))]

    def _exit(self, line: lines.ExitLine) -> list[Fact]:
        if not self._hears or line.turn != self._turn_id:
            return [remark(f"a process ended that belongs to no turn: {line.turn}")]
        usage = usage_of(self._result) if self._result else Usage()
        is_cancelling = self._progress.phase is Phase.CANCELLING
        over = turn_over(line, self._result, usage=usage, is_cancelling=is_cancelling)
        is_cancelled = over.outcome is Outcome.CANCELLED
        lost: list[Fact] = []
        if over.outcome is Outcome.FAILED and self._is_unchecked:
            # It has no such session: the next prompt starts a new one.
            self._is_stored, self._session_id = False, ""
            lost = self._checked(Continuity.FRESH, over.error)
        left = self._tools.end_turn(ToolStatus.CANCELLED if is_cancelled else ToolStatus.UNKNOWN)
        self._hears = False
        self._progress.go(Step.OVER)
        # A process that died may have left others behind: the session ends with all its processes.
        end: list[Fact] = [Broken(over.error)] if over.outcome is Outcome.CRASHED else []
        return [*lost, *left, over, *end]

    def _checked(self, continuity: Continuity, why: str) -> list[Fact]:
        if not self._is_unchecked:
            return []
        self._is_unchecked = False
        event = ContinuityEvent(continuity=continuity, session_id=self._session_id, why=why)
        return [event]

    def _stray(self) -> list[Fact]:
        if self._has_strayed or self._progress.phase is Phase.CLOSED:
            return []
        self._has_strayed = True
        return [remark("gemini went on outside of any turn; what it said there is left out")]


def _advice(problem: str) -> str:
    if "executed" in problem:
        return f"chmod +x {problem.split(maxsplit=1)[0]}"
    return "Install it with `npm install -g @google/gemini-cli`."
