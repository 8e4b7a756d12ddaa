"""What a REPL begins with: the engine in a thread of its own, the display, the history."""

from __future__ import annotations

import os

from avatar_actors import AvatarEngine, RuntimeThread, Timeouts
from avatar_actors.cli.agent_choice import AgentChoice
from avatar_actors.cli.display import Display, Style
from avatar_actors.cli.options import CommandOptions
from avatar_actors.cli.repl.app import ReplApp
from avatar_actors.cli.repl.context import ReplContext, Turns
from avatar_actors.cli.repl.conversation import Conversation
from avatar_actors.cli.repl.history_file import HistoryFile, history_path
from avatar_actors.cli.repl.session_log import SessionLog
from avatar_actors.cli.terminal.device import has_unicode, wants_colour


async def talk(casting: AgentChoice, wanted: CommandOptions) -> int:
    """Until the person leaves; the exit code."""
    runtime = RuntimeThread(**casting.runtime)
    display = Display(_style(wanted))
    display.note(f"{casting.name}: {casting.why}")
    display.note("/help shows the commands, Ctrl-D leaves")
    history = HistoryFile(history_path(os.environ))
    return await ReplApp(_desk(casting, runtime), display, history).run()


def _desk(casting: AgentChoice, runtime: RuntimeThread) -> ReplContext:
    engine = _engine(casting, runtime)
    options = casting.options
    return ReplContext(
        casting=casting,
        engine=engine,
        runtime=runtime,
        conversation=Conversation(),
        minutes=SessionLog(options.get("model", ""), options.get("mode", "")),
        turns=Turns(engine),
    )


def _engine(casting: AgentChoice, runtime: RuntimeThread) -> AvatarEngine:
    options = casting.options.copy()
    # A person sees that it takes long, and Ctrl-C is near: no limit unless one was wished for.
    options.setdefault("timeouts", Timeouts())
    return AvatarEngine(casting.provider, runtime=runtime, **options)


def _style(wanted: CommandOptions) -> Style:
    return Style(
        show_thinking=wanted.show_thinking,
        verbose=wanted.verbose,
        colour=wants_colour(),
        unicode=has_unicode(),
    )
