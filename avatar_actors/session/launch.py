"""Prepares the launch of an agent: its command, its environment, its private files."""

from __future__ import annotations

import uuid
from pathlib import Path

import trio
from msgspec import Struct
from msgspec.structs import replace

from avatar_actors.model.redaction import Redactor, of_environment, of_headers, of_url, redactor_of
from avatar_actors.model.settings import AvatarSettings, Restarts
from avatar_actors.model.values import Continuity
from avatar_actors.processes import Launch
from avatar_actors.providers.provider import (
    RECONNECTS,
    LaunchPlan,
    Place,
    Provider,
    Remote,
    passed_to,
    remote_of,
)
from avatar_actors.providers.stores.store import SessionListing, SessionSearch
from avatar_actors.session.messages import ResumePlan
from avatar_actors.wire.commands import Beginning

# With 10 the events of 200 busy agents came as late as with 0.
_NICE = {"low": 19, "normal": 0}


class Launcher(Struct, frozen=True):
    """An agent's provider with the host's settings."""

    provider: Provider
    settings: AvatarSettings
    private_dir: Path

    async def settle(self, resume: ResumePlan) -> ResumePlan:
        """Complete the plan with the id of a new session, or of the last one if it is known."""
        resume = replace(resume, new_id=str(uuid.uuid4()))
        if resume.begins is not Beginning.LAST or self.provider.store is None:
            return resume
        listing = await trio.to_thread.run_sync(self.stored_sessions, 1)
        if listing.sessions:
            last = listing.sessions[0].session_id
            return replace(resume, session_id=last, begins=Beginning.AS_NAMED)
        why = "; ".join(
            [f"there is no earlier session of {self.settings.working_dir}", *listing.diagnostics]
        )
        return replace(resume, begins=Beginning.AS_NAMED, continuity=Continuity.FRESH, lost=why)

    async def prepare(self, resume: ResumePlan) -> Launch:
        """The launch of the next life; its private files are written."""
        plan = self._plan(resume)
        if plan.files:  # a thread costs a millisecond or two of every restart
            await trio.to_thread.run_sync(_write_files, self.private_dir, plan.files)
        return Launch(
            argv=plan.argv,
            cwd=str(self.settings.working_dir),
            env=self._environment(plan),
            nice=_NICE[self.settings.priority],
        )

    def remote(self) -> Remote | None:
        """Where the agent is, if it is not launched but connected to."""
        return remote_of(self.provider, self.settings)

    def chosen(self, resume: ResumePlan) -> AvatarSettings:
        """The settings, with the model and mode chosen since the start."""
        model, mode = resume.model or self.settings.model, resume.mode or self.settings.mode
        return replace(self.settings, model=model, mode=mode)

    def stored_sessions(self, limit: int = 100) -> SessionListing:
        """The sessions of the working directory in the agent's store. Blocks."""
        if self.provider.store is None:
            return SessionListing()
        env = self._environment(self._plan(ResumePlan()))
        search = SessionSearch(env=env, working_dir=self.settings.working_dir, limit=limit)
        return self.provider.store(search)

    def redactor(self) -> Redactor:
        """Hides this agent's secrets."""
        settings = self.settings
        values = [*of_environment({**self._passed(), **settings.env})]
        remote = self.remote()
        if remote is not None:
            values += (*of_headers(remote.headers), *of_url(remote.url))
        for server in settings.mcp_servers:
            values += (*server.env.values(), *of_headers(server.headers), *of_url(server.url))
        return redactor_of(values)

    def _plan(self, resume: ResumePlan) -> LaunchPlan:
        place = Place(
            private_dir=self.private_dir,
            session_id=resume.new_id or str(uuid.uuid4()),
            resume=resume.session_id,
            begins=resume.begins,
        )
        return self.provider.plan(self.chosen(resume), place)

    def _environment(self, plan: LaunchPlan) -> dict[str, str]:
        return {**self._passed(), **plan.env, **self.settings.env}

    def _passed(self) -> dict[str, str]:
        return passed_to(self.provider)


def settled(provider: Provider, settings: AvatarSettings) -> AvatarSettings:
    """The settings as they hold for this agent: a remote one has restarts of its own."""
    is_remote = remote_of(provider, settings) is not None
    if is_remote and settings.restarts == Restarts():
        return replace(settings, restarts=RECONNECTS)
    return settings


def _write_files(directory: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(text, "utf-8")
