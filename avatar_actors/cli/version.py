"""`avatar version`: what is running here, to be put into a bug report."""

from __future__ import annotations

import platform
from importlib.metadata import version as version_of
from typing import Final

import click

from avatar_actors import __version__

PARTS: Final = ("trio", "trio-asyncio", "agent-client-protocol", "msgspec", "click", "rich")


@click.command()
def version() -> None:
    """Show the versions of what is running here."""
    click.echo(f"avatar-actors {__version__}")
    click.echo(f"Python {platform.python_version()} on {platform.system()} {platform.machine()}")
    for part in PARTS:
        click.echo(f"{part} {version_of(part)}")
