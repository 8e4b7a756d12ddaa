"""`avatar repl`: talk with an avatar at a terminal."""

from __future__ import annotations

import asyncio
import sys

import click

from avatar_actors.cli.agent_choice import choose_agent
from avatar_actors.cli.exit_codes import ExitCode, Failure
from avatar_actors.cli.options import CommandOptions, avatar_options


@click.command()
@avatar_options
def repl(wanted: CommandOptions) -> int:
    """Talk with an avatar; /help there shows its commands.

    What you type while the agent works waits in line and can still be edited. Ctrl-C interrupts
    the turn, a second one leaves.
    """
    if wanted.as_json:
        raise Failure("--json is for scripts; use: avatar chat --json", ExitCode.USAGE)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Failure("repl needs a terminal; for scripts use: avatar chat", ExitCode.USAGE)
    casting = choose_agent(wanted)
    from avatar_actors.cli.repl.opening import talk  # noqa: PLC0415 - only who can talk pays

    return asyncio.run(talk(casting, wanted))
