"""The session: one life of the agent, or of the connection to it, as a one_for_all supervisor."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import trio

from avatar_actors.model.permission_rules import Rules
from avatar_actors.model.prices import PriceList
from avatar_actors.model.redaction import Redactor
from avatar_actors.model.settings import AvatarSettings, PermissionMode
from avatar_actors.providers.provider import Provider, Remote
from avatar_actors.session import messages
from avatar_actors.session.agent_process import ProcessContext, Running, agent_process
from avatar_actors.session.bridge import Output, bridge
from avatar_actors.session.file_server import file_server
from avatar_actors.session.launch import Launcher
from avatar_actors.session.messages import OuterActors, SessionActors
from avatar_actors.session.opening import AgentEnd, SessionOpening
from avatar_actors.session.remote.link import Reached, RemoteContext, remote_link
from avatar_actors.session.stdio import ProcessOutput, open_output, stderr_monitor, stdin_writer
from avatar_actors.wire.commands import Open
from supervisors import (
    Address,
    Backoff,
    ChildSpec,
    Inbox,
    MailboxSpec,
    Overflow,
    Spec,
    Strategy,
    SupervisorSpec,
)

# Blocks of a remote agent's output that may wait for the bridge, each up to 64 KiB.
_AHEAD = 4
# Messages that may wait for an agent that does not read; then it counts as broken.
_UNREAD = 4096
# What the end of a process tree may take beyond its grace: see processes.lease.
_KILL = 8.0
# What a connection may take to say goodbye.
_GOODBYE = 3.0


def session_spec(
    provider: Provider, settings: AvatarSettings, actors: OuterActors, private_dir: Path
) -> SupervisorSpec:
    """The session as a child of its avatar: a crash of any part ends this life of all of them."""
    restarts = settings.restarts
    launcher = Launcher(provider, settings, private_dir)
    return SupervisorSpec(
        "session",
        strategy=Strategy.ONE_FOR_ALL,
        intensity=0,
        children=lambda: _Life(launcher, actors).children(),
        backoff=Backoff(
            minimum=restarts.first_delay,
            maximum=max(restarts.max_delay, restarts.first_delay),
            factor=restarts.factor,
            jitter=0.1,
        ),
    )


class _Life:
    """The parts of one life, and how they find each other."""

    def __init__(self, launcher: Launcher, actors: OuterActors) -> None:
        self._launcher, self._actors = launcher, actors
        self._settings = launcher.settings
        self._redactor = launcher.redactor()
        self._remote = launcher.remote()
        self._agent = self._agent_end()
        self._files = ChildSpec("file server", self._serve_files)
        patience = self._settings.timeouts.start + 5
        self._bridge = ChildSpec("bridge", self._run_bridge, start_timeout=patience)

    def _agent_end(self) -> _ProcessEnd | _RemoteEnd:
        if self._remote is None:
            return _ProcessEnd(self._launcher, self._actors, self._redactor)
        return _RemoteEnd(self._around(self._remote))

    def children(self) -> Sequence[Spec]:
        """In the order of their start."""
        return [*self._agent.children, self._files, self._bridge]

    async def _serve_files(self, inbox: Inbox[messages.ServeFile]) -> None:
        await file_server(inbox, self._settings.working_dir)

    async def _run_bridge(self, inbox: Inbox[messages.BridgeMessage]) -> None:
        parts = self._agent.session_actors(inbox, inbox.sibling(self._files))
        wire = self._launcher.provider.wire(self._settings)
        opening = self._opening(self._agent.agent_end(parts.process))
        async with self._agent.output(parts.process) as output:
            await bridge(inbox, wire, output, (self._actors, parts), opening)

    def _opening(self, agent: AgentEnd) -> SessionOpening:
        plan, settings = agent.plan, self._launcher.chosen(agent.plan)
        # A mode named by the host decides what may run unasked, unless the settings forbid more.
        is_told = settings.mode and settings.permissions is PermissionMode.ASK
        permissions = PermissionMode.UNRESTRICTED if is_told else settings.permissions
        command = Open(
            cwd=(self._remote and self._remote.cwd) or str(settings.working_dir),
            resume=plan.session_id,
            begins=plan.begins,
            new_id=plan.new_id,
            mcp_servers=settings.mcp_servers,
            system_prompt=settings.system_prompt,
            model=settings.model,
            mode=settings.mode,
        )
        return SessionOpening(
            command=command,
            agent=agent,
            minimum=self._launcher.provider.minimum,
            has_store=self._launcher.provider.store is not None and self._remote is None,
            patience=settings.timeouts.start,
            interrupt_grace=settings.timeouts.interrupt,
            redactor=self._redactor,
            prices=PriceList(settings.prices),
            rules=Rules(permissions, settings.tools),
            known_tools=self._launcher.provider.tools,
        )

    def _around(self, remote: Remote) -> RemoteContext:
        return RemoteContext(
            actors=self._actors,
            remote=remote,
            redactor=self._redactor,
            patience=self._settings.timeouts.start,
            max_message=self._settings.max_line,
        )


class _ProcessEnd:
    """The agent as a process of ours."""

    def __init__(self, launcher: Launcher, actors: OuterActors, redactor: Redactor) -> None:
        self._launcher, self._actors = launcher, actors
        self._redactor = redactor
        self._news, self._heard = trio.open_memory_channel[messages.StreamEnded](1)
        times = launcher.settings.timeouts
        self._process = ChildSpec(
            "agent process",
            self._run_process,
            shutdown=times.stop + _KILL,
            start_timeout=times.start,
        )
        unread = MailboxSpec(_UNREAD, Overflow.FAIL)
        self._writer = ChildSpec("stdin writer", self._run_writer, mailbox=unread)
        self._stderr = ChildSpec("stderr monitor", self._run_stderr)
        self.children: list[Spec] = [self._process, self._writer, self._stderr]

    def session_actors(
        self, inbox: Inbox[Any], file_server: Address[messages.ServeFile]
    ) -> SessionActors:
        """An actor for the process, and one for each pipe but stdout."""
        return SessionActors(
            process=inbox.sibling(self._process),
            writer=inbox.sibling(self._writer),
            stderr=inbox.sibling(self._stderr),
            file_server=file_server,
        )

    def output(
        self, process: Address[messages.ProcessMessage]
    ) -> AbstractAsyncContextManager[ProcessOutput]:
        """Its stdout, for the bridge to read."""
        return open_output(self._running(process).lease, self._heard)

    def agent_end(self, process: Address[messages.ProcessMessage]) -> AgentEnd:
        """What is known of it now that it runs."""
        running = self._running(process)
        pid, containment = running.lease.pid, self._actors.warden.info or "best effort"
        return AgentEnd(plan=running.plan, pid=pid, life=str(pid), containment=containment)

    async def _run_process(self, inbox: Inbox[messages.ProcessMessage]) -> None:
        around = ProcessContext(
            actors=self._actors,
            settle=self._launcher.settle,
            prepare=self._launcher.prepare,
            install=self._launcher.provider.install,
            stop_grace=self._launcher.settings.timeouts.stop,
        )
        await agent_process(inbox, around)

    async def _run_writer(self, inbox: Inbox[messages.Write]) -> None:
        stdin = self._running(inbox.sibling(self._process)).lease.stdin
        await stdin_writer(inbox, stdin, self._news)

    async def _run_stderr(self, inbox: Inbox[messages.StderrTail]) -> None:
        pipe = self._running(inbox.sibling(self._process)).lease.stderr
        await stderr_monitor(inbox, pipe, self._actors.tracker, self._redactor)

    @staticmethod
    def _running(process: Address[messages.ProcessMessage]) -> Running:
        running: Running = process.info
        return running


class _RemoteEnd:
    """The agent as a remote program: one link stands for the process and its pipes."""

    def __init__(self, around: RemoteContext) -> None:
        out, self._heard = trio.open_memory_channel[messages.FromAgent](_AHEAD)
        self._link = ChildSpec(
            "remote link",
            partial(remote_link, context=around, out=out),
            shutdown=_GOODBYE,
            mailbox=MailboxSpec(_UNREAD, Overflow.FAIL),
        )
        self.children: list[Spec] = [self._link]

    def session_actors(
        self, inbox: Inbox[Any], file_server: Address[messages.ServeFile]
    ) -> SessionActors:
        """The link stands for all but the file server."""
        link = inbox.sibling(self._link)
        return SessionActors(process=link, writer=link, stderr=link, file_server=file_server)

    def output(self, _: Address[Any]) -> AbstractAsyncContextManager[Output]:
        """What the link passes on, for the bridge to read."""
        return nullcontext(self._heard)

    def agent_end(self, link: Address[Any]) -> AgentEnd:
        """What is known of it before it has said a word."""
        reached: Reached = link.info
        words = "remote: its processes are not ours"
        return AgentEnd(plan=reached.plan, pid=None, life=reached.life, containment=words)
