"""`avatar completion`, and the values a shell completes: providers and session ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import get_completion_class

from avatar_actors.cli.exit_codes import Failure
from avatar_actors.cli.terminal.text import one_line

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the shell completion for `avatar`: commands, options, providers, sessions.

    \b
    bash: avatar completion bash > ~/.local/share/bash-completion/completions/avatar
    zsh:  avatar completion zsh > ~/.zfunc/_avatar   (a folder of $fpath)
    fish: avatar completion fish > ~/.config/fish/completions/avatar.fish
    """
    root = click.get_current_context().find_root().command
    kind = get_completion_class(shell)
    if kind is None:
        raise Failure(f"click {click.__version__} does not support {shell}")
    click.echo(kind(root, {}, "avatar", "_AVATAR_COMPLETE").source())


def complete_provider(
    context: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The names of the providers, custom ones included."""
    from avatar_actors import AvatarConfig, AvatarError  # noqa: PLC0415 - only a shell that asks pays

    try:
        names = AvatarConfig.load(context.params.get("config")).sections
    except AvatarError:
        return []
    return [_item(name) for name in names if name.startswith(incomplete)]


def complete_session(
    context: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The ids of the directory's sessions, with their titles."""
    from avatar_actors import AvatarError  # noqa: PLC0415 - the same
    from avatar_actors.cli.session.finder import SessionFinder  # noqa: PLC0415 - the same

    given = context.params
    try:
        finder = SessionFinder.of(
            given.get("provider") or "", given.get("config"), given.get("cwd")
        )
        found = finder.here()
    except AvatarError:
        return []
    sessions = [each.session for each in found.sessions]
    return [
        _item(each.session_id, one_line(each.title))
        for each in sessions
        if each.session_id.startswith(incomplete)
    ]


def _item(value: str, about: str | None = None) -> CompletionItem:
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - the same

    return CompletionItem(value, help=about)
