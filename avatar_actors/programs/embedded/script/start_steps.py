"""The start steps: how the program starts when a test wants it to start badly."""

from __future__ import annotations

from pathlib import Path

from avatar_actors.programs.embedded.errors import BadScript
from avatar_actors.programs.embedded.json_lines import (
    Record,
    decode,
    number_in,
    record_in,
    records_in,
)
from avatar_actors.programs.embedded.script.faults import PROCESS_STEPS, sleep
from avatar_actors.programs.embedded.script.script import checked, name_of
from avatar_actors.programs.embedded.script.turn_steps import is_early

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from avatar_actors.programs.embedded.process import Body, Start


def play(start: Start, steps: list[Record], body: Body) -> None:
    """Plays them, before anything is read."""
    for step in steps:
        name = name_of(step, STEPS)
        if name in PROCESS_STEPS:
            PROCESS_STEPS[name](body, step)
        elif name in ("wait", "slow_start"):
            sleep(body, step)
        elif name == "times":
            play(start, records_in(step, "steps") if is_early(step) else [], body)
        elif name is not None:
            SETTINGS[name](start, step)


def _need_auth(start: Start, step: Record) -> None:
    start.needs_auth = step["auth"] is True


def _refuse(start: Start, step: Record) -> None:
    start.initialize_error = record_in(step, "initialize_error")


def _be_mute(start: Start, step: Record) -> None:
    start.is_mute = step["mute"] is True


def _set_version(start: Start, step: Record) -> None:
    start.version = int(number_in(step, "version"))


def _load_nothing(start: Start, step: Record) -> None:
    start.can_load = step["no_load"] is not True


def _lose_sessions(start: Start, step: Record) -> None:
    start.loses_sessions = step["lose_sessions"] is True


SETTINGS: dict[str, Callable[[Start, Record], None]] = {
    "auth": _need_auth,
    "initialize_error": _refuse,
    "mute": _be_mute,
    "version": _set_version,
    "no_load": _load_nothing,
    "lose_sessions": _lose_sessions,
}
STEPS = (*SETTINGS, *PROCESS_STEPS, "wait", "slow_start", "times")


def start_steps(script_file: str, script: str) -> list[Record]:
    """The steps of the file and of the text; raises BadScript."""
    sources = [Path(script_file).read_text()] if script_file else []
    sources += [script] if script else []
    steps: list[Record] = []
    for source in sources:
        try:
            value = decode(source.encode())
        except ValueError as error:
            raise BadScript(f"the start script is not JSON: {error}") from None
        steps += checked(value, STEPS)
    return steps
