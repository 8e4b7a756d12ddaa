"""Faults on purpose, over two avatars of each real agent: every promise is kept."""

from pathlib import Path

import trio

from avatar_actors.chaos import FaultKind
from tests.real_agents.chaos import play_chaos
from tests.real_agents.subject import Agent
from tests.real_agents.suite.test_refusals import signed_out

# Each of some ten faults may cost a start, of two agents at a time.
LIMIT = 600
NO_PROVIDER = 3
SMALL = ("--avatars", "2", "--seconds", "10", "--every", "1", "--seed", "5")


async def test_chaos_keeps_every_promise(agent: Agent, tmp_path: Path) -> None:
    with trio.fail_after(LIMIT):
        ended = await play_chaos(agent, tmp_path, *SMALL)
    assert ended.code == 0, ended.said
    assert ended.report is not None
    assert len(ended.report.faults) == len(ended.report.schedule) > 0
    assert all(fault.is_landed for fault in ended.report.faults)
    assert FaultKind.HANG in ended.report.left_out
    assert "plays no scripts" in ended.said


async def test_chaos_without_a_sign_in_is_one_line_before_any_fault(
    agent: Agent, tmp_path: Path
) -> None:
    with trio.fail_after(LIMIT):
        ended = await play_chaos(agent, tmp_path, *SMALL, needs=signed_out)
    *before, last = ended.said.splitlines()
    assert ended.code == NO_PROVIDER, ended.said
    assert last.startswith("avatar: ")
    assert all(line.startswith(("starting: ", "stopping: ")) for line in before), before
    assert ended.report is None
