"""`avatar repl`: a conversation at a terminal, with an AvatarEngine in a thread of its own."""

from __future__ import annotations

import asyncio
import os
import sys

import click

from avatar_actors import AvatarEngine, Runtime, RuntimeThread, Timeouts
from avatar_actors.cli.agent_choice import AgentChoice, choose_agent
from avatar_actors.cli.exit_codes import ExitCode, Failure
from avatar_actors.cli.options import CommandOptions, avatar_options


@click.command()
@avatar_options
def repl(wanted: CommandOptions) -> int:
    """Talk with an avatar; type /help there to see its commands.

    What you send while the agent works is queued and can still be edited. Ctrl-C interrupts the
    turn, a second one leaves.
    """
    if wanted.as_json:
        raise Failure("--json is for scripts; use: avatar chat --json", ExitCode.USAGE)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Failure("repl needs a terminal; for scripts use: avatar chat", ExitCode.USAGE)
    return asyncio.run(_run(choose_agent(wanted), wanted))


async def _run(choice: AgentChoice, wanted: CommandOptions) -> int:
    # Only a conversation at a terminal needs prompt_toolkit and what draws Markdown.
    from avatar_actors.cli.display import display_for  # noqa: PLC0415
    from avatar_actors.cli.repl.app import ReplApp  # noqa: PLC0415
    from avatar_actors.cli.repl.context import ReplContext  # noqa: PLC0415
    from avatar_actors.cli.repl.history_file import HistoryFile, history_path  # noqa: PLC0415

    why = f"{choice.name}: {choice.why}"
    display = display_for(wanted, why, "/help shows the commands, Ctrl-D leaves")
    Runtime.tune_collector()
    runtime = RuntimeThread(**choice.runtime)
    options = choice.options.copy()
    # A person sees that it takes long and can press Ctrl-C: no time limit unless one is set.
    options.setdefault("timeouts", Timeouts())
    engine = AvatarEngine(choice.provider, runtime=runtime, **options)
    context = ReplContext.of(choice, engine, runtime)
    return await ReplApp(context, display, HistoryFile(history_path(os.environ))).run()
