"""Decides which lines of Claude Code belong to a turn, and how the turn ends."""

from __future__ import annotations

from msgspec import Struct

from avatar_actors.model.events import AvatarEvent
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
from avatar_actors.wire.claude.run import RunOutput
from avatar_actors.wire.claude.tools import ClaudeTasks, ClaudeTools
from avatar_actors.wire.claude.usage import Meter
from avatar_actors.wire.claude.verdict import (
    FOLDED,
    NO_RESULT,
    TAKEN_BACK,
    ResultVerdict,
    verdict_of,
)
from avatar_actors.wire.facts import UNASKED, Fact, UnaskedTurnBegun
from avatar_actors.wire.json_values import text_at
from avatar_actors.wire.mending import SplitSigns
from avatar_actors.wire.phases import Phase, PhaseTracker, Step
from avatar_actors.wire.shared_events import remark


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


class UnaskedRun(Struct):
    """A run that the CLI started by itself; it has said something."""

    is_cancelling: bool = False

    def cancel(self) -> bool:
        """It is to end; False if it was told so before."""
        was_cancelling, self.is_cancelling = self.is_cancelling, True
        return not was_cancelling


class ClaudeTurns:
    """One turn at a time, and what runs besides it.

    The end of a turn is `session_state_changed idle`; a CLI that sends no states ends it with the
    result. The CLI starts runs of its own when a background task is done. What such a run says is
    a turn that nobody asked for: 2.1.325 tells by `command_lifecycle` when it takes up our message,
    and once it did so for one message, nothing before that line is taken for an answer to the next.
    """

    def __init__(
        self, progress: PhaseTracker, tools: ClaudeTools, tasks: ClaudeTasks, meter: Meter
    ) -> None:
        self.hears = False
        # The same, and no half of a character waits for the other.
        self.hears_plainly = False
        self._run = RunOutput(tools, tasks, meter)
        self.speech = self._run.speech
        self._progress = progress
        self._tasks = tasks
        self._turn: ClaudeTurnAccount | None = None
        self.unasked: UnaskedRun | None = None
        # A run has begun that is not the turn's.
        self._is_foreign = False
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
        self._reset()

    def run_begins(self, answers: list[str]) -> list[Fact]:
        """The CLI begins a run, with the messages that it answers: the turn's, or one of its own.

        What it has to say of a sub-agent is the turn's, which waits for that; what it has to say of
        a background command is not, so a turn that has its answer ends here.
        """
        turn, facts = self._turn, list[Fact]()
        is_own = bool(answers) or not self._has_lifecycles or self._tasks.concern_turn
        if turn is not None and turn.verdict is not None and not is_own:
            facts = self._end(turn, turn.verdict)
        self._is_foreign = not self.hears
        return facts

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
        self._turn = self.unasked = None
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
        facts = self._heard_outside()
        return [*facts, *self._run.stream(line)] if self.hears else facts

    def assistant(self, line: AssistantLine) -> list[Fact]:
        """A block of a message."""
        if not self.hears and line.parent_tool_use_id:
            said = "".join(block.text for block in line.message.blocks)
            return [*self._tasks.said(line, said)] if said else []
        facts = self._heard_outside()
        return [*facts, *self._run.assistant(line)] if self.hears else facts

    def user(self, line: UserLine) -> list[Fact]:
        """Results of tools."""
        if not self.hears:
            return [] if line.is_replay or self._is_foreign else self._stray()
        failure = ToolStatus.CANCELLED if self._is_cancelling else ToolStatus.FAILED
        return [*self.speech.results(line, failure)]

    def result(self, result: ClaudeResultLine) -> list[Fact]:
        """A run has ended, and perhaps the turn with it."""
        uuid = text_at(result.uuid)
        if uuid and uuid == self._last_result:
            return [remark("a result came twice")]
        self._last_result = uuid
        turn = self._turn
        is_own = turn is not None and turn.owns(result)
        if self.unasked is not None and not is_own:
            verdict = verdict_of(result, is_cancelling=self._is_cancelling)
            return [*self._run.meter.result(result), *self._end_unasked(verdict)]
        if turn is None:
            return self._result_outside(result)
        facts = [*self._taken_up(turn), *self._run.unsaid(result)] if is_own else []
        facts += self._run.meter.result(result)
        if is_own or (turn.has_begun and turn.verdict is None):
            turn.verdict = verdict_of(result, is_cancelling=self._is_cancelling)
        if is_own and turn.verdict is not None and not self._has_states:
            facts += self._end(turn, turn.verdict)
        return facts

    def state(self, state: str) -> list[Fact]:
        """The CLI is running, waits for a permission, or is idle."""
        self._has_states = True
        turn = self._turn
        if state != "idle":
            if turn is not None:
                turn.is_running = turn.is_running or turn.has_begun
            return []
        self._is_foreign = False
        facts = [] if self.unasked is None else self._end_unasked(NO_RESULT)
        if turn is not None and turn.verdict is not None:
            facts += self._end(turn, turn.verdict)
        elif turn is not None and turn.is_running:
            facts += self._end(turn, NO_RESULT)
        return facts

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
            turn.is_running = True
            return self._taken_up(turn)
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
        facts: list[Fact] = [*self._run.meter.outside(result)]
        if not result.origin:
            facts.append(remark("a result came outside of any turn"))
        return facts

    def _taken_up(self, turn: ClaudeTurnAccount) -> list[Fact]:
        """The CLI works on our prompt now; what it did before that has ended."""
        facts = [] if self.unasked is None else self._end_unasked(FOLDED)
        turn.has_begun = True
        self._listen()
        return facts

    def _heard_outside(self) -> list[Fact]:
        """If nobody asked for what comes now: the beginning of a turn of its own."""
        if self.hears:
            return []
        if not self._is_foreign:
            return self._stray()
        if self._progress.phase is Phase.CLOSED:
            return []
        self._reset()
        self.unasked = UnaskedRun()
        self._listen()
        return [UnaskedTurnBegun(self._tasks.last_notice or "the agent went on by itself")]

    def _end_unasked(self, verdict: ResultVerdict) -> list[Fact]:
        if self._is_cancelling and verdict is NO_RESULT:
            verdict = ResultVerdict(Outcome.CANCELLED)
        facts = self._run.end(UNASKED, verdict)
        self.unasked, self._is_foreign = None, False
        self._reset()
        return facts

    def _reset(self) -> None:
        """Begin with nothing said and nothing used, unless a run that nobody asked for goes on."""
        if self.unasked is None:
            self._run.begin()
        self._listen()

    @property
    def _is_cancelling(self) -> bool:
        if self.unasked is not None:
            return self.unasked.is_cancelling
        return self._progress.phase is Phase.CANCELLING

    def _end(self, turn: ClaudeTurnAccount, verdict: ResultVerdict) -> list[Fact]:
        if self._progress.phase is Phase.CANCELLING and verdict is NO_RESULT:
            verdict = ResultVerdict(Outcome.CANCELLED)
        facts = self._run.end(turn.turn_id, verdict)
        self._turn = None
        self._listen()
        self._progress.go(Step.OVER)
        return facts

    def _listen(self) -> None:
        is_begun = self._turn is not None and self._turn.has_begun
        self.hears = is_begun or self.unasked is not None
        self.hears_plainly = self.hears and not self._halves.half

    def _stray(self) -> list[Fact]:
        if self._has_strayed or self._progress.phase is Phase.CLOSED:
            return []
        self._has_strayed = True
        return [remark("the agent went on outside of any turn; what it said there is left out")]
