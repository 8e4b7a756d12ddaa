"""Scripts: the steps that a test puts into a prompt, found, checked and played on a turn."""

from __future__ import annotations

import json

from avatar_actors.programs.embedded.errors import BadScript
from avatar_actors.programs.embedded.json_lines import Record, is_items, is_record, to_json
from avatar_actors.programs.embedded.script.faults import PROCESS_STEPS
from avatar_actors.programs.embedded.script.turn_steps import TURN_STEPS
from avatar_actors.programs.embedded.tool_call import ToolUse, scripted_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from avatar_actors.programs.embedded.process import Body
    from avatar_actors.programs.embedded.turn import AgentTurn

MARK = "SCRIPT:"
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

    def __init__(self, turn: AgentTurn, body: Body) -> None:
        self.turn = turn
        self.body = body

    def play(self, steps: list[Record]) -> None:
        """Plays them in order, until the turn is cancelled or ended."""
        for step in steps:
            self.turn.check()
            name = name_of(step, PROMPT_STEPS)
            if name in PROCESS_STEPS:
                PROCESS_STEPS[name](self.body, step)
            elif name is not None:
                TURN_STEPS[name](self, step)

    def call(self, step: Record) -> ToolUse:
        """The tool call of a step."""
        return scripted_call(step, self.turn.start_child)
