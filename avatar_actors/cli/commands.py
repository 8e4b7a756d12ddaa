"""The table of commands, each imported only when it is used, and how a command line ends."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from avatar_actors import AvatarError
from avatar_actors.cli.exit_codes import ExitCode, Failure, failure_of, nobody_reads
from avatar_actors.cli.terminal.output import say_aside

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Entry(NamedTuple):
    """Where a command is defined, as seen from here, and its line in the help."""

    place: str
    summary: str


COMMANDS: Final = {
    "chat": Entry("chat.command:chat", "Send one prompt and show the answer."),
    "repl": Entry("repl.command:repl", "Talk with an avatar."),
    "gui": Entry(".gui.command:gui", "Talk with avatars in an app, with a figure."),
    "providers": Entry("agents:providers", "List the agents that can be used."),
    "health": Entry("agents:health", "Check whether an avatar can start, and what is installed."),
    "session": Entry("session.command:session", "List, show, resume and delete stored sessions."),
    "config": Entry("config:config", "Write, check, show and describe the configuration."),
    "tree": Entry("tree.command:tree", "Watch the supervision tree of a run."),
    "completion": Entry("completion:completion", "Print the shell completion for `avatar`."),
    "embedded": Entry("embedded:embedded", "Run the embedded agent: ACP on stdin and stdout."),
    "chaos": Entry("chaos:chaos", "Inject faults, and check that every promise is kept."),
    "version": Entry("version:version", "Show the versions of this program and its libraries."),
}


def command_named(name: str) -> click.Command:
    """Import and return the command."""
    module, _, attribute = COMMANDS[name].place.partition(":")
    command: click.Command = getattr(import_module(f".{module}", __package__), attribute)
    return command


class Commands(click.Group):
    """A group whose commands stand in a table and are imported one at a time."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Parses the options; --help writes its output here."""
        with _ended_by_closed_output():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> object:
        """Runs the command."""
        with _ended_by_closed_output():
            result: object = super().invoke(ctx)
            sys.stdout.flush()
            return result

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command; None if it is unknown."""
        if cmd_name not in COMMANDS:
            return None
        command = command_named(cmd_name)
        # From here on there may be something to clean up: see main().
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The names of the table and the options, without importing a command."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - a shell asked

        named = [
            CompletionItem(name, help=entry.summary)
            for name, entry in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*named, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table, without importing a command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggests the nearest command for an unknown one."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            known = ", ".join(COMMANDS)
            from avatar_actors.model.words import suggestion  # noqa: PLC0415 - a slip only

            ctx.fail(f"no command {name!r}; there are: {known}{suggestion(name, COMMANDS)}")
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
    """AI agents as supervised actors: talk with one, and see what it does.

    Without a configured provider, the first agent on the PATH that is ready is used; else the
    embedded one, a small program that needs no account and no network.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; an error is one line on stderr."""
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
def _ended_by_closed_output() -> Generator[None]:
    """End the command when nobody reads its output; click would end it without a message."""
    try:
        yield
    except BrokenPipeError:
        # Python flushes stdout once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise nobody_reads() from None


def _end(error: click.ClickException) -> int:
    hint = ""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        hint = f" (see: {error.ctx.command_path} --help)"
    message = error.format_message().rstrip(".")
    if isinstance(error, click.NoSuchOption):
        message = f"no option {error.option_name}{_nearest_option(error)}"
    if message:
        say_aside(f"{message}{hint}")
    return error.code if isinstance(error, Failure) else error.exit_code


def _nearest_option(error: click.NoSuchOption) -> str:
    """Compared without the dashes, which all options have in common."""
    from avatar_actors.model.words import nearest  # noqa: PLC0415 - a slip only

    params = error.ctx.command.params if error.ctx is not None else []
    options = {name.lstrip("-"): name for param in params for name in param.opts}
    close = nearest(error.option_name.lstrip("-"), options)
    return f"; did you mean {options[close]}?" if close else ""
