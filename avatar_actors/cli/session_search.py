"""Finds stored sessions: of one provider or of all whose stores can be read, by directory or id."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Final

from msgspec import Struct

from avatar_actors import (
    AvatarConfig,
    AvatarOptions,
    Provider,
    StoredSession,
    list_sessions,
    provider_named,
)
from avatar_actors.cli.exit_codes import ExitCode, Failure
from avatar_actors.cli.terminal.formatting import moment_of

# Of each store; more are neither listed nor found by their ids.
MOST: Final = 1000
SHORTEST: Final = 8
MOST_NAMED: Final = 3
LIST: Final = "avatar session list --all"


class SearchIn(Enum):
    """Where a session was held."""

    DIRECTORY = "directory"
    ALL = "all"


class Kept(Struct, frozen=True):
    """A session, and whose it is."""

    provider: str
    session: StoredSession


class FoundSessions(Struct, frozen=True):
    """The last used first; and what could not be read."""

    sessions: tuple[Kept, ...]
    remarks: tuple[str, ...] = ()


class SessionFinder(Struct, frozen=True):
    """Knows the stores to look into and the directory that is asked about."""

    config: AvatarConfig
    names: tuple[str, ...]
    cwd: Path | None

    @classmethod
    def of(cls, provider: str, config: Path | None, cwd: Path | None) -> SessionFinder:
        """SettingsError for a provider or a configuration that is none."""
        loaded = AvatarConfig.load(config)
        if provider:
            loaded.chosen(provider)
        return cls(loaded, (provider,) if provider else tuple(loaded.sections), cwd)

    def here(self) -> FoundSessions:
        """Those of the directory."""
        return self._found(SearchIn.DIRECTORY)

    def everywhere(self) -> FoundSessions:
        """Those of all directories."""
        return self._found(SearchIn.ALL)

    def named(self, word: str) -> Kept:
        """The one whose id begins so, of the directory or else of any; Failure if it is not one."""
        for found in (self.here(), self.everywhere()):
            matching = [each for each in found.sessions if each.session.session_id.startswith(word)]
            whole = [each for each in matching if each.session.session_id == word]
            if len(matching) == 1 or whole:
                return (whole or matching)[0]
            if matching:
                ids = [each.session.session_id for each in matching]
                some = ", ".join(ids[:MOST_NAMED]) + (", …" if len(ids) > MOST_NAMED else "")
                raise Failure(f"{len(ids)} sessions begin with {word!r}: {some}", ExitCode.USAGE)
        raise Failure(f"no session {word!r}{self._nearest(word)} (see: {LIST})", ExitCode.USAGE)

    def _nearest(self, word: str) -> str:
        from difflib import get_close_matches  # noqa: PLC0415 - only an error needs it

        ids = {each.session.session_id[: len(word)]: each for each in self.everywhere().sessions}
        close = get_close_matches(word, ids, n=1, cutoff=0.75)
        return f"; did you mean {ids[close[0]].session.session_id}?" if close else ""

    def _found(self, where: SearchIn) -> FoundSessions:
        sessions: list[Kept] = []
        remarks: list[str] = []
        for name in self.names:
            provider, options = self.config.chosen(name)
            if not self._is_readable(provider):
                continue
            listing = list_sessions(
                provider, self._directory(where, options), options.get("env"), MOST
            )
            sessions += [Kept(name, each) for each in listing.sessions]
            remarks += listing.diagnostics
        sessions.sort(key=_last_used, reverse=True)
        return FoundSessions(tuple(sessions), tuple(remarks))

    def _is_readable(self, provider: str | Provider) -> bool:
        kind = provider_named(provider) if isinstance(provider, str) else provider
        if kind.store is None and len(self.names) == 1:
            raise Failure(f"the sessions of {kind.name} cannot be read: its store is not known")
        return kind.store is not None

    def _directory(self, where: SearchIn, options: AvatarOptions) -> str | Path | None:
        if where is SearchIn.ALL:
            return None
        return self.cwd or options.get("working_dir") or Path()


def _last_used(kept: Kept) -> float:
    then = moment_of(kept.session.updated_at)
    return then.timestamp() if then else 0.0


def short_ids(found: FoundSessions) -> dict[str, str]:
    """The beginning of each id that is no other's."""
    ids = [each.session.session_id for each in found.sessions]
    for size in range(SHORTEST, max(map(len, ids), default=SHORTEST) + 1):
        if len({each[:size] for each in ids}) == len(set(ids)):
            return {each: each[:size] for each in ids}
    return {each: each for each in ids}
