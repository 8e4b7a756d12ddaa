"""`avatar completion`: what makes a shell complete the command line, by click's own machinery."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from avatar_actors.cli.exit_codes import Failure


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print what makes a shell complete `avatar`: commands, options, providers, sessions.

    \b
    bash: avatar completion bash > ~/.local/share/bash-completion/completions/avatar
    zsh:  avatar completion zsh > ~/.zfunc/_avatar   (a folder of $fpath)
    fish: avatar completion fish > ~/.config/fish/completions/avatar.fish
    """
    root = click.get_current_context().find_root().command
    kind = get_completion_class(shell)
    if kind is None:
        raise Failure(f"click {click.__version__} completes no {shell}")
    click.echo(kind(root, {}, "avatar", "_AVATAR_COMPLETE").source())
