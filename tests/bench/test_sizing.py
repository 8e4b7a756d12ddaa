"""The prediction of what a host needs, and the figures in it that can be counted."""

import json

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from avatar_actors import open_runtime
from bench.agents.quiet_agent import quiet_agent
from bench.sizing import DESCRIPTORS, PROCESSES, Needed, Wanted, main, needs
from tests.processes.census import offspring, open_fds

PATIENCE = 120


def host(avatars: int, rate: float = 10.0) -> Needed:
    return needs(
        Wanted(avatars, rate, speaking=1.0, turns_per_minute=1.0, agent_memory=50, agent_cpu=0.01)
    )


@given(st.integers(1, 20_000), st.integers(1, 20_000), st.floats(0, 100))
def test_more_avatars_never_need_less(few: int, more: int, rate: float) -> None:
    small, large = host(few, rate), host(few + more, rate)
    assert small.host_mib <= large.host_mib
    assert small.keepers_mib <= large.keepers_mib
    assert small.processes < large.processes
    assert small.agent_cores <= large.agent_cores


def test_no_event_loop_is_too_busy() -> None:
    assert host(1000).runtimes == 1
    busy = host(1000, rate=50)
    assert busy.runtimes > busy.host_cores
    assert busy.descriptors < host(1000).descriptors


def test_program_answers_people_and_programs(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--avatars", "1000", "--agent-memory", "100"])
    assert "agents 100,000 MiB" in capsys.readouterr().out
    main(["--avatars", "10", "--json"])
    assert json.loads(capsys.readouterr().out)["processes"] == 23


@pytest.mark.parametrize(
    "arguments", [["--avatars", "0"], ["--speaking", "1.5"], ["--agent-memory", "-1"]]
)
def test_numbers_that_cannot_be_are_refused(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert "error:" in capsys.readouterr().err


async def test_real_avatar_has_as_many_descriptors_and_processes() -> None:
    with quiet_agent() as (program, *args), trio.fail_after(PATIENCE):
        async with open_runtime() as runtime:
            await runtime.start("acp", executable=program, args=tuple(args))
            descriptors, processes = open_fds(), len(offspring())
            for _ in range(3):
                await runtime.start("acp", executable=program, args=tuple(args))
            assert open_fds() - descriptors == 3 * DESCRIPTORS
            assert len(offspring()) - processes == 3 * PROCESSES
