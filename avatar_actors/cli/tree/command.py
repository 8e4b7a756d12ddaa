"""`avatar tree`: the living supervision tree of a run, here or in another program."""

from __future__ import annotations

import math
import os
import sys

import click
import msgspec
import trio

from avatar_actors.cli.agent_choice import choose_agent
from avatar_actors.cli.chat.prompt_source import asked
from avatar_actors.cli.chat.run import ChatRun
from avatar_actors.cli.chat.stderr_output import Remarks
from avatar_actors.cli.display import Style
from avatar_actors.cli.exit_codes import ExitCode, Failure, failure_message
from avatar_actors.cli.options import CommandOptions, tree_options
from avatar_actors.cli.terminal.device import (
    Keyboard,
    StdoutWriter,
    has_unicode,
    is_lively,
    open_keyboard,
    wants_colour,
)
from avatar_actors.cli.terminal.permission_answers import DenyAll
from avatar_actors.cli.tree.attached import Attached
from avatar_actors.cli.tree.outputs import TreeJson, TreeLines, TreeShow
from avatar_actors.cli.tree.screen import TreeScreen
from avatar_actors.cli.tree.turn import Asking, TreeOfTurn
from avatar_actors.cli.tree.view import TreeView


@click.command()
@click.argument("prompt", nargs=-1)
@click.option("--pid", type=click.IntRange(min=1), metavar="N", help="Watch this process.")
@click.option("--once", is_flag=True, help="Show the tree as it is, and leave.")
@tree_options
def tree(wanted: CommandOptions, prompt: tuple[str, ...], pid: int | None, once: bool) -> int:
    """Watch the supervision tree of a run.

    With a PROMPT an avatar is started, and its tree is shown until the turn has ended and what
    crashed is back; the exit code is that of the turn. Without one, a program that runs already is
    watched: an `avatar chat`, `repl` or `tree`, or one of yours that is `observable`.

    In a terminal the tree lives, and what the agent asks for is asked below it; Ctrl-C leaves, and
    q where a program is watched. Into a pipe goes the tree, then a line for
    each crash, restart, avatar or session that comes or goes (-v: for everything), then the tree
    again. With --json each change is one object: the tree, and what has happened.

    \b
    avatar tree "what is in this directory?"
    avatar tree --once
    avatar tree --json | jq -c '.changes[]'
    """
    if sys.stdout is None:
        raise Failure("stdout is closed", ExitCode.OUTPUT_CLOSED)
    if prompt:
        if once or pid is not None:
            raise click.UsageError("--once and --pid watch a program that runs: without a prompt")
        return _run_turn(wanted, prompt)
    _refuse_options(wanted)
    show = _show(wanted, _keyboard(wanted) if not once else None)
    left = show.left if isinstance(show, TreeScreen) else trio.Event()
    if isinstance(show, TreeScreen):
        show.say("q or Ctrl-C leaves")
    return trio.run(Attached(show, left).run, pid, 1 if once else math.inf)


def _refuse_options(wanted: CommandOptions) -> None:
    """Those of an avatar mean nothing to a program that runs already."""
    if msgspec.structs.replace(wanted, as_json=False, verbose=0) != CommandOptions():
        raise click.UsageError(
            "without a prompt a program that runs is watched; only --pid, --once, --json and -v "
            "mean something there"
        )


def _run_turn(wanted: CommandOptions, prompt: tuple[str, ...]) -> int:
    question, casting = asked(prompt), choose_agent(wanted)
    casting = msgspec.structs.replace(casting, runtime={**casting.runtime, "observable": True})
    remarks = Remarks(wanted.verbose)
    show = _show(wanted, _keyboard(wanted))
    asking: Asking = DenyAll(show)
    if isinstance(show, TreeScreen):
        asking = show.questions
        show.warn(f"{casting.name}: {casting.why}")
    else:
        remarks.say(f"{casting.name}: {casting.why}")
    run = ChatRun(question, casting, TreeOfTurn(show, asking, casting.name, wanted))
    code = trio.run(run.run)
    if run.ended is not None and (word := failure_message(run.ended)):
        remarks.warn(word)
    return code


def _show(wanted: CommandOptions, keyboard: Keyboard | None) -> TreeShow:
    descriptor = sys.stdout.fileno()
    outlet = StdoutWriter(descriptor)
    if wanted.as_json:
        return TreeJson(outlet, Remarks(wanted.verbose))
    style = Style(
        colour=os.isatty(descriptor) and wants_colour(),
        unicode=has_unicode(),
        verbose=wanted.verbose,
    )
    if keyboard is None:
        return TreeLines(outlet, TreeView(style), wanted.verbose)
    return TreeScreen(descriptor, keyboard, style)


def _keyboard(wanted: CommandOptions) -> Keyboard | None:
    """That of a person who looks on, if there is one."""
    is_watched = is_lively(sys.stdout.fileno()) and not wanted.as_json
    return open_keyboard() if is_watched else None
