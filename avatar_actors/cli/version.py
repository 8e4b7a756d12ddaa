"""`avatar version`: the versions to put into a bug report."""

from __future__ import annotations

import platform
from importlib.metadata import version as version_of
from typing import Final

import click

from avatar_actors import __version__
from avatar_actors.cli.options import JSON, CommandOptions, with_options
from avatar_actors.cli.terminal.output import say, say_json

PARTS: Final = (
    "trio", "trio-asyncio", "agent-client-protocol", "msgspec", "click", "rich", "prompt-toolkit",
)  # fmt: skip


@click.command()
@with_options(JSON)
def version(wanted: CommandOptions) -> None:
    """Show the versions of this program and its libraries."""
    parts = {part: version_of(part) for part in PARTS}
    system = f"{platform.system()} {platform.machine()}"
    if wanted.as_json:
        here = {"python": platform.python_version(), "system": system}
        say_json({"avatar-actors": __version__, **here, **parts})
        return
    say(f"avatar-actors {__version__}")
    say(f"Python {platform.python_version()} on {system}")
    for part, its in parts.items():
        say(f"{part} {its}")
