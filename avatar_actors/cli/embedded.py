"""`avatar embedded`: runs the embedded agent itself, for hosts and editors that speak ACP."""

from __future__ import annotations

import click


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
def embedded(flags: tuple[str, ...]) -> None:
    """Run the embedded agent: ACP on stdin and stdout, until stdin ends."""
    from avatar_actors.programs.embedded.program import main  # noqa: PLC0415 - only this needs it

    main(list(flags))
