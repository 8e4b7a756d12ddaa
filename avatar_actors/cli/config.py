"""`avatar config`: checks the configuration, shows the result, and prints its JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

import click
import msgspec

from avatar_actors import AvatarConfig, config_schema
from avatar_actors.cli.options import CONFIG, JSON, CommandOptions, with_options
from avatar_actors.cli.terminal.output import say, say_json

JsonObject: TypeAlias = dict[str, Any]


@click.group()
def config() -> None:
    """Check, show and describe the configuration.

    It is looked for in $AVATAR_CONFIG, ./.avatar.yaml and ~/.config/avatar/config.yaml. Variables
    like AVATAR_MODEL and AVATAR__CLAUDE__MODEL override it.
    """


@config.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
def check(file: Path | None) -> None:
    """Check a configuration: FILE, or the one that would be used.

    The first mistake is reported in one line, with its place and what is expected; exit code 2.
    """
    loaded = AvatarConfig.load(file)
    place = loaded.source or "no file, the defaults"
    provider = loaded.provider if loaded.names_provider else "chosen at each start"
    say(f"ok: {place} (provider: {provider})")


@config.command()
def schema() -> None:
    """Print the JSON Schema of the configuration, for editors that complete and check it.

    \b
    avatar config schema > ~/.config/avatar/schema.json
    and for the YAML language server, as the first line of config.yaml beside it:
    # yaml-language-server: $schema=schema.json
    """
    click.echo(msgspec.json.format(msgspec.json.encode(config_schema()), indent=2).decode())


@config.command()
@with_options(CONFIG, JSON)
def show(wanted: CommandOptions) -> None:
    """Show the configuration as used, from file and environment, without secrets."""
    told = AvatarConfig.load(wanted.config).shown()
    if wanted.as_json:
        say_json(told)
        return
    for line in _lines(told, 0):
        say(line)


def _lines(value: JsonObject, depth: int) -> Iterator[str]:
    indent = "  " * depth
    for name, each in value.items():
        if _is_section(each):
            yield f"{indent}{name}:"
            yield from _lines(each, depth + 1)
        else:
            yield f"{indent}{name}: {_words(each)}"


def _is_section(value: object) -> TypeGuard[JsonObject]:
    return isinstance(value, dict) and value != {}


def _words(value: object) -> str:
    """The value as in YAML: a word, or JSON."""
    is_word = isinstance(value, str) and value.isprintable() and value.strip() == value != ""
    return f"{value}" if is_word else msgspec.json.encode(value).decode()
