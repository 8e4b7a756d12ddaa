"""The agent's process and the warden above it, as actors with real processes."""

import os
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Any

import trio

from avatar_actors.processes import Launch
from avatar_actors.programs.warden.process_tree import children
from avatar_actors.runtime.warden import warden
from avatar_actors.session.agent_process import ProcessContext, agent_process
from avatar_actors.session.messages import Admit, AvatarActors, ProcessMessage, ResumePlan
from supervisors import Address, ChildSpec, open_supervisor
from tests.avatar.actor_tree import Recorder
from tests.processes.census import PATIENCE, eventually, own_children

# It takes its time to leave, and says when it is done.
POLITE = """
import pathlib, signal, sys, time
folder = pathlib.Path(sys.argv[1])
def leave(*_):
    time.sleep(0.2)
    (folder / "left").touch()
    sys.exit()
signal.signal(signal.SIGTERM, leave)
(folder / "up").touch()
while True:
    signal.pause()
"""


async def same(plan: ResumePlan) -> ResumePlan:
    return plan


async def test_agent_gets_the_stop_grace_to_leave_by_itself(tmp_path: Path) -> None:
    argv = (sys.executable, "-I", "-S", "-c", POLITE, str(tmp_path))

    async def prepare(_: ResumePlan) -> Launch:
        return Launch(argv=argv, cwd="/", env={}, close_grace=0.0)

    with trio.fail_after(PATIENCE):
        async with open_supervisor("root") as root:
            above: Address[Admit] = await root.start(ChildSpec("warden", warden))
            recorder = Recorder[Any](WhatToResume=ResumePlan())
            others: Address[Any] = await root.start(ChildSpec("others", recorder))
            around = ProcessContext(
                actors=AvatarActors(
                    supervisor=root,
                    warden=above,
                    turn_queue=others,
                    tracker=others,
                    gatekeeper=others,
                ),
                settle=same,
                prepare=prepare,
                install="",
                stop_grace=PATIENCE,
            )
            actor = partial(agent_process, around=around)
            spec = ChildSpec[ProcessMessage]("process", actor, shutdown=PATIENCE)
            process = await root.start(spec)
            await eventually((tmp_path / "up").exists)
            await root.terminate(process)
            assert (tmp_path / "left").exists()


async def test_dead_warden_is_replaced_though_nobody_wants_a_lease() -> None:
    before = own_children()
    with trio.fail_after(PATIENCE):
        async with open_supervisor("root", intensity=100) as root:
            await root.start(ChildSpec[Admit]("warden", warden))
            [anchor] = own_children() - before
            for pid in (*children(anchor), anchor):
                os.kill(pid, signal.SIGSTOP)
            for pid in (*children(anchor), anchor):
                os.kill(pid, signal.SIGKILL)
            await eventually(lambda: own_children() - before - {anchor})
    assert own_children() <= before
