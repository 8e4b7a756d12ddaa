"""The fake Claude: hears the host's lines and keeps the line of turns."""

from __future__ import annotations

from avatar_actors.programs.embedded.json_lines import (
    Record,
    decode,
    is_items,
    is_record,
    record_in,
    text_in,
)
from avatar_actors.programs.embedded.tools import new_uuid
from tests.fake_agents.claude import shapes
from tests.fake_agents.claude.tasks import BackgroundTasks
from tests.fake_agents.claude.turn import ClaudeTurn
from tests.fake_agents.turns import FoldingPlayer, ObservedTurns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from avatar_actors.programs.embedded.turn import AgentTurn
    from tests.fake_agents.claude.state import ClaudeState


class FatalLine(Exception):
    """A line from the host that ends the process (2.1.325)."""


class ClaudeHost:
    """The host on the other side: its messages become turns, its answers find who waits."""

    def __init__(self, state: ClaudeState, player: FoldingPlayer) -> None:
        self.state = state
        self.turns = ObservedTurns(player.play, self._on_idle)
        self._player = player
        self.tasks = BackgroundTasks(state, self._follow_up, self.turns.settle)

    def hear_user(self, message: Record) -> None:
        """A user's message: a turn, unless the running one takes it in."""
        inner = message.get("message")
        if not is_record(inner) or inner.get("role") != "user":
            raise FatalLine("Error: Expected message role 'user'")
        uuid = text_in(message, "uuid")
        self.state.lifecycle(uuid, "queued")
        self.turns.add(ClaudeTurn(self, _text(inner.get("content")), uuid))

    def hear_answer(self, message: Record) -> None:
        """The answer to a control request of ours."""
        response = record_in(message, "response")
        self.state.replies.deliver(response.get("request_id"), response)

    def prepare_interrupt(self) -> list[str]:
        """Takes back what the running turn asks; the uuids of what still waits."""
        current = self.turns.current()
        if isinstance(current, ClaudeTurn):
            current.take_back_question()
        waiting = [turn for turn in self.turns.waiting() if isinstance(turn, ClaudeTurn)]
        return [turn.user_uuid for turn in waiting if turn.user_uuid]

    def interrupt(self) -> None:
        """Aborts the running turn and the background agents."""
        self.tasks.stop_agents()
        self.turns.cancel_current()

    def forget(self, uuid: str) -> bool:
        """Takes a waiting message back; whether it was there."""
        taken = self.turns.take(
            lambda turn: isinstance(turn, ClaudeTurn) and turn.user_uuid == uuid
        )
        for _ in taken:
            self.state.lifecycle(uuid, "cancelled")
        return bool(taken)

    def fold_waiting(self, turn: ClaudeTurn) -> None:
        """Gives the running turn what the user said meanwhile; it gets no result of its own."""
        for waiting in self.turns.take(_is_of_user):
            if isinstance(waiting, ClaudeTurn):
                self._fold(turn, waiting)

    def _fold(self, turn: ClaudeTurn, waiting: ClaudeTurn) -> None:
        uuid = waiting.user_uuid
        if self.state.replays:
            self.state.send(shapes.replayed(waiting.prompt, uuid or new_uuid()))
        self.state.lifecycle(uuid, "started")
        self._player.fold(turn, waiting.prompt)
        self.state.session.remember("user", waiting.prompt)
        self.state.lifecycle(uuid, "completed")

    def wait_until_done(self) -> None:
        """Returns once all turns and tasks have ended: the end of stdin cancels nothing."""
        self.state.input_ended = True
        self.state.replies.release_all()
        self.turns.wait_until_idle()
        self.tasks.wait_until_none()
        self.turns.wait_until_idle()

    def _follow_up(self, prompt: str, origin: Record) -> None:
        turn = ClaudeTurn(self, prompt)
        turn.origin = origin
        self.turns.add(turn)

    def _on_idle(self) -> None:
        if not self.tasks.has_agents:
            self.state.enter("idle")


def parse(line: bytes) -> Record | None:
    """The message of a line; None for one that is ignored."""
    try:
        message = decode(line)
    except ValueError:
        size = len(line)
        raise FatalLine(
            f"Error parsing streaming input line (type=user, {size} chars): SyntaxError"
        ) from None
    return message if is_record(message) else None


def _is_of_user(turn: AgentTurn) -> bool:
    return isinstance(turn, ClaudeTurn) and turn.origin is None


def _text(content: object) -> str:
    if not is_items(content):
        return str(content)
    blocks = [block for block in content if is_record(block)]
    return "\n".join(text_in(block, "text") for block in blocks if block.get("type") == "text")
