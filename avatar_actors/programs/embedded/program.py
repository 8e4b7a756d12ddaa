"""The program: reads its flags, starts as it is told, and speaks the dialect that was chosen."""

from __future__ import annotations

import os
import sys

from avatar_actors.programs.embedded.flags import Flags, UnknownFlag
from avatar_actors.programs.embedded.pipes import Ears, LineOutput, read_lines
from avatar_actors.programs.embedded.process import Body, Life, Start, complain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from avatar_actors.programs.embedded.dialects.acp.sessions import AcpSessions

# Each dialect imports its own modules when it is chosen: all of them together cost 15 ms.
# ruff: noqa: PLC0415


START_VARIABLE = "AVATAR_EMBEDDED_START"
# Not a flag: no value of another flag, and so no prompt, can ever be taken for it.
SCRIPTS_VARIABLE = "AVATAR_EMBEDDED_SCRIPTS"


def main() -> None:
    """Runs the embedded agent on the standard streams until its input ends."""
    try:
        flags = Flags(sys.argv[1:])
    except UnknownFlag as unknown:
        refuse(f"unknown option '{unknown}'")
    if flags.has("--version"):
        tell_version()
        return
    speak = DIALECTS.get(flags.value("--dialect", "acp"))
    if speak is None:
        refuse(f"unknown dialect; known: {', '.join(DIALECTS)}")
    body = Body(Life(), LineOutput(), Ears())
    body.plays_scripts = os.environ.get(SCRIPTS_VARIABLE) == "1"
    start = Start()
    if flags.has("--script") or START_VARIABLE in os.environ:
        play_start(start, flags, body)
    speak(flags, start, body)


def tell_version() -> None:
    """As agents do that are asked for it."""
    from avatar_actors import __version__

    sys.stdout.write(f"avatar-embedded {__version__}\n")


def refuse(why: str) -> NoReturn:
    """Ends the start, as the agents do."""
    complain(f"error: {why}")
    sys.exit(1)


def play_start(start: Start, flags: Flags, body: Body) -> None:
    """Starts as the start steps want it."""
    from avatar_actors.programs.embedded.errors import BadScript
    from avatar_actors.programs.embedded.script.start_steps import play, start_steps

    try:
        steps = start_steps(flags.value("--script"), os.environ.get(START_VARIABLE, ""))
    except (BadScript, OSError) as error:
        refuse(str(error))
    play(start, steps, body)


def speak_acp(flags: Flags, start: Start, body: Body) -> None:
    """ACP, in the flavour that was chosen."""
    from avatar_actors.programs.embedded.dialects.acp.agent import AcpAgent, AcpClient
    from avatar_actors.programs.embedded.dialects.acp.variants import FLAVOURS

    flavour = FLAVOURS.get(flags.value("--flavour", "plain"))
    if flavour is None:
        refuse(f"unknown flavour; known: {', '.join(FLAVOURS)}")
    client = AcpClient(body.output, flavour())

    def open_sessions() -> AcpSessions:
        from avatar_actors.programs.embedded.dialects.acp.sessions import AcpSessions
        from avatar_actors.programs.embedded.performer import Performer
        from avatar_actors.programs.embedded.store import Store, default_home

        return AcpSessions(client, flags, start, Store(default_home()), Performer(body))

    agent = AcpAgent(client, start, open_sessions)
    for line in read_lines(body.life.wake):
        body.ears.wait()
        if line.strip():
            agent.hear(line)
    body.ears.wait()
    body.life.end_of_input()


def speak_claude(flags: Flags, start: Start, body: Body) -> None:
    """Claude's stream-json."""
    from avatar_actors.programs.embedded.dialects.claude import program as claude_program

    claude_program.speak_claude(flags, start, body)


def speak_gemini(flags: Flags, start: Start, body: Body) -> None:
    """Gemini's headless mode."""
    from avatar_actors.programs.embedded.dialects import gemini

    gemini.speak_gemini(flags, start, body)


DIALECTS = {"acp": speak_acp, "claude": speak_claude, "gemini": speak_gemini}
