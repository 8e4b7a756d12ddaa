"""`avatar session delete` and `prune`: delete sessions of the embedded agent, after a question.

Other agents' stores are their own: nothing is deleted there.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import click
import msgspec

from avatar_actors import Provider, provider_named
from avatar_actors.cli.completion import complete_session
from avatar_actors.cli.exit_codes import ExitCode, Failure
from avatar_actors.cli.options import CONFIG, CWD, JSON, CommandOptions, with_options
from avatar_actors.cli.session.finder import FoundSession, SessionFinder
from avatar_actors.cli.terminal.formatting import ago, moment_of
from avatar_actors.cli.terminal.output import say, say_json
from avatar_actors.cli.terminal.text import one_line

# Every session there is: the oldest are those to delete.
ALL: Final = 1_000_000
MOST_SHOWN: Final = 10
_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_AGE: Final = re.compile(r"(?P<count>\d{1,6})(?P<unit>[mhdw])")
_OWN: Final = "embedded"


class _Age(click.ParamType[timedelta]):
    name = "age"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        """A number with a unit."""
        match = _AGE.fullmatch(str(value).lower())
        if match is None:
            self.fail(
                f"{value!r} is not an age; for example 12h, 30d or 8w (m, h, d, w)", param, ctx
            )
        return timedelta(**{_UNITS[match["unit"]]: int(match["count"])})


_YES: Final = click.option("-y", "--yes", "is_sure", is_flag=True, help="Delete without asking.")


@click.command()
@click.argument(
    "session_ids", metavar="ID...", nargs=-1, required=True, shell_complete=complete_session
)
@_YES
@with_options(CONFIG, CWD, JSON)
def delete(wanted: CommandOptions, session_ids: tuple[str, ...], is_sure: bool) -> None:
    """Delete sessions of the embedded agent, after asking.

    Sessions of other agents are in the agents' own stores and are never deleted.
    """
    finder = SessionFinder.for_options(wanted)
    found = {each.session.session_id: each for each in map(finder.named, session_ids)}
    names = {each.provider for each in found.values()}
    foreign = [name for name in names if _provider(finder, name).delete is None]
    if foreign:
        raise Failure(
            f"{foreign[0]} keeps its sessions itself; avatar deletes those of {_OWN} only",
            ExitCode.USAGE,
        )
    _remove(finder, tuple(found.values()), wanted, is_sure)


@click.command()
@click.option(
    "--older-than",
    type=_Age(),
    metavar="AGE",
    help="Delete those last used so long ago: 12h, 30d, 8w.",
)
@click.option(
    "--keep", type=click.IntRange(min=0), metavar="N", help="Keep the N that were used last."
)
@_YES
@with_options(CONFIG, CWD, JSON)
def prune(
    wanted: CommandOptions, older_than: timedelta | None, keep: int | None, is_sure: bool
) -> None:
    """Delete old sessions of the embedded agent, after asking.

    With --older-than and --keep, both must allow it. All directories are looked at, or with -C one
    of them. Sessions of other agents are in the agents' own stores and are never deleted.

    \b
    avatar session prune --older-than 30d
    avatar session prune --keep 20 --yes
    """
    if older_than is None and keep is None:
        raise click.UsageError("which ones? Add --older-than 30d, --keep 20, or both")
    finder = SessionFinder.of(_OWN, wanted.config, wanted.cwd)
    finder = msgspec.structs.replace(finder, most=ALL)
    found = finder.here() if wanted.cwd else finder.everywhere()
    rest = found.sessions[keep or 0 :]
    if older_than is not None:
        before = datetime.now().astimezone() - older_than
        rest = tuple(each for each in rest if _was_used_before(each, before))
    _remove(finder, rest, wanted, is_sure)


def _was_used_before(kept: FoundSession, before: datetime) -> bool:
    used = moment_of(kept.session.updated_at)
    return used is not None and used <= before


def _provider(finder: SessionFinder, name: str) -> Provider:
    provider, _ = finder.config.chosen(name)
    return provider_named(provider) if isinstance(provider, str) else provider


def _remove(
    finder: SessionFinder,
    found: Sequence[FoundSession],
    wanted: CommandOptions,
    is_sure: bool,
) -> None:
    if not found:
        if not wanted.as_json:
            say("nothing to delete")
        return
    if not is_sure:
        _ask(found)
    for each in found:
        _delete(finder, each)
        if wanted.as_json:
            say_json({"deleted": each.session.session_id, "title": each.session.title})
    if not wanted.as_json:
        say(f"deleted {_counted(found)}{_named(found)}")


def _ask(found: Sequence[FoundSession]) -> None:
    if not sys.stdin.isatty():
        raise click.UsageError("nobody can be asked here; to delete without asking: --yes")
    now = datetime.now().astimezone()
    for each in found[:MOST_SHOWN]:
        when = ago(moment_of(each.session.updated_at), now)
        click.echo(f"  {one_line(each.session.title)} ({when})", err=True)
    if (more := len(found) - MOST_SHOWN) > 0:
        click.echo(f"  and {more} more", err=True)
    if not click.confirm(f"Delete {_counted(found)} of {found[0].provider}?", err=True):
        raise Failure("nothing was deleted", ExitCode.FAILED)


def _delete(finder: SessionFinder, each: FoundSession) -> None:
    delete_one = _provider(finder, each.provider).delete
    if delete_one is None:
        return
    try:
        delete_one(each.session)
    except OSError as error:
        raise Failure(f"cannot delete {each.session.file}: {error.strerror}") from error


def _counted(found: Sequence[FoundSession]) -> str:
    noun = "session" if len(found) == 1 else "sessions"
    return f"{len(found)} {noun}"


def _named(found: Sequence[FoundSession]) -> str:
    titles = [one_line(each.session.title) for each in found]
    return f": {titles[0]}" if len(titles) == 1 else ""
