"""What a turn does with its prompt: a script is played if a test allows it, else it is answered."""

from __future__ import annotations

from contextlib import suppress

from avatar_actors.programs.embedded.cancelling import TurnCancelled
from avatar_actors.programs.embedded.errors import INVALID_PARAMS, BadScript
from avatar_actors.programs.embedded.process import in_background
from avatar_actors.programs.embedded.script.script import ScriptPlayer, find_script
from avatar_actors.programs.embedded.turn import AgentTurn, TurnEnded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from avatar_actors.programs.embedded.process import Body


class Performer:
    """Plays turns, with what their steps can do to the process."""

    def __init__(self, body: Body) -> None:
        self._body = body

    def play(self, turn: AgentTurn) -> None:
        """The whole turn, and after its result what the script has for later."""
        turn.run(self.perform)
        if turn.late:
            in_background(lambda: self._play_late(turn))

    def play_alone(self, turn: AgentTurn) -> None:
        """The whole turn and what comes after it, before this returns."""
        turn.run(self.perform)
        self._play_late(turn)

    def perform(self, turn: AgentTurn) -> None:
        """The work of the turn, with the prompts that were folded into it meanwhile."""
        try:
            self._perform(turn)
            while turn.folded:
                turn.prompt = turn.folded.pop(0)
                self._perform(turn)
        except BadScript as error:
            turn.ending.error = {"code": INVALID_PARAMS, "message": str(error)}

    def _perform(self, turn: AgentTurn) -> None:
        script = find_script(turn.prompt) if self._body.plays_scripts else None
        if script is None:
            from avatar_actors.programs.embedded.assistant.assistant import answer  # noqa: PLC0415 - scripts need it not

            answer(turn)
        else:
            ScriptPlayer(turn, self._body).play(script)

    def _play_late(self, turn: AgentTurn) -> None:
        late, turn.late = turn.late, []
        turn.revive()
        # Its result is told; there is nothing left that could end.
        with suppress(BadScript, TurnCancelled, TurnEnded):
            ScriptPlayer(turn, self._body).play(late)
        turn.output.release()
