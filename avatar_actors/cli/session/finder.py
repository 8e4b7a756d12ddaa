"""Finds stored sessions in the agents' own stores, by directory or by the beginning of an id."""

from __future__ import annotations

from collections.abc import Callable
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
from avatar_actors.cli.options import CommandOptions
from avatar_actors.cli.terminal.formatting import moment_of
from avatar_actors.model.words import nearest

# The most sessions read from each store; older ones are neither listed nor found by id.
MOST: Final = 1000
SHORTEST: Final = 8
# Nobody shortens an id to this many characters; agents' own have 36.
LONG: Final = 32
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
    most: int = MOST

    @classmethod
    def of(cls, provider: str, config: Path | None, cwd: Path | None) -> SessionFinder:
        """SettingsError for an unknown provider or an invalid configuration."""
        loaded = AvatarConfig.load(config)
        if provider:
            loaded.chosen(provider)
        return cls(loaded, (provider,) if provider else tuple(loaded.sections), cwd)

    @classmethod
    def for_options(cls, wanted: CommandOptions) -> SessionFinder:
        """The same from the options of a command."""
        return cls.of(wanted.provider, wanted.config, wanted.cwd)

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

    def whole_id(self, word: str) -> str:
        """The one id that starts so; the word itself if there is not exactly one."""
        kinds = [self.config.chosen(name)[0] for name in self.names]
        if len(word) >= LONG or not all(_has_store(kind) for kind in kinds):
            return word
        for found in (self.here(), self.everywhere()):
            ids = {each.session.session_id for each in found.sessions}
            matching = [each for each in ids if each.startswith(word)]
            if len(matching) == 1:
                return matching[0]
        return word

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
            if not _has_store(provider):
                if len(self.names) == 1:
                    raise Failure(f"cannot read the sessions of {name}: its store is not known")
                continue
            listing = list_sessions(provider, where(options), options.get("env"), self.most)
            sessions += [FoundSession(name, each) for each in listing.sessions]
            problems += listing.diagnostics
        sessions.sort(key=_last_used, reverse=True)
        return FoundSessions(tuple(sessions), tuple(problems))

    def _directory(self, options: AvatarOptions) -> str | Path:
        return self.cwd or options.get("working_dir") or Path()


def _has_store(provider: str | Provider) -> bool:
    kind = provider_named(provider) if isinstance(provider, str) else provider
    return kind.store is not None


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
