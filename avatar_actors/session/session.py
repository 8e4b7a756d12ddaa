"""The session: one life of the agent, or of the line to it. Its parts live and die together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import trio
from msgspec import Struct

from avatar_actors.model.permission_rules import Rules
from avatar_actors.model.prices import PriceList
from avatar_actors.model.redaction import Redactor
from avatar_actors.model.settings import AvatarSettings, PermissionMode
from avatar_actors.providers.provider import Provider, Remote
from avatar_actors.session import messages
from avatar_actors.session.agent_process import ProcessContext, Running, agent_process
from avatar_actors.session.bridge import bridge
from avatar_actors.session.file_server import file_server
from avatar_actors.session.launch import Launcher
from avatar_actors.session.messages import Spent
from avatar_actors.session.opening import AgentEnd, BridgeAddresses, SessionOpening
from avatar_actors.session.remote.link import Reached, RemoteContext, remote_link
from avatar_actors.session.stdio import FromAgent, stderr_monitor, stdin_writer, stdout_reader
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

# Blocks of the agent's output that may wait for the bridge, each up to 64 KiB.
_AHEAD = 4
# Messages that may wait for an agent that does not read; then it counts as broken.
_UNREAD = 4096
# What the end of a process tree may take beyond its grace: see processes.lease.
_KILL = 8.0
# What a connection may take to say goodbye.
_GOODBYE = 3.0

Out: TypeAlias = trio.MemorySendChannel[FromAgent]


class SessionAddresses(Struct, frozen=True, kw_only=True):
    """The actors around a session, which outlive it."""

    warden: Address[messages.Admit]
    hub: Address[messages.Publish]
    tracker: Address[messages.TrackerNews]
    budget: Address[Spent]
    gatekeeper: Address[messages.GatekeeperMessage]
    turn_queue: Address[messages.QueueNews]


def session_spec(
    provider: Provider, settings: AvatarSettings, company: SessionAddresses, private_dir: Path
) -> SupervisorSpec:
    """The session as a child of its avatar: a crash of any part ends this life of all of them."""
    restarts = settings.restarts
    launcher = Launcher(provider, settings, private_dir)
    return SupervisorSpec(
        "session",
        strategy=Strategy.ONE_FOR_ALL,
        intensity=0,
        children=lambda: _Life(launcher, company).children(),
        backoff=Backoff(
            minimum=restarts.first_delay,
            maximum=max(restarts.max_delay, restarts.first_delay),
            factor=restarts.factor,
            jitter=0.1,
        ),
    )


class _Life:
    """The parts of one life, and how they find each other."""

    def __init__(self, launcher: Launcher, company: SessionAddresses) -> None:
        self._launcher, self._company = launcher, company
        self._settings = launcher.settings
        self._redactor = launcher.redactor()
        self._remote = launcher.remote()
        out, self._heard = trio.open_memory_channel[FromAgent](_AHEAD)
        self._agent = self._agent_end(out)
        self._clerk = ChildSpec("file clerk", self._run_clerk)
        patience = self._settings.timeouts.start + 5
        self._bridge = ChildSpec("bridge", self._run_bridge, start_timeout=patience)

    def _agent_end(self, out: Out) -> _ProcessEnd | _RemoteEnd:
        if self._remote is None:
            return _ProcessEnd(self._launcher, self._company, self._redactor, out)
        return _RemoteEnd(self._around(self._remote), out)

    def children(self) -> Sequence[Spec]:
        """In the order of their start."""
        return [*self._agent.children, self._clerk, self._bridge]

    async def _run_clerk(self, inbox: Inbox[messages.ServeFile]) -> None:
        await file_server(inbox, self._settings.working_dir)

    async def _run_bridge(self, inbox: Inbox[messages.BridgeMessage]) -> None:
        writer, process, stderr = self._agent.addresses(inbox)
        links = BridgeAddresses(
            tracker=self._company.tracker,
            budget=self._company.budget,
            gatekeeper=self._company.gatekeeper,
            turn_queue=self._company.turn_queue,
            process=process,
            writer=writer,
            clerk=inbox.sibling(self._clerk),
            stderr=stderr,
        )
        wire = self._launcher.provider.wire(self._settings)
        opening = self._opening(self._agent.far_end(process))
        await bridge(inbox, wire, self._heard, links, opening)

    def _opening(self, far: AgentEnd) -> SessionOpening:
        wish, settings = far.wish, self._launcher.chosen(far.wish)
        # A mode that the host names is its word on what may run unasked, unless it forbids more.
        is_told = settings.mode and settings.permissions is PermissionMode.ASK
        permissions = PermissionMode.UNRESTRICTED if is_told else settings.permissions
        command = Open(
            cwd=(self._remote and self._remote.cwd) or str(settings.working_dir),
            resume=wish.session_id,
            begins=wish.begins,
            new_id=wish.new_id,
            mcp_servers=settings.mcp_servers,
            system_prompt=settings.system_prompt,
            model=settings.model,
            mode=settings.mode,
        )
        return SessionOpening(
            command=command,
            far=far,
            minimum=self._launcher.provider.minimum,
            has_store=self._launcher.provider.store is not None and self._remote is None,
            patience=settings.timeouts.start,
            interrupt_grace=settings.timeouts.interrupt,
            redactor=self._redactor,
            prices=PriceList(settings.prices),
            rules=Rules(permissions, settings.tools),
        )

    def _around(self, remote: Remote) -> RemoteContext:
        return RemoteContext(
            turn_queue=self._company.turn_queue,
            tracker=self._company.tracker,
            gatekeeper=self._company.gatekeeper,
            hub=self._company.hub,
            remote=remote,
            redactor=self._redactor,
            patience=self._settings.timeouts.start,
            max_message=self._settings.max_line,
        )


# To whom a bridge writes, whom it asks for the agent's processes, whom for its stderr.
_Addresses: TypeAlias = tuple[
    Address[messages.Write], Address[messages.ProcessMessage], Address[messages.StderrTail]
]


class _ProcessEnd:
    """The agent as a process of ours."""

    def __init__(
        self, launcher: Launcher, company: SessionAddresses, redactor: Redactor, out: Out
    ) -> None:
        self._launcher, self._company = launcher, company
        self._redactor, self._out, self._news = redactor, out, out.clone()
        times = launcher.settings.timeouts
        self._process = ChildSpec(
            "agent process",
            self._run_process,
            shutdown=times.stop + _KILL,
            start_timeout=times.start,
        )
        unread = MailboxSpec(_UNREAD, Overflow.FAIL)
        self._writer = ChildSpec("stdin writer", self._run_writer, mailbox=unread)
        self._reader = ChildSpec("stdout reader", self._run_reader)
        self._stderr = ChildSpec("stderr monitor", self._run_stderr)
        self.children: list[Spec] = [self._process, self._writer, self._reader, self._stderr]

    def addresses(self, inbox: Inbox[Any]) -> _Addresses:
        """Each part has its own."""
        process, stderr = inbox.sibling(self._process), inbox.sibling(self._stderr)
        return inbox.sibling(self._writer), process, stderr

    def far_end(self, process: Address[messages.ProcessMessage]) -> AgentEnd:
        """What is known of it now that it runs."""
        running = self._running(process)
        pid, containment = running.lease.pid, self._company.warden.info or "best effort"
        return AgentEnd(wish=running.wish, pid=pid, life=str(pid), containment=containment)

    async def _run_process(self, inbox: Inbox[messages.ProcessMessage]) -> None:
        around = ProcessContext(
            warden=self._company.warden,
            turn_queue=self._company.turn_queue,
            tracker=self._company.tracker,
            gatekeeper=self._company.gatekeeper,
            hub=self._company.hub,
            settle=self._launcher.settle,
            prepare=self._launcher.prepare,
            install=self._launcher.provider.install,
            stop_grace=self._launcher.settings.timeouts.stop,
        )
        await agent_process(inbox, around)

    async def _run_writer(self, inbox: Inbox[messages.Write]) -> None:
        stdin = self._running(inbox.sibling(self._process)).lease.stdin
        await stdin_writer(inbox, stdin, self._news)

    async def _run_reader(self, inbox: Inbox[messages.Nothing]) -> None:
        lease = self._running(inbox.sibling(self._process)).lease
        await stdout_reader(inbox, lease, self._out)

    async def _run_stderr(self, inbox: Inbox[messages.StderrTail]) -> None:
        pipe = self._running(inbox.sibling(self._process)).lease.stderr
        await stderr_monitor(inbox, pipe, self._company.hub, self._redactor)

    @staticmethod
    def _running(process: Address[messages.ProcessMessage]) -> Running:
        running: Running = process.info
        return running


class _RemoteEnd:
    """The agent as somebody else's program: one link stands for all that a process has."""

    def __init__(self, around: RemoteContext, out: Out) -> None:
        self._link = ChildSpec(
            "remote link",
            partial(remote_link, context=around, out=out),
            shutdown=_GOODBYE,
            mailbox=MailboxSpec(_UNREAD, Overflow.FAIL),
        )
        self.children: list[Spec] = [self._link]

    def addresses(self, inbox: Inbox[Any]) -> _Addresses:
        """All the same."""
        link = inbox.sibling(self._link)
        return link, link, link

    def far_end(self, link: Address[Any]) -> AgentEnd:
        """What is known of it before it has said a word."""
        reached: Reached = link.info
        words = "remote: its processes are not ours"
        return AgentEnd(wish=reached.wish, pid=None, life=reached.life, containment=words)
