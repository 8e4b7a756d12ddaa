"""The Agent Client Protocol, version 1, client side: one session with one agent process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from avatar_actors.model.events import TextEvent
from avatar_actors.model.values import Outcome
from avatar_actors.wire.acp.calls import HostCalls, Prompting
from avatar_actors.wire.acp.incoming import AgentRequests, Incoming
from avatar_actors.wire.acp.opening import AcpOpening
from avatar_actors.wire.acp.profile import AcpProfile, can_steer
from avatar_actors.wire.acp.turn import AcpTurnAccount
from avatar_actors.wire.acp.update_tables import MEANINGS
from avatar_actors.wire.acp.update_types import UPDATE_LINE, MessageChunk, UpdateParams, piece_of
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
from avatar_actors.wire.facts import Answered, Fact, TurnOver
from avatar_actors.wire.framing import Lines
from avatar_actors.wire.json_values import UNREADABLE, decoded, decoded_as, is_object, shown
from avatar_actors.wire.jsonrpc import Peer, Reply, RpcMessage
from avatar_actors.wire.mending import SplitSigns
from avatar_actors.wire.phases import Phase, PhaseTracker, Step
from avatar_actors.wire.shared_events import remark, unrecognised

# The commands that are valid in each phase. Others are answered without the agent.
TAKES: Final[Mapping[Phase, frozenset[type[Command]]]] = {
    Phase.NEW: frozenset({Open, Close}),
    Phase.OPENING: frozenset({AnswerFile, Close}),
    Phase.IDLE: frozenset({Prompt, Call, AnswerFile, Close}),
    Phase.TURN: frozenset({Cancel, Steer, AnswerPermission, AnswerUser, AnswerFile, Call, Close}),
    Phase.CANCELLING: frozenset({AnswerFile, Call, Close}),
    Phase.CLOSED: frozenset(),
}

IN_TURN: Final = frozenset({Phase.TURN, Phase.CANCELLING})


class AcpWire:
    """The wire of any ACP agent; the quirks of one are in its profile."""

    def __init__(self, profile: AcpProfile, max_line: int) -> None:
        self._lines = Lines(max_line)
        self._progress = PhaseTracker()
        self._peer = Peer()
        self._turn = AcpTurnAccount(profile)
        self._opening = AcpOpening(self._peer, profile, self._progress, self._turn)
        self._prompting = Prompting(self._peer, self._opening)
        self._calls = HostCalls(self._peer, self._opening, profile)
        self._requests = AgentRequests(self._peer, profile, self._opening, self._turn)
        self._hearing = Incoming(self._peer, profile, self._progress, self._requests)
        self._halves = SplitSigns(b"agent_message_chunk", piece_of)
        self._commands: dict[type, Callable[[Any], list[Fact]]] = {
            Open: self._open,
            Prompt: self._prompt,
            Cancel: self._cancel,
            Steer: self._steer,
            AnswerPermission: self._requests.answer_permission,
            AnswerUser: self._requests.answer_user,
            AnswerFile: self._requests.answer_file,
            Call: self._calls.call,
            Close: self._close,
        }

    def command(self, command: Command) -> list[Fact]:
        """Send the command, if it is valid now."""
        if type(command) not in TAKES[self._progress.phase]:
            return self._out_of_place(command)
        return self._commands[type(command)](command)

    def receive(self, data: bytes) -> list[Fact]:
        """The facts in these bytes."""
        facts: list[Fact] = []
        decode, plain_text = UPDATE_LINE.decode, self._turn.plain_text
        hears, session_id = self._hears()
        for line in self._lines.feed(data):
            try:
                params = decode(line).params
            except UNREADABLE:
                facts += self._read(line)
                hears, session_id = self._hears()
                continue
            update = params.update
            # Nearly all lines are pieces of text: these take the shortest way.
            if hears and type(update) is MessageChunk and params.session_id == session_id:
                event = plain_text(update)
                if event is not None:
                    facts.append(event)
                    continue
            facts += self._updated(params, line)
        if overlong := self._lines.take_overlong():
            facts.append(remark(f"{len(overlong)} line(s) of the agent over the limit; left out"))
            for head in overlong:
                facts += self._hearing.unread(head, "it is longer than max_line")
        return facts

    def end_of_stream(self) -> list[Fact]:
        """The facts of an unfinished line, perhaps a whole message without its end."""
        rest = self._lines.end()
        if not rest:
            return self._lost_half()
        if is_object(decoded(rest)):
            return [*self._read(rest), *self._lost_half()]
        return [*self._lost_half(), remark(f"the agent stopped within a line: {shown(rest)}")]

    def data_to_send(self) -> bytes:
        """The bytes to send since the last call."""
        return self._peer.data_to_send()

    # What the host says.

    def _out_of_place(self, command: Command) -> list[Fact]:
        phase = self._progress.phase.value
        match command:
            case Prompt(turn_id):
                error = f"the agent takes no prompt now: the connection is {phase}"
                return [TurnOver(turn_id=turn_id, outcome=Outcome.REJECTED, error=error)]
            case Call(call_id):
                return [Answered(call_id, error=f"not now: the connection is {phase}")]
            case Open() | Steer():
                return [remark(f"{type(command).__name__} means nothing now ({phase})")]
            case _:
                return []

    def _open(self, command: Open) -> list[Fact]:
        self._progress.go(Step.OPEN)
        self._opening.begin(command)
        return []

    def _prompt(self, command: Prompt) -> list[Fact]:
        refusal = self._prompting.send(command, self._prompt_answered)
        if refusal:
            over = TurnOver(turn_id=command.turn_id, outcome=Outcome.REJECTED, error=refusal)
            return [over]
        self._turn.begin(command.turn_id)
        self._progress.go(Step.PROMPT)
        return []

    def _prompt_answered(self, reply: Reply) -> list[Fact]:
        is_cancelling = self._progress.phase is Phase.CANCELLING
        self._progress.go(Step.OVER)
        withdrawn = self._requests.forget_questions()
        return [*withdrawn, *self._turn.end(reply, is_cancelling=is_cancelling)]

    def _cancel(self, command: Cancel) -> list[Fact]:
        if command.turn_id != self._turn.turn_id:
            return []
        self._peer.notify("session/cancel", {"sessionId": self._opening.session_id})
        self._progress.go(Step.CANCEL)
        return self._requests.cancel_questions()

    def _steer(self, command: Steer) -> list[Fact]:
        if command.turn_id != self._turn.turn_id:
            return []
        if not can_steer(self._opening.agent):
            return [remark("the agent takes no words into a running turn")]
        self._prompting.steer(command.text)
        return []

    def _close(self, _: Close) -> list[Fact]:
        if self._progress.phase is Phase.TURN:
            self._cancel(Cancel(self._turn.turn_id))
        self._opening.leave()
        self._progress.go(Step.CLOSE)
        return []

    # What the agent says.

    def _read(self, line: bytes) -> list[Fact]:
        message = None if is_too_deep(line) else decoded_as(RpcMessage, line)
        if message is None or message.method != "session/update":
            return [*self._lost_half(), *self._hearing.heard(message, line)]
        lost: list[Fact] = []
        if self._progress.phase in IN_TURN:
            half, whole = self._halves.joined(line)
            lost = [TextEvent(text=half)] if half else []
            if whole is not line:
                message = decoded_as(RpcMessage, whole) or message
        # A readable message needs no more mending.
        params = decoded_as(UpdateParams, message.params)
        return [*lost, *(self._told(params) if params else [unrecognised(line, "acp")])]

    def _updated(self, params: UpdateParams, line: bytes) -> list[Fact]:
        told = [unrecognised(line, "acp")] if is_too_deep(line) else self._told(params)
        return [*self._lost_half(), *told]

    def _told(self, params: UpdateParams) -> list[Fact]:
        # Updates of a new session may come before its id.
        if params.session_id != self._opening.session_id and self._opening.session_id:
            return self._turn.late(f"news of another session, {params.session_id[:80]!r}")
        return MEANINGS[self._progress.phase][type(params.update)](self._turn, params.update)

    def _lost_half(self) -> list[Fact]:
        half = self._halves.left_over()
        return [TextEvent(text=half)] if half else []

    def _hears(self) -> tuple[bool, str]:
        """Whether text takes the shortest way (in a turn, not amid a character), and whose text."""
        hears = self._progress.phase in IN_TURN and not self._halves.half
        return hears, self._opening.session_id
