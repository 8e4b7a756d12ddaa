"""The commands of `avatar`, each imported when it is asked for, and how they end."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from avatar_actors import AvatarError
from avatar_actors.cli.exit_codes import ExitCode, Failure, failure_of, nobody_reads
from avatar_actors.cli.terminal.output import say_aside

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Entry(NamedTuple):
    """Where a command stands, and its line in the help: to show it imports nothing."""

    place: str
    summary: str


COMMANDS: Final = {
    "chat": Entry("chat.command:chat", "Send one prompt and show the answer."),
    "repl": Entry("repl:repl", "Talk with an avatar."),
    "providers": Entry("providers:providers", "List the agents that can be used."),
    "health": Entry("health:health", "See whether an avatar can start, and what is installed."),
    "session": Entry("sessions:session", "List, show, resume and fork stored sessions."),
    "config": Entry("config:config", "Check, show and describe the configuration."),
    "tree": Entry("tree.command:tree", "Watch the supervision tree of a run."),
    "completion": Entry("completion:completion", "Print what makes a shell complete `avatar`."),
    "embedded": Entry("embedded:embedded", "Run the embedded agent: ACP on stdin and stdout."),
    "chaos": Entry("chaos:chaos", "Make faults on purpose, and see whether promises are kept."),
    "version": Entry("version:version", "Show the versions of what is running here."),
}


def command_named(name: str) -> click.Command:
    """The command; its module is imported now."""
    module, _, attribute = COMMANDS[name].place.partition(":")
    command: click.Command = getattr(import_module(f"avatar_actors.cli.{module}"), attribute)
    return command


class Commands(click.Group):
    """The group whose commands are named in a table and imported one at a time."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Here the help is written."""
        with _heard():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> object:
        """Here all else is done."""
        with _heard():
            result: object = super().invoke(ctx)
            sys.stdout.flush()
            return result

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The one of this name; its module is imported now."""
        if cmd_name not in COMMANDS:
            return None
        command = command_named(cmd_name)
        # From here on there may be something to tidy up: see main().
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The names of the table, and the options; again without importing anything."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - a shell asked

        named = [
            CompletionItem(name, help=entry.summary)
            for name, entry in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*named, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table, without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """An unknown command is answered with the nearest right one."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            close = get_close_matches(name, COMMANDS, n=1)
            meant = f"; did you mean {close[0]!r}?" if close else ""
            ctx.fail(f"no command {name!r}; there are: {', '.join(COMMANDS)}{meant}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(
    package_name="avatar-actors", prog_name="avatar", message="%(prog)s %(version)s"
)
@click.pass_context
def avatar(context: click.Context) -> None:
    """AI agents as supervised actors: talk with one, look after it, see what it does.

    Without a configured provider, the first agent on the PATH that is ready answers; else the
    embedded one, a small program that needs no account and no network.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def run(arguments: Sequence[str]) -> int:
    """Run one command line to its exit code. Whatever goes wrong is one line on stderr."""
    try:
        code = avatar.main(list(arguments), prog_name="avatar", standalone_mode=False)
    except click.ClickException as error:
        return _end(error)
    except (click.Abort, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    except AvatarError as error:
        return _end(failure_of(error))
    return code if isinstance(code, int) else ExitCode.OK


@contextmanager
def _heard() -> Generator[None]:
    """Output that nobody reads ends the command; click itself would end it without a word."""
    try:
        yield
    except BrokenPipeError:
        # Python flushes stdout once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise nobody_reads() from None


def _end(error: click.ClickException) -> int:
    hint = ""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        hint = f" (see: {error.ctx.command_path} --help)"
    say_aside(f"{error.format_message().rstrip('.')}{hint}")
    return error.code if isinstance(error, Failure) else error.exit_code
