"""The program: reads its flags, applies a test's start steps, and serves ACP on stdio."""

from __future__ import annotations

import os
import sys

from avatar_actors.programs.embedded.acp.agent import AcpAgent, AcpClient
from avatar_actors.programs.embedded.acp.messages import AcpFeatures
from avatar_actors.programs.embedded.process import ProcessControl, StartSettings, complain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from avatar_actors.programs.embedded.acp.sessions import AcpSessions

# What `initialize` does not need is imported later: it costs 10 ms.
# ruff: noqa: PLC0415

START_VARIABLE = "AVATAR_EMBEDDED_START"
# Not a flag: no value of another flag, and so no prompt, can ever be taken for it.
SCRIPTS_VARIABLE = "AVATAR_EMBEDDED_SCRIPTS"
FLAGS = ("--model", "--script")


def main(argv: list[str] | None = None) -> None:
    """Runs the embedded agent on the standard streams until its input ends."""
    words = sys.argv[1:] if argv is None else argv
    if words == ["--version"]:
        from avatar_actors import __version__

        sys.stdout.write(f"avatar-embedded {__version__}\n")
        return
    flags = read_flags(words)
    control = ProcessControl()
    start = StartSettings()
    start.argv = words
    start.model = flags.get("--model", "")
    prepare(start, control, flags.get("--script", ""))
    serve_acp(start, control)


def read_flags(argv: list[str]) -> dict[str, str]:
    """The values of the flags, given as `--flag value` or `--flag=value`; the last one counts."""
    values: dict[str, str] = {}
    words = list(argv)
    while words:
        name, equals, value = words.pop(0).partition("=")
        if name not in FLAGS:
            refuse(f"unknown option {name!r}; there are: --version, {', '.join(FLAGS)}")
        if not equals and not words:
            refuse(f"option {name} needs a value")
        values[name] = value if equals else words.pop(0)
    return values


def refuse(why: str) -> NoReturn:
    """Ends the start with a reason on stderr."""
    complain(f"error: {why}")
    sys.exit(1)


def prepare(start: StartSettings, control: ProcessControl, script_file: str) -> None:
    """Takes in what a test wants: scripts in prompts, and steps that are played at the start."""
    control.plays_scripts = os.environ.get(SCRIPTS_VARIABLE) == "1"
    script = os.environ.get(START_VARIABLE, "")
    if not script and not script_file:
        return
    from avatar_actors.programs.embedded.script.faults import BadScript
    from avatar_actors.programs.embedded.script.script import play_start, start_steps

    try:
        steps = start_steps(script_file, script)
    except (BadScript, OSError) as error:
        refuse(str(error))
    play_start(start, steps, control)


def serve_acp(start: StartSettings, control: ProcessControl) -> None:
    """Speaks ACP until stdin ends."""
    client = AcpClient(control.output, AcpFeatures())

    def open_sessions() -> AcpSessions:
        from avatar_actors.programs.embedded.acp.sessions import AcpSessions
        from avatar_actors.programs.embedded.script.script import TurnPlayer

        return AcpSessions(client, start, TurnPlayer(control))

    agent = AcpAgent(client, start, open_sessions)
    for line in control.lines():
        if line.strip():
            agent.receive(line)
    control.lifetime.end_of_input()
