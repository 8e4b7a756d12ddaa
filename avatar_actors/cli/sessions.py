"""`avatar session`: finds stored sessions, lists and shows them, resumes or forks them.

Reading an agent's store is left to the library, a conversation to `avatar chat` and `repl`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final

import click
import msgspec
from msgspec import Struct

from avatar_actors import (
    AvatarConfig,
    AvatarOptions,
    Provider,
    StoredMessage,
    StoredSession,
    list_sessions,
    provider_named,
    read_session,
)
from avatar_actors.cli.commands import command_named
from avatar_actors.cli.completion import complete_session
from avatar_actors.cli.exit_codes import ExitCode, Failure
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
from avatar_actors.cli.terminal.formatting import ago, clock, moment_of
from avatar_actors.cli.terminal.output import say, say_aside, say_heading, say_json, say_table
from avatar_actors.model.values import nearest

# The most sessions read from each store; older ones are neither listed nor found by id.
MOST: Final = 1000
SHORTEST: Final = 8
MOST_NAMED: Final = 3
LIST: Final = "avatar session list --all"


class FoundSession(Struct, frozen=True):
    """A stored session and its provider."""

    provider: str
    session: StoredSession


class FoundSessions(Struct, frozen=True):
    """The sessions, the last used first, and what could not be read."""

    sessions: tuple[FoundSession, ...]
    problems: tuple[str, ...] = ()


class SessionFinder(Struct, frozen=True):
    """Searches the stores of these providers."""

    config: AvatarConfig
    names: tuple[str, ...]
    cwd: Path | None

    @classmethod
    def of(cls, provider: str, config: Path | None, cwd: Path | None) -> SessionFinder:
        """SettingsError for an unknown provider or an invalid configuration."""
        loaded = AvatarConfig.load(config)
        if provider:
            loaded.chosen(provider)
        return cls(loaded, (provider,) if provider else tuple(loaded.sections), cwd)

    def here(self) -> FoundSessions:
        """The sessions of the directory."""
        return self._found(self._directory)

    def everywhere(self) -> FoundSessions:
        """The sessions of all directories."""
        return self._found(lambda _: None)

    def named(self, word: str) -> FoundSession:
        """The one session whose id starts so, of the directory, else of any; else Failure."""
        for found in (self.here(), self.everywhere()):
            matching = [each for each in found.sessions if each.session.session_id.startswith(word)]
            whole = [each for each in matching if each.session.session_id == word]
            if len(matching) == 1 or whole:
                return (whole or matching)[0]
            if matching:
                ids = [each.session.session_id for each in matching]
                some = ", ".join(ids[:MOST_NAMED]) + (", …" if len(ids) > MOST_NAMED else "")
                raise Failure(f"{len(ids)} sessions start with {word!r}: {some}", ExitCode.USAGE)
        raise Failure(f"no session {word!r}{self._nearest(word)} (see: {LIST})", ExitCode.USAGE)

    def _nearest(self, word: str) -> str:
        ids = [each.session.session_id for each in self.everywhere().sessions]
        close = nearest(word, (each[: len(word)] for each in ids))
        return next(
            (f"; did you mean {each}?" for each in ids if close and each.startswith(close)), ""
        )

    def _found(self, where: Callable[[AvatarOptions], str | Path | None]) -> FoundSessions:
        sessions: list[FoundSession] = []
        problems: list[str] = []
        for name in self.names:
            provider, options = self.config.chosen(name)
            if not self._is_readable(provider):
                continue
            listing = list_sessions(provider, where(options), options.get("env"), MOST)
            sessions += [FoundSession(name, each) for each in listing.sessions]
            problems += listing.diagnostics
        sessions.sort(key=_last_used, reverse=True)
        return FoundSessions(tuple(sessions), tuple(problems))

    def _is_readable(self, provider: str | Provider) -> bool:
        kind = provider_named(provider) if isinstance(provider, str) else provider
        if kind.store is None and len(self.names) == 1:
            raise Failure(f"cannot read the sessions of {kind.name}: its store is not known")
        return kind.store is not None

    def _directory(self, options: AvatarOptions) -> str | Path:
        return self.cwd or options.get("working_dir") or Path()


def _last_used(kept: FoundSession) -> float:
    then = moment_of(kept.session.updated_at)
    return then.timestamp() if then else 0.0


def short_ids(found: FoundSessions) -> dict[str, str]:
    """The shortest unique beginning of each id, at least 8 characters."""
    ids = [each.session.session_id for each in found.sessions]
    for size in range(SHORTEST, max(map(len, ids), default=SHORTEST) + 1):
        if len({each[:size] for each in ids}) == len(set(ids)):
            return {each: each[:size] for each in ids}
    return {each: each for each in ids}


@click.group()
def session() -> None:
    """List, show, resume and fork stored sessions.

    They are read from the agents' own stores, without starting an agent. An ID may be shortened to
    its beginning.
    """


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
    finder = _finder(wanted)
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
    finder = _finder(wanted)
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
    kept = _finder(wanted).named(session_id)
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
    finder = _finder(wanted)
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


def _finder(wanted: CommandOptions) -> SessionFinder:
    return SessionFinder.of(wanted.provider, wanted.config, wanted.cwd)


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
