"""`avatar tree`: shows the supervision tree of a run, live, here or in another program."""

from __future__ import annotations

import math
import os
import sys

import click
import msgspec
import trio

from avatar_actors.cli.agent_choice import choose_agent
from avatar_actors.cli.chat.prompt_source import read_prompt
from avatar_actors.cli.chat.run import ChatRun
from avatar_actors.cli.display import Style
from avatar_actors.cli.exit_codes import ExitCode, Failure, failure_message
from avatar_actors.cli.options import CommandOptions, tree_options
from avatar_actors.cli.terminal.device import (
    Keyboard,
    StdoutWriter,
    has_unicode,
    is_live,
    open_keyboard,
    wants_colour,
)
from avatar_actors.cli.terminal.output import StderrNotes
from avatar_actors.cli.tree.outputs import TreeJson, TreeLines, TreeOutput, TreeScreen
from avatar_actors.cli.tree.run import Attached, TreeOfTurn
from avatar_actors.cli.tree.view import TreeView


@click.command()
@click.argument("prompt", nargs=-1)
@click.option("--pid", type=click.IntRange(min=1), metavar="N", help="Watch this process.")
@click.option("--once", is_flag=True, help="Show the tree once and exit.")
@tree_options
def tree(wanted: CommandOptions, prompt: tuple[str, ...], pid: int | None, once: bool) -> int:
    """Watch the supervision tree of a run.

    With a PROMPT, starts an avatar and shows its tree until the turn has ended and whatever crashed
    is running again; the exit code is that of the turn. Without one, watches a running program: an
    `avatar chat`, `repl` or `tree`, or one of yours that is `observable`.

    In a terminal the tree is live, and the agent's permission requests are asked below it. Ctrl-C
    leaves; so does q when watching a program. A pipe gets the tree, then a line for each crash,
    restart, avatar or session that comes or goes (-v: for every change), then the tree again. With
    --json each change is one object: the tree, and what has changed.

    \b
    avatar tree "what is in this directory?"
    avatar tree --once
    avatar tree --json | jq -c '.changes[]'
    """
    if sys.stdout is None:
        raise Failure("stdout is closed", ExitCode.OUTPUT_CLOSED)
    if prompt:
        if once or pid is not None:
            raise click.UsageError(
                "--once and --pid watch a running program: use them without a prompt"
            )
        return _run_turn(wanted, prompt)
    _refuse_options(wanted)
    output = _output(wanted, _keyboard(wanted) if not once else None)
    left = trio.Event()
    if isinstance(output, TreeScreen):
        left = output.left
        output.say("q or Ctrl-C leaves")
    return trio.run(Attached(output, left).run, pid, 1 if once else math.inf)


def _refuse_options(wanted: CommandOptions) -> None:
    """The options of an avatar mean nothing for a running program."""
    if msgspec.structs.replace(wanted, as_json=False, verbose=0) != CommandOptions():
        raise click.UsageError(
            "without a prompt, a running program is watched; only --pid, --once, --json and -v "
            "apply there"
        )


def _run_turn(wanted: CommandOptions, prompt: tuple[str, ...]) -> int:
    question, choice = read_prompt(prompt), choose_agent(wanted)
    choice = msgspec.structs.replace(choice, runtime={**choice.runtime, "observable": True})
    notes = StderrNotes(wanted.verbose)
    output = _output(wanted, _keyboard(wanted))
    if isinstance(output, TreeScreen):
        output.warn(f"{choice.name}: {choice.why}")
    else:
        choice.announce(notes)
    run = ChatRun(question, choice, TreeOfTurn(output, choice.name, wanted))
    code = trio.run(run.run)
    if run.ended is not None and (message := failure_message(run.ended)):
        notes.warn(message)
    return code


def _output(wanted: CommandOptions, keyboard: Keyboard | None) -> TreeOutput:
    descriptor = sys.stdout.fileno()
    writer = StdoutWriter(descriptor)
    if wanted.as_json:
        return TreeJson(writer, StderrNotes(wanted.verbose))
    style = Style(
        colour=os.isatty(descriptor) and wants_colour(),
        unicode=has_unicode(),
        verbose=wanted.verbose,
    )
    if keyboard is None:
        return TreeLines(writer, TreeView(style), wanted.verbose)
    return TreeScreen(descriptor, keyboard, style)


def _keyboard(wanted: CommandOptions) -> Keyboard | None:
    """The keyboard of the person who watches, if there is one."""
    is_watched = is_live(sys.stdout.fileno()) and not wanted.as_json
    return open_keyboard() if is_watched else None
