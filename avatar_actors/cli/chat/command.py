"""`avatar chat`: sends one prompt, shows its answer, and exits with a code for its outcome."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import click
import trio

from avatar_actors.cli.agent_choice import AgentChoice, choose_agent
from avatar_actors.cli.chat.outputs import AnswerEncoder, LiveOutput, PipeOutput
from avatar_actors.cli.chat.prompt_source import read_prompt
from avatar_actors.cli.chat.run import ChatOutput, ChatRun
from avatar_actors.cli.exit_codes import ExitCode, Failure, failure_message
from avatar_actors.cli.options import CommandOptions, avatar_options
from avatar_actors.cli.terminal.device import StdoutWriter, is_live, open_keyboard
from avatar_actors.cli.terminal.output import StderrNotes, json_lines

if TYPE_CHECKING:
    from avatar_actors.cli.display import Display


@click.command()
@click.argument("prompt", nargs=-1)
@avatar_options
def chat(wanted: CommandOptions, prompt: tuple[str, ...]) -> int:
    """Send one prompt and show the answer.

    In a terminal you see the agent at work. Into a pipe goes the text of the answer alone, or with
    --json every event. Piped input is added to the prompt; with `-` it is the prompt.

    \b
    avatar chat "what is in this directory?"
    git diff | avatar chat "review this"
    avatar chat --json "list files" | jq -r .type
    """
    if sys.stdout is None:
        raise Failure("stdout is closed", ExitCode.OUTPUT_CLOSED)
    question, choice = read_prompt(prompt), choose_agent(wanted)
    notes = StderrNotes(wanted.verbose)
    output = _output(wanted, choice, notes)
    run = ChatRun(question, choice, output)
    code = trio.run(run.run)
    message = failure_message(run.ended) if run.ended is not None else "interrupted"
    is_shown = isinstance(output, LiveOutput) and run.ended is not None and notes.is_terminal
    if message and not is_shown:
        notes.warn(message)
    return code


def _output(wanted: CommandOptions, choice: AgentChoice, notes: StderrNotes) -> ChatOutput:
    descriptor = sys.stdout.fileno()
    if not wanted.as_json and is_live(descriptor) and (keyboard := open_keyboard()):
        return LiveOutput(partial(_display, wanted, choice), descriptor, keyboard)
    choice.announce(notes)
    writer = StdoutWriter(descriptor)
    return PipeOutput(writer, notes, json_lines if wanted.as_json else AnswerEncoder(writer).encode)


def _display(wanted: CommandOptions, choice: AgentChoice) -> Display:
    from avatar_actors.cli.display import display_for  # noqa: PLC0415 - only a terminal needs it

    return display_for(wanted, f"{choice.name}: {choice.why}")
