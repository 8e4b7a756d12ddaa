"""`avatar session`: lists and shows stored sessions, resumes or forks them.

Reading an agent's store is left to the library, a conversation to `avatar chat` and `repl`.
"""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path

import click
import msgspec

from avatar_actors import StoredMessage, read_session
from avatar_actors.cli.commands import command_named
from avatar_actors.cli.completion import complete_session
from avatar_actors.cli.options import (
    CONFIG,
    CWD,
    JSON,
    PROVIDER,
    TALK,
    CommandOptions,
    Option,
    R,
    with_options,
)
from avatar_actors.cli.session.finder import FoundSession, SessionFinder, short_ids
from avatar_actors.cli.session.removal import delete, prune
from avatar_actors.cli.terminal.formatting import ago, clock, moment_of
from avatar_actors.cli.terminal.output import say, say_aside, say_heading, say_json, say_table


@click.group()
def session() -> None:
    """List, show, resume, fork and delete stored sessions.

    They are read from the agents' own stores, without starting an agent. An ID may be shortened to
    its beginning.
    """


session.add_command(delete)
session.add_command(prune)


def _limit(usual: int, least: int, what: str) -> Option[R]:
    words = f"The most {what} to show ({usual})."
    number = click.IntRange(min=least)
    return click.option("--limit", default=usual, type=number, metavar="N", help=words)


@session.command("list")
@click.option("--all", "is_all", is_flag=True, help="The sessions of all directories.")
@_limit(20, 1, "sessions")
@with_options(PROVIDER, CONFIG, CWD, JSON)
def list_command(wanted: CommandOptions, is_all: bool, limit: int) -> None:
    """List the sessions of this directory, the last used first."""
    finder = SessionFinder.for_options(wanted)
    found = finder.everywhere() if is_all else finder.here()
    for problem in found.problems:
        say_aside(problem)
    shown, short = found.sessions[:limit], short_ids(found)
    if wanted.as_json:
        for each in shown:
            say_json({"provider": each.provider, **msgspec.to_builtins(each.session)})
        return
    if not shown:
        say(
            "no sessions"
            if is_all
            else "no sessions for this directory; to see all: avatar session list --all"
        )
        return
    now = datetime.now().astimezone()
    columns = ("id", "when", "provider", "title") + (("directory",) if is_all else ())
    rows = [_row(each, short, now)[: len(columns)] for each in shown]
    say_table(columns, rows, cut="title")
    if (more := len(found.sessions) - len(shown)) > 0:
        say(f"{more} older ones are not shown; for all: --limit {len(found.sessions)}")


def _row(kept: FoundSession, short: dict[str, str], now: datetime) -> tuple[str, ...]:
    each = kept.session
    when = ago(moment_of(each.updated_at), now)
    return short[each.session_id], when, kept.provider, each.title, each.working_dir


@session.command()
@click.argument("session_id", metavar="ID", shell_complete=complete_session)
@_limit(100, 0, "messages")
@with_options(PROVIDER, CONFIG, CWD, JSON)
def show(wanted: CommandOptions, session_id: str, limit: int) -> None:
    """Show what was said in a session, without thoughts and tools."""
    finder = SessionFinder.for_options(wanted)
    kept = finder.named(session_id)
    provider, _ = finder.config.chosen(kept.provider)
    transcript = read_session(provider, kept.session, limit)
    if wanted.as_json:
        say_json({"provider": kept.provider, **msgspec.to_builtins(kept.session)})
        for message in transcript.messages:
            say_json(message)
    else:
        _show_facts(kept)
        _show_messages(transcript.messages)
    for problem in transcript.diagnostics:
        say_aside(problem)


def _show_facts(kept: FoundSession) -> None:
    each = kept.session
    facts = {
        "title": each.title,
        "id": each.session_id,
        "provider": kept.provider,
        "directory": each.working_dir,
        "started": clock(moment_of(each.created_at)),
        "last used": clock(moment_of(each.updated_at)),
        "file": each.file,
    }
    for name, value in facts.items():
        say(f"{name + ':':<11}{value or '-'}")


def _show_messages(messages: tuple[StoredMessage, ...]) -> None:
    role = ""
    for message in messages:
        if message.role != role:
            role = message.role
            say()
            say_heading(f"{role}:")
        say(message.text)


@session.command()
@click.argument("session_id", metavar="ID", shell_complete=complete_session)
@click.argument("prompt", nargs=-1)
@with_options(*TALK)
def resume(wanted: CommandOptions, session_id: str, prompt: tuple[str, ...]) -> int | None:
    """Resume a session, with this PROMPT or in a conversation."""
    kept = SessionFinder.for_options(wanted).named(session_id)
    begun = msgspec.structs.replace(_where(wanted, kept), resume=kept.session.session_id)
    return _converse(begun, prompt)


@session.command()
@click.argument("session_id", metavar="ID", shell_complete=complete_session)
@click.argument("prompt", nargs=-1)
@with_options(*TALK)
def fork(wanted: CommandOptions, session_id: str, prompt: tuple[str, ...]) -> int | None:
    """Continue in a copy of a session, with this PROMPT or in a conversation.

    The original stays as it is. The id of the copy is printed at the end, on stderr.
    """
    finder = SessionFinder.for_options(wanted)
    kept = finder.named(session_id)
    before = _copies(finder, kept)
    begun = msgspec.structs.replace(_where(wanted, kept), fork=kept.session.session_id)
    try:
        return _converse(begun, prompt)
    finally:
        if len(new := _copies(finder, kept) - before) == 1:
            say_aside(f"the copy is {new.pop()}")


def _copies(finder: SessionFinder, kept: FoundSession) -> set[str]:
    """The ids of possible copies: a copy has the title of the original."""
    return {
        each.session.session_id
        for each in finder.everywhere().sessions
        if (each.provider, each.session.title) == (kept.provider, kept.session.title)
    }


def _where(wanted: CommandOptions, kept: FoundSession) -> CommandOptions:
    """The options with the session's own agent and directory: most agents find it only there."""
    held = Path(kept.session.working_dir)
    directory = wanted.cwd or (held if held.is_absolute() and held.is_dir() else None)
    return msgspec.structs.replace(wanted, provider=kept.provider, cwd=directory)


def _converse(wanted: CommandOptions, prompt: tuple[str, ...]) -> int | None:
    """Run `avatar chat` or `avatar repl` with these options."""
    is_chat = bool(prompt) or not sys.stdin.isatty()
    command = command_named("chat" if is_chat else "repl")
    words = {"prompt": prompt} if is_chat else {}
    typed = {param.name for param in command.params}
    options = {name: each for name, each in msgspec.structs.asdict(wanted).items() if name in typed}
    code: int | None = click.get_current_context().invoke(command, **options, **words)
    return code
