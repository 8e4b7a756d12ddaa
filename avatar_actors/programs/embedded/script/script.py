"""Scripts: the steps that a test puts into a prompt or the start, found, checked and played."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from avatar_actors.programs.embedded.cancellation import TurnCancelled
from avatar_actors.programs.embedded.json_lines import (
    Record,
    decode,
    is_items,
    is_record,
    number_in,
    record_in,
    records_in,
    to_json,
)
from avatar_actors.programs.embedded.process import in_background
from avatar_actors.programs.embedded.script.faults import PROCESS_STEPS, BadScript, sleep
from avatar_actors.programs.embedded.script.turn_steps import TURN_STEPS, is_early
from avatar_actors.programs.embedded.tools import ToolUse, scripted_call
from avatar_actors.programs.embedded.turn import AgentTurn, TurnEnded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from avatar_actors.programs.embedded.process import ProcessControl, StartSettings

MARK = "SCRIPT:"
# The JSON-RPC code for invalid parameters.
BAD_SCRIPT_CODE = -32602
# In this order: a `tool` step may have an `error`, and is a tool.
PROMPT_STEPS = (*TURN_STEPS, *PROCESS_STEPS)


def find_script(prompt: str) -> list[Record] | None:
    """The steps that stand in the prompt after the mark, if it has one."""
    _, mark, rest = prompt.partition(MARK)
    if not mark:
        return None
    try:
        value: object = json.JSONDecoder().raw_decode(rest.lstrip())[0]
    except ValueError as error:
        raise BadScript(f"the script is not JSON: {error}") from None
    return checked(value, PROMPT_STEPS)


def checked(value: object, known: Collection[str]) -> list[Record]:
    """The steps, each of a known kind, also those within others."""
    if not is_items(value):
        raise BadScript("a script is an array of steps")
    steps: list[Record] = []
    for step in value:
        if not is_record(step) or name_of(step, known) is None:
            raise BadScript(f"unknown step {to_json(step)[:200]}; known: {', '.join(known)}")
        for key in ("steps", "late", "then"):
            if key in step:
                checked(step[key], known)
        steps.append(step)
    return steps


def name_of(step: Record, known: Collection[str]) -> str | None:
    """What the step is: the first of the known names that it has for a key."""
    return next((name for name in known if name in step), None)


class ScriptPlayer:
    """Plays steps on a turn."""

    def __init__(self, turn: AgentTurn, control: ProcessControl) -> None:
        self.turn = turn
        self.control = control

    def play(self, steps: list[Record]) -> None:
        """Plays them in order, until the turn is cancelled or ended."""
        for step in steps:
            self.turn.check()
            name = name_of(step, PROMPT_STEPS)
            if name in PROCESS_STEPS:
                PROCESS_STEPS[name](self.control, step)
            elif name is not None:
                TURN_STEPS[name](self, step)

    def call(self, step: Record) -> ToolUse:
        """The tool call of a step."""
        return scripted_call(step, self.turn.start_child)


class TurnPlayer:
    """Does the work of turns: plays the script of a prompt if a test allows it, else answers it."""

    def __init__(self, control: ProcessControl) -> None:
        self._control = control

    def play(self, turn: AgentTurn) -> None:
        """Plays the whole turn; the steps for after its result run on another thread."""
        turn.run(self.perform)
        if turn.late:
            in_background(lambda: self.play_late(turn))

    def perform(self, turn: AgentTurn) -> None:
        """Plays what the prompt of the turn asks for."""
        try:
            script = find_script(turn.words) if self._control.plays_scripts else None
            if script is not None:
                ScriptPlayer(turn, self._control).play(script)
                return
        except BadScript as error:
            turn.ending.error = {"code": BAD_SCRIPT_CODE, "message": str(error)}
            return
        from avatar_actors.programs.embedded.assistant.assistant import answer  # noqa: PLC0415 - scripts do not need it

        answer(turn)

    def play_late(self, turn: AgentTurn) -> None:
        """Plays the steps for after the result."""
        late, turn.late = turn.late, []
        turn.revive()
        # The result was sent, so nothing is left that these could end.
        with suppress(BadScript, TurnCancelled, TurnEnded):
            ScriptPlayer(turn, self._control).play(late)
        turn.output.release()


def play_start(start: StartSettings, steps: list[Record], control: ProcessControl) -> None:
    """Plays the start steps, before anything is read from stdin."""
    for step in steps:
        name = name_of(step, START_STEPS)
        if name in PROCESS_STEPS:
            PROCESS_STEPS[name](control, step)
        elif name in ("wait", "slow_start"):
            sleep(control, step)
        elif name == "times":
            play_start(start, records_in(step, "steps") if is_early(step) else [], control)
        elif name is not None:
            SETTINGS[name](start, step)


def _need_auth(start: StartSettings, step: Record) -> None:
    start.needs_auth = step["auth"] is True


def _refuse(start: StartSettings, step: Record) -> None:
    start.initialize_error = record_in(step, "initialize_error")


def _be_mute(start: StartSettings, step: Record) -> None:
    start.is_mute = step["mute"] is True


def _set_version(start: StartSettings, step: Record) -> None:
    start.version = int(number_in(step, "version"))


def _load_nothing(start: StartSettings, step: Record) -> None:
    start.can_load = step["no_load"] is not True


def _lose_sessions(start: StartSettings, step: Record) -> None:
    start.loses_sessions = step["lose_sessions"] is True


SETTINGS: dict[str, Callable[[StartSettings, Record], None]] = {
    "auth": _need_auth,
    "initialize_error": _refuse,
    "mute": _be_mute,
    "version": _set_version,
    "no_load": _load_nothing,
    "lose_sessions": _lose_sessions,
}
START_STEPS = (*SETTINGS, *PROCESS_STEPS, "wait", "slow_start", "times")


def start_steps(script_file: str, script: str) -> list[Record]:
    """The start steps of the file and of the text; raises BadScript."""
    sources = [Path(script_file).read_text()] if script_file else []
    sources += [script] if script else []
    steps: list[Record] = []
    for source in sources:
        try:
            value = decode(source.encode())
        except ValueError as error:
            raise BadScript(f"the start script is not JSON: {error}") from None
        steps += checked(value, START_STEPS)
    return steps
