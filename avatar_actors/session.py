"""The session: one life of the agent's process. Its parts start, crash and restart together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import trio
from msgspec import Struct

from avatar_actors import messages
from avatar_actors import session_messages as inner
from avatar_actors.actors.agent_process import Running, Surroundings, agent_process
from avatar_actors.actors.bridge import bridge
from avatar_actors.actors.file_clerk import file_clerk
from avatar_actors.actors.stderr_monitor import stderr_monitor
from avatar_actors.actors.stdin_writer import stdin_writer
from avatar_actors.actors.stdout_reader import FromAgent, stdout_reader
from avatar_actors.connection import Links, Opening
from avatar_actors.launching import Launcher
from avatar_actors.limit_messages import BudgetMessage
from avatar_actors.prices import PriceList
from avatar_actors.providers.provider import Provider
from avatar_actors.settings import AvatarSettings
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


class Company(Struct, frozen=True, kw_only=True):
    """The actors around a session, which outlive it."""

    warden: Address[inner.Admit]
    hub: Address[messages.HubMessage]
    tracker: Address[messages.TrackerMessage]
    budget: Address[BudgetMessage]
    gatekeeper: Address[inner.GatekeeperMessage]
    turn_queue: Address[messages.TurnMessage]


def session_spec(
    provider: Provider, settings: AvatarSettings, company: Company, private_dir: Path
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

    def __init__(self, launcher: Launcher, company: Company) -> None:
        self._launcher, self._company = launcher, company
        self._settings = launcher.settings
        self._redactor = launcher.redactor()
        start, stop = self._settings.timeouts.start, self._settings.timeouts.stop
        self._out, self._heard = trio.open_memory_channel[FromAgent](_AHEAD)
        self._process = ChildSpec(
            "agent process", self._run_process, shutdown=stop + _KILL, start_timeout=start
        )
        unread = MailboxSpec(_UNREAD, Overflow.FAIL)
        self._writer = ChildSpec("stdin writer", self._run_writer, mailbox=unread)
        self._reader = ChildSpec("stdout reader", self._run_reader)
        self._stderr = ChildSpec("stderr monitor", self._run_stderr)
        self._clerk = ChildSpec("file clerk", self._run_clerk)
        self._bridge = ChildSpec("bridge", self._run_bridge, start_timeout=start + 5)

    def children(self) -> Sequence[Spec]:
        """In the order of their start."""
        return [
            self._process,
            self._writer,
            self._reader,
            self._stderr,
            self._clerk,
            self._bridge,
        ]

    async def _run_process(self, inbox: Inbox[inner.ProcessMessage]) -> None:
        around = Surroundings(
            warden=self._company.warden,
            turn_queue=self._company.turn_queue,
            tracker=self._company.tracker,
            gatekeeper=self._company.gatekeeper,
            prepare=self._launcher.prepare,
            install=self._launcher.provider.install,
            stop_grace=self._settings.timeouts.stop,
        )
        await agent_process(inbox, around)

    async def _run_writer(self, inbox: Inbox[inner.Write]) -> None:
        await stdin_writer(inbox, self._running(inbox.sibling(self._process)).lease.stdin)

    async def _run_reader(self, inbox: Inbox[inner.Nothing]) -> None:
        lease = self._running(inbox.sibling(self._process)).lease
        await stdout_reader(inbox, lease, self._out)

    async def _run_stderr(self, inbox: Inbox[inner.StderrTail]) -> None:
        pipe = self._running(inbox.sibling(self._process)).lease.stderr
        await stderr_monitor(inbox, pipe, self._company.hub, self._redactor)

    async def _run_clerk(self, inbox: Inbox[inner.ServeFile]) -> None:
        await file_clerk(inbox, self._settings.working_dir)

    async def _run_bridge(self, inbox: Inbox[inner.BridgeMessage]) -> None:
        process = inbox.sibling(self._process)
        links = Links(
            tracker=self._company.tracker,
            budget=self._company.budget,
            gatekeeper=self._company.gatekeeper,
            turn_queue=self._company.turn_queue,
            process=process,
            writer=inbox.sibling(self._writer),
            clerk=inbox.sibling(self._clerk),
            stderr=inbox.sibling(self._stderr),
        )
        wire = self._launcher.provider.wire(self._settings)
        opening = self._opening(self._running(process))
        await bridge(inbox, wire, self._heard, links, opening)

    def _opening(self, running: Running) -> Opening:
        settings = self._settings
        command = Open(
            cwd=str(settings.working_dir),
            resume=running.wish.session_id,
            mcp_servers=settings.mcp_servers,
            system_prompt=settings.system_prompt,
            model=settings.model,
            mode=settings.mode,
        )
        return Opening(
            command=command,
            wish=running.wish,
            pid=running.lease.pid,
            patience=settings.timeouts.start,
            interrupt_grace=settings.timeouts.interrupt,
            redactor=self._redactor,
            containment=self._company.warden.info or "best effort",
            prices=PriceList(settings.prices),
        )

    @staticmethod
    def _running(process: Address[inner.ProcessMessage]) -> Running:
        running: Running = process.info
        return running
