"""Decides which lines of Claude Code belong to a turn, and how the turn ends."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from avatar_actors.model.events import AvatarEvent, TextEvent
from avatar_actors.model.values import Outcome, ToolStatus
from avatar_actors.wire.claude.lines import (
    AssistantLine,
    ClaudeResultLine,
    LifecycleLine,
    StreamLine,
    UserLine,
    as_object,
    as_texts,
    piece_of,
)
from avatar_actors.wire.claude.model_output import ModelOutput
from avatar_actors.wire.claude.tools import ClaudeTasks, ClaudeTools
from avatar_actors.wire.claude.usage import Meter
from avatar_actors.wire.facts import Fact, TurnOver
from avatar_actors.wire.json_values import text_at
from avatar_actors.wire.mending import SplitSigns
from avatar_actors.wire.phases import Phase, PhaseTracker, Step
from avatar_actors.wire.shared_events import agent_warning, remark

LOGIN_ADVICE: Final = "Run `claude` once and log in there, or set ANTHROPIC_API_KEY."
LOGIN_COMMAND: Final = "/login"
UNAUTHORISED: Final = 401
REFUSAL: Final = "refusal"
ABORTED: Final = "aborted_"
EXECUTION_ERROR: Final = "error_during_execution"


class ResultVerdict(Struct, frozen=True):
    """What a result means for the turn."""

    outcome: Outcome
    stop_reason: str = ""
    error: str = ""
    data: Any = None
    needs_login: bool = False


class ClaudeTurnAccount(Struct):
    """The current turn.

    One user message is not one result: it may be folded into a run that a background task started,
    and such a run may follow the answer. `has_begun`: the CLI has started with the prompt, so what
    comes now belongs to it.
    """

    turn_id: int
    uuid: str
    has_begun: bool
    is_running: bool = False
    verdict: ResultVerdict | None = None

    def owns(self, result: ClaudeResultLine) -> bool:
        """Whether the result belongs to this turn's prompt.

        2.1.325 names the messages that were answered and gives an `origin` to results of runs that
        nobody prompted; 2.1.197 does neither and has no such runs.
        """
        answered = as_texts(result.user_message_uuids)
        return self.uuid in answered if answered else not as_object(result.origin)


def verdict_of(result: ClaudeResultLine, *, is_cancelling: bool) -> ResultVerdict:
    """What the result means. `is_error` decides: an API error has the subtype "success"."""
    subtype = text_at(result.subtype)
    terminal = text_at(result.terminal_reason)
    stop_reason = text_at(result.stop_reason)
    if terminal.startswith(ABORTED) or (is_cancelling and subtype == EXECUTION_ERROR):
        return ResultVerdict(Outcome.CANCELLED, terminal or subtype)
    if stop_reason == REFUSAL:
        return ResultVerdict(Outcome.REFUSED, REFUSAL, text_at(result.result))
    if result.is_error:
        return ResultVerdict(
            Outcome.FAILED,
            terminal or subtype,
            error_of(result),
            needs_login=wants_login(result),
        )
    return ResultVerdict(Outcome.COMPLETED, stop_reason, data=result.structured_output)


def error_of(result: ClaudeResultLine) -> str:
    """The words of a failed result."""
    words = _words(result)
    status = result.api_error_status
    if isinstance(status, int) and str(status) not in words:
        words = f"{words} (HTTP {status})".strip()
    if wants_login(result):
        # "Not logged in · Please run /login": a host cannot run such a command.
        words = f"{words} {LOGIN_ADVICE}"
    return words or text_at(result.subtype) or "the agent gave no reason"


def wants_login(result: ClaudeResultLine) -> bool:
    """Whether the run failed for want of a login, or of one that is accepted."""
    return LOGIN_COMMAND in _words(result) or result.api_error_status == UNAUTHORISED


def _words(result: ClaudeResultLine) -> str:
    return text_at(result.result) or "; ".join(as_texts(result.errors))


NO_RESULT = ResultVerdict(Outcome.FAILED, error="the agent ended its turn without a result")
TAKEN_BACK = ResultVerdict(Outcome.CANCELLED, "cancelled before it began")


class ClaudeTurns:
    """One turn at a time, and what runs besides it.

    The end of a turn is `session_state_changed idle`; a CLI that sends no states ends it with the
    result. The CLI starts runs of its own when a background task is done. What such a run says
    belongs to no turn: 2.1.325 tells by `command_lifecycle` when it takes up our message, and once
    it did so for one message, nothing before that line is taken for an answer to the next.
    """

    def __init__(
        self, progress: PhaseTracker, tools: ClaudeTools, tasks: ClaudeTasks, meter: Meter
    ) -> None:
        self.hears = False
        # The same, and no half of a character waits for the other.
        self.hears_plainly = False
        self.speech = ModelOutput(tools, tasks)
        self._progress = progress
        self._tools = tools
        self._tasks = tasks
        self._meter = meter
        self._turn: ClaudeTurnAccount | None = None
        self._steers: set[str] = set()
        self._has_lifecycles = False
        self._has_states = False
        self._has_strayed = False
        self._last_result = ""
        self._halves = SplitSigns(b"stream_event", piece_of)

    @property
    def turn_id(self) -> int | None:
        """The current turn."""
        return self._turn.turn_id if self._turn else None

    def begin(self, turn_id: int, uuid: str) -> None:
        """A prompt was sent."""
        self._turn = ClaudeTurnAccount(turn_id, uuid, has_begun=not self._has_lifecycles)
        self._has_strayed = False
        self._meter.begin()
        self.speech.begin_turn()
        self._listen()

    def steered(self, uuid: str) -> None:
        """Another message was sent into the turn."""
        self._steers.add(uuid)

    def own_messages(self) -> tuple[str, ...]:
        """The messages of the current turn that may still be queued."""
        return (self._turn.uuid, *self._steers) if self._turn else ()

    def is_cancelling(self, uuid: str) -> bool:
        """Whether this is the prompt of the current turn, which is being cancelled."""
        is_present = self._turn is not None and self._turn.uuid == uuid
        return is_present and self._progress.phase is Phase.CANCELLING

    def left_behind(self) -> list[str]:
        """Messages that the turn ended without; they would start a run of their own."""
        if self._turn is not None or not self._steers:
            return []
        waiting = sorted(self._steers)
        self._steers.clear()
        return waiting

    def close(self) -> None:
        """Ignore everything from now on."""
        self._turn = None
        self._listen()

    def joined(self, raw: bytes) -> tuple[list[Fact], bytes]:
        """For a refused line: the events before it, and the line with its text joined."""
        if not self.hears:
            return [], raw
        half, raw = self._halves.joined(raw)
        self._listen()
        return [self.speech.text(half)] if half else [], raw

    def lost_half(self) -> list[AvatarEvent]:
        """Half a character waited for the other, and something else came."""
        half = self._halves.left_over()
        if not half:
            return []
        self._listen()
        return [self.speech.text(half)]

    def stream(self, line: StreamLine) -> list[Fact]:
        """An event of the model's stream."""
        if line.parent_tool_use_id:
            return []
        if not self.hears:
            return self._stray()
        delta = line.event.delta
        if delta is not None and delta.text:
            return [self.speech.text(delta.text)]
        facts: list[Fact] = [*self.speech.stream(line.event)]
        if line.event.type == "message_delta" and line.event.usage:
            facts += self._meter.message(line.event.usage)
        return facts

    def assistant(self, line: AssistantLine) -> list[Fact]:
        """A block of a message."""
        if not self.hears and not line.parent_tool_use_id:
            return self._stray()
        if not self.hears:
            said = "".join(block.text for block in line.message.blocks)
            return [*self._tasks.said(line, said)] if said else self._stray()
        if line.error and not line.parent_tool_use_id:
            # "Not logged in", "API Error: 500": not of the model. The result repeats it.
            return [agent_warning("".join(block.text for block in line.message.blocks))]
        return [*self.speech.assistant(line)]

    def user(self, line: UserLine) -> list[Fact]:
        """Results of tools."""
        if not self.hears:
            return [] if line.is_replay else self._stray()
        is_cancelling = self._progress.phase is Phase.CANCELLING
        failure = ToolStatus.CANCELLED if is_cancelling else ToolStatus.FAILED
        return [*self.speech.results(line, failure)]

    def result(self, result: ClaudeResultLine) -> list[Fact]:
        """A run has ended, and perhaps the turn with it."""
        uuid = text_at(result.uuid)
        if uuid and uuid == self._last_result:
            return [remark("a result came twice")]
        self._last_result = uuid
        turn = self._turn
        if turn is None:
            return self._result_outside(result)
        is_own = turn.owns(result)
        if is_own:
            turn.has_begun = True
            self._listen()
        facts: list[Fact] = [] if turn.has_begun else [*self._reported(result)]
        if is_own and not self.speech.has_text and not result.is_error and text_at(result.result):
            # A local command, or structured output: the answer is nowhere else.
            facts.append(TextEvent(text=text_at(result.result), is_complete=True))
        facts += self._meter.result(result)
        if is_own or (turn.has_begun and turn.verdict is None):
            is_cancelling = self._progress.phase is Phase.CANCELLING
            turn.verdict = verdict_of(result, is_cancelling=is_cancelling)
        if is_own and turn.verdict is not None and not self._has_states:
            facts += self._end(turn, turn.verdict)
        return facts

    def state(self, state: str) -> list[Fact]:
        """The CLI is running, waits for a permission, or is idle."""
        self._has_states = True
        turn = self._turn
        if turn is None:
            return []
        if state != "idle":
            turn.is_running = turn.is_running or turn.has_begun
            return []
        if turn.verdict is not None:
            return self._end(turn, turn.verdict)
        return self._end(turn, NO_RESULT) if turn.is_running else []

    def lifecycle(self, line: LifecycleLine) -> list[Fact]:
        """The new state of a message of ours."""
        self._has_lifecycles = True
        if line.state == "queued":
            return []
        self._steers.discard(line.command_uuid)
        if line.state == "cancelled":
            return self.taken_back(line.command_uuid)
        turn = self._turn
        if turn and turn.uuid == line.command_uuid:
            turn.has_begun = turn.is_running = True
            self._listen()
        return []

    def taken_back(self, uuid: str) -> list[Fact]:
        """A message was cancelled; if the CLI had not started with it, nothing more will come.

        2.1.325 says so of an interrupted one too, between the result and idle.
        """
        turn = self._turn
        if turn is None or turn.uuid != uuid or turn.is_running or turn.verdict:
            return []
        return self._end(turn, TAKEN_BACK)

    def _result_outside(self, result: ClaudeResultLine) -> list[Fact]:
        self._has_strayed = False
        if self._progress.phase is Phase.CLOSED:
            return []
        facts: list[Fact] = [*self._meter.outside(result), *self._reported(result)]
        if not result.origin:
            facts.append(remark("a result came outside of any turn"))
        return facts

    def _reported(self, result: ClaudeResultLine) -> list[AvatarEvent]:
        return [*self._tasks.reported(text_at(result.origin, "runId"), text_at(result.result))]

    def _end(self, turn: ClaudeTurnAccount, verdict: ResultVerdict) -> list[Fact]:
        if self._progress.phase is Phase.CANCELLING and verdict is NO_RESULT:
            verdict = ResultVerdict(Outcome.CANCELLED)
        is_cancelled = verdict.outcome is Outcome.CANCELLED
        left = ToolStatus.CANCELLED if is_cancelled else ToolStatus.UNKNOWN
        facts: list[Fact] = [*self.speech.end_turn(), *self._tools.end_turn(left)]
        over = TurnOver(
            turn_id=turn.turn_id,
            outcome=verdict.outcome,
            stop_reason=verdict.stop_reason,
            error=verdict.error,
            usage=self._meter.turn,
            data=verdict.data,
            needs_login=verdict.needs_login,
        )
        self._turn = None
        self._listen()
        self._progress.go(Step.OVER)
        return [*facts, over]

    def _listen(self) -> None:
        self.hears = self._turn is not None and self._turn.has_begun
        self.hears_plainly = self.hears and not self._halves.half

    def _stray(self) -> list[Fact]:
        if self._has_strayed or self._progress.phase is Phase.CLOSED:
            return []
        self._has_strayed = True
        return [remark("the agent went on outside of any turn; what it said there is left out")]
