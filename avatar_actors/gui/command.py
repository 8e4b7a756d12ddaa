"""`avatar gui`: checks that there is a screen for it, and runs the app."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Final

import click
import msgspec

from avatar_actors.cli.agent_choice import choose_agent
from avatar_actors.cli.exit_codes import ExitCode, Failure
from avatar_actors.cli.options import AVATAR, CommandOptions, with_options

_MOST_AVATARS = 9
LEAST_SIZE: Final = (40, 10)


@click.command()
@with_options(*AVATAR)
@click.option(
    "--avatars",
    type=click.IntRange(1, _MOST_AVATARS),
    default=1,
    metavar="N",
    help="How many avatars, each in a tab of its own.",
)
@click.option("--demo", is_flag=True, help="Watch the embedded agent play a scripted afternoon.")
def gui(wanted: CommandOptions, avatars: int, demo: bool) -> int:
    """Talk with avatars in an app for the terminal: a figure, thoughts and activities.

    F1 shows the keys there, Ctrl-Q leaves.
    """
    _check_terminal()
    try:
        from avatar_actors.gui.afternoon import demo_choice  # noqa: PLC0415
        from avatar_actors.gui.app import AppOptions, AvatarApp  # noqa: PLC0415 - may be missing
    except ModuleNotFoundError as error:
        if error.name != "textual":
            raise
        message = "textual is missing; install it: pip install 'avatar-actors[gui]'"
        raise Failure(message, ExitCode.USAGE) from error
    if demo and wanted.provider not in {"", "embedded"}:
        raise Failure("--demo is played by the embedded agent; leave out -p", ExitCode.USAGE)
    wanted = msgspec.structs.replace(wanted, provider="embedded") if demo else wanted
    choice = choose_agent(wanted)
    choice = demo_choice(choice) if demo else choice
    app = AvatarApp(AppOptions(choice=choice, wanted=wanted, avatars=avatars, is_demo=demo))
    app.run()
    return app.return_code or ExitCode.OK


def _check_terminal() -> None:
    # Textual draws on stderr.
    if not (sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()):
        raise Failure("gui needs a terminal; for scripts use: avatar chat", ExitCode.USAGE)
    if os.environ.get("TERM", "dumb") in {"", "dumb"}:
        message = "gui needs a terminal that can draw, and TERM is dumb; use: avatar repl"
        raise Failure(message, ExitCode.USAGE)
    size = shutil.get_terminal_size()
    columns, lines = LEAST_SIZE
    if size.columns < columns or size.lines < lines:
        has = f"this terminal has {size.columns}x{size.lines}"
        message = f"gui needs {columns}x{lines} at least, {has}"
        raise Failure(f"{message}; make it larger, or use: avatar repl", ExitCode.USAGE)
