"""`avatar chat`: one prompt, its answer, and an exit code."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import click
import trio

from avatar_actors.cli.agent_choice import AgentChoice, choose_agent
from avatar_actors.cli.chat.live_output import LiveOutput
from avatar_actors.cli.chat.pipe_output import JsonOutput, PlainOutput
from avatar_actors.cli.chat.prompt_source import asked
from avatar_actors.cli.chat.run import ChatOutput, ChatRun
from avatar_actors.cli.chat.stderr_output import Remarks
from avatar_actors.cli.exit_codes import ExitCode, Failure, failure_message
from avatar_actors.cli.options import CommandOptions, avatar_options
from avatar_actors.cli.terminal.device import (
    Keyboard,
    StdoutWriter,
    has_unicode,
    is_lively,
    open_keyboard,
    wants_colour,
)

if TYPE_CHECKING:
    from avatar_actors.cli.chat.terminal_view import TerminalView


@click.command()
@click.argument("prompt", nargs=-1)
@avatar_options
def chat(wanted: CommandOptions, prompt: tuple[str, ...]) -> int:
    """Send one prompt and show the answer.

    In a terminal the work is shown as it goes on; into a pipe goes the text of the answer alone,
    with --json every event. What is piped in goes with the prompt, or is the prompt: `-`.

    \b
    avatar chat "what is in this directory?"
    git diff | avatar chat "review this"
    avatar chat --json "list files" | jq -r .type
    """
    if sys.stdout is None:
        raise Failure("stdout is closed", ExitCode.OUTPUT_CLOSED)
    question, casting = asked(prompt), choose_agent(wanted)
    remarks = Remarks(wanted.verbose)
    output = _output(wanted, casting, remarks)
    run = ChatRun(question, casting, output)
    code = trio.run(run.run)
    word = failure_message(run.ended) if run.ended is not None else "interrupted"
    is_seen = isinstance(output, LiveOutput) and run.ended is not None and remarks.are_seen
    if word and not is_seen:
        remarks.warn(word)
    return code


def _output(wanted: CommandOptions, casting: AgentChoice, remarks: Remarks) -> ChatOutput:
    why = f"{casting.name}: {casting.why}"
    descriptor = sys.stdout.fileno()
    if not wanted.as_json and is_lively(descriptor) and (keyboard := open_keyboard()):
        return LiveOutput(partial(_canvas, wanted, why, descriptor, keyboard), keyboard)
    remarks.say(why)
    outlet = StdoutWriter(descriptor)
    return JsonOutput(outlet, remarks) if wanted.as_json else PlainOutput(outlet, remarks)


def _canvas(wanted: CommandOptions, why: str, descriptor: int, keyboard: Keyboard) -> TerminalView:
    """Made in a thread while the agent starts: what draws Markdown takes a while to import."""
    from avatar_actors.cli.chat.terminal_view import TerminalView  # noqa: PLC0415 - only a terminal pays
    from avatar_actors.cli.display import Style  # noqa: PLC0415 - the same

    style = Style(
        show_thinking=wanted.show_thinking,
        verbose=wanted.verbose,
        colour=wants_colour(),
        unicode=has_unicode(),
    )
    canvas = TerminalView(style, descriptor, keyboard)
    canvas.display.note(why)
    return canvas
