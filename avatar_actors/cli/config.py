"""`avatar config`: writes, checks, shows and describes the configuration."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from avatar_actors import AvatarConfig, config_schema
from avatar_actors.cli.exit_codes import ExitCode
from avatar_actors.cli.options import CONFIG, JSON, CommandOptions, with_options
from avatar_actors.cli.terminal.output import say, say_aside, say_json


@click.group()
def config() -> None:
    """Write, check, show and describe the configuration.

    It is looked for in $AVATAR_CONFIG, ./.avatar.yaml and ~/.config/avatar/config.yaml. Variables
    like AVATAR_MODEL and AVATAR__CLAUDE__MODEL override it.
    """


@config.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
def init(file: Path | None) -> None:
    """Write a configuration to start from: FILE, or ~/.config/avatar/config.yaml.

    Every line of it is a comment: the keys, their defaults and what they mean. An existing file is
    never changed.
    """
    written = AvatarConfig.init(file)
    say(f"written: {written}")
    say("to check it once you have edited it: avatar config check" + (f" {file}" if file else ""))


@config.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
def check(file: Path | None) -> int:
    """Check a configuration: FILE, or the one that would be used.

    All mistakes are reported, one line each, with their places and what is expected; exit code 2.
    Directories and programs that it names must be there; a program that is not on the PATH is only
    a warning.
    """
    found = AvatarConfig.check(file)
    for mistake in found.mistakes:
        say_aside(str(mistake))
    for warning in found.warnings:
        say_aside(f"warning: {warning}")
    if found.mistakes:
        return ExitCode.USAGE
    loaded = AvatarConfig.load(file)
    place = loaded.source or "no file, the defaults"
    provider = loaded.provider if loaded.names_provider else "chosen at each start"
    say(f"ok: {place} (provider: {provider})")
    return ExitCode.OK


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
    """Show the configuration as used, without secrets, in the form of a file.

    Each value has its place behind it: file and line, or the variable of the environment. The
    defaults are comments.
    """
    if wanted.as_json:
        say_json(AvatarConfig.load(wanted.config).shown())
    else:
        say(AvatarConfig.text(wanted.config).removesuffix("\n"))
