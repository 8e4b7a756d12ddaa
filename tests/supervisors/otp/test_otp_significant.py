"""Cases 83 to 89: which children's end ends their supervisor.

The supervisor under test is a transient child of a root, so that its own end leaves the test alive.
"""

from __future__ import annotations

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from supervisors import (
    Address,
    AutoShutdown,
    ChildSpec,
    ExitKind,
    Phase,
    Restart,
    SpecError,
    Stopped,
    Strategy,
    Supervisor,
    SupervisorSpec,
    open_supervisor,
)
from supervisors.testing import crash, watch
from tests.supervisors.otp.actors_for_otp import (
    End,
    Message,
    StartsBadly,
    end_and_settle,
    lives,
    obedient,
    phases,
)

ANY, ALL = AutoShutdown.ANY_SIGNIFICANT, AutoShutdown.ALL_SIGNIFICANT
GROUPED = [
    (Strategy.ONE_FOR_ONE, {"child1": 1, "child2": 2, "child3": 1}),
    (Strategy.ONE_FOR_ALL, {"child1": 2, "child2": 2, "child3": 2}),
    (Strategy.REST_FOR_ONE, {"child1": 1, "child2": 2, "child3": 2}),
]
TRANSIENT, TEMPORARY = Restart.TRANSIENT, Restart.TEMPORARY


def team_spec(auto_shutdown: AutoShutdown, restart: Restart) -> SupervisorSpec:
    """Two significant children and one that is not, all of one restart type."""
    children = [
        ChildSpec("child1", obedient, restart=restart, significant=True),
        ChildSpec("child2", obedient, restart=restart, significant=True),
        ChildSpec("child3", obedient, restart=restart),
    ]
    return SupervisorSpec(
        "team", auto_shutdown=auto_shutdown, intensity=5, restart=TRANSIENT, children=children
    )


async def child_of(team: Supervisor, name: str) -> Address[Message]:
    [found] = [info.address for info in await team.children() if info.name == name]
    return found


async def kill(child: Address[Message]) -> None:
    await crash(child)
    await wait_all_tasks_blocked()


@pytest.mark.parametrize("auto_shutdown", list(AutoShutdown))
async def test_otp_nonsignificant_temporary(auto_shutdown: AutoShutdown) -> None:
    spec = ChildSpec("child", obedient, restart=TEMPORARY)
    async with open_supervisor("shop") as shop:
        team = await shop.start(SupervisorSpec("team", auto_shutdown=auto_shutdown))
        await team.start(spec)
        await team.terminate("child")
        await kill(await team.start(spec))
        await end_and_settle(await team.start(spec), End.ABNORMAL)
        await end_and_settle(await team.start(spec), End.SHUTDOWN)
        await end_and_settle(await team.start(spec), End.NORMAL)

        assert await team.children() == []
        assert lives(shop) == {"team": 1}
        assert team.phase is Phase.RUNNING


@pytest.mark.parametrize("auto_shutdown", list(AutoShutdown))
async def test_otp_nonsignificant_transient(auto_shutdown: AutoShutdown) -> None:
    spec = ChildSpec("child", obedient, restart=TRANSIENT)
    async with open_supervisor("shop") as shop:
        team = await shop.start(SupervisorSpec("team", auto_shutdown=auto_shutdown, intensity=5))
        child = await team.start(spec)
        await team.terminate("child")
        await team.restart("child")
        await kill(child)
        await end_and_settle(child, End.ABNORMAL)
        assert lives(team) == {"child": 4}
        await end_and_settle(child, End.NORMAL)

        assert phases(team) == {"child": Phase.STOPPED}
        assert lives(shop) == {"team": 1}
        assert team.phase is Phase.RUNNING


async def test_otp_significant_temporary() -> None:
    async with open_supervisor("shop", children=[team_spec(ALL, TEMPORARY)]) as shop:
        team = shop.supervisor("team")
        await end_and_settle(await child_of(team, "child3"), End.NORMAL)
        await end_and_settle(await child_of(team, "child1"), End.NORMAL)
        assert phases(team) == {"child2": Phase.RUNNING}

        await end_and_settle(await child_of(team, "child2"), End.NORMAL)
        assert team.phase is Phase.STOPPED


@pytest.mark.parametrize("how", list(End))
async def test_otp_significant_temporary__any_end_of_any_of_them(how: End) -> None:
    async with open_supervisor("shop", children=[team_spec(ANY, TEMPORARY)]) as shop:
        team = shop.supervisor("team")
        with watch(shop) as watching:
            await end_and_settle(await child_of(team, "child1"), how)
            ends = {note.path: note.exit for note in watching.all() if isinstance(note, Stopped)}

        assert team.phase is Phase.STOPPED
        assert ends["shop/team"].kind is ExitKind.SHUTDOWN
        assert {"shop/team/child2", "shop/team/child3"} <= ends.keys()
        assert shop.phase is Phase.RUNNING


async def test_otp_significant_temporary__killed_is_an_end_too() -> None:
    async with open_supervisor("shop", children=[team_spec(ANY, TEMPORARY)]) as shop:
        await kill(await child_of(shop.supervisor("team"), "child1"))
        assert phases(shop) == {"team": Phase.STOPPED}


@pytest.mark.parametrize("restart", [TEMPORARY, TRANSIENT])
@pytest.mark.parametrize("auto_shutdown", [ANY, ALL])
async def test_otp_significant_temporary__terminate_does_not_trigger(
    restart: Restart, auto_shutdown: AutoShutdown
) -> None:
    async with open_supervisor("shop", children=[team_spec(auto_shutdown, restart)]) as shop:
        team = shop.supervisor("team")
        await team.terminate("child1")
        await team.terminate("child2")
        await wait_all_tasks_blocked()
        assert team.phase is Phase.RUNNING
        assert (await team.count()).active == 1


async def test_otp_significant_transient() -> None:
    async with open_supervisor("shop", children=[team_spec(ANY, TRANSIENT)]) as shop:
        team = shop.supervisor("team")
        child1 = await child_of(team, "child1")
        await team.terminate(child1)
        await team.restart(child1)
        await kill(child1)
        await end_and_settle(child1, End.ABNORMAL)
        assert lives(team) == {"child1": 4, "child2": 1, "child3": 1}

        await end_and_settle(child1, End.NORMAL)
        assert team.phase is Phase.STOPPED


async def test_otp_significant_transient__all_of_them() -> None:
    async with open_supervisor("shop", children=[team_spec(ALL, TRANSIENT)]) as shop:
        team = shop.supervisor("team")
        await end_and_settle(await child_of(team, "child1"), End.NORMAL)
        assert phases(team) == {
            "child1": Phase.STOPPED,
            "child2": Phase.RUNNING,
            "child3": Phase.RUNNING,
        }
        await end_and_settle(await child_of(team, "child2"), End.SHUTDOWN)
        assert team.phase is Phase.STOPPED


async def test_otp_significant_transient__one_that_is_restarting_has_not_ended(
    autojump_clock: trio.abc.Clock,
) -> None:
    children = [
        ChildSpec("child1", StartsBadly({2, 3}), restart=TRANSIENT, significant=True),
        ChildSpec("child2", obedient, restart=TRANSIENT, significant=True),
    ]
    spec = SupervisorSpec("team", auto_shutdown=ALL, intensity=5, children=children)
    async with open_supervisor("shop", children=[spec]) as shop:
        team = shop.supervisor("team")
        child1, child2 = await child_of(team, "child1"), await child_of(team, "child2")
        await child1.tell(End.ABNORMAL)
        await end_and_settle(child2, End.NORMAL)
        assert lives(team) == {"child1": 4, "child2": 1}
        assert phases(team) == {"child1": Phase.RUNNING, "child2": Phase.STOPPED}


async def test_otp_significant_transient__end_of_the_root_ends_the_hosts_block() -> None:
    spec = ChildSpec("child", obedient, restart=TRANSIENT, significant=True)
    with trio.CancelScope() as host:
        async with open_supervisor("shop", auto_shutdown=ANY, children=[spec]) as shop:
            await shop.address(spec).tell(End.NORMAL)
            await trio.sleep_forever()
        assert shop.phase is Phase.STOPPED
    assert not host.cancelled_caught


async def test_otp_significant_simple() -> None:
    for auto_shutdown in (ANY, ALL):
        with pytest.raises(SpecError, match="auto_shutdown"):
            SupervisorSpec("pool", strategy=Strategy.DYNAMIC, auto_shutdown=auto_shutdown)
    significant = ChildSpec("child", obedient, restart=TEMPORARY, significant=True)
    async with open_supervisor("pool", strategy=Strategy.DYNAMIC) as pool:
        with pytest.raises(SpecError, match="significant"):
            await pool.start(significant)
        with pytest.raises(SpecError, match="auto_shutdown"):
            await pool.reload(auto_shutdown=ANY)
        assert await pool.children() == []


@pytest.mark.parametrize("auto_shutdown", [ANY, ALL])
@pytest.mark.parametrize(("strategy", "expected"), GROUPED)
async def test_otp_significant_bystander(
    strategy: Strategy, expected: dict[str, int], auto_shutdown: AutoShutdown
) -> None:
    children = [
        ChildSpec("child1", obedient, restart=TRANSIENT, significant=True),
        ChildSpec("child2", obedient, restart=TRANSIENT),
        ChildSpec("child3", obedient, restart=TRANSIENT, significant=True),
    ]
    spec = SupervisorSpec("team", strategy=strategy, auto_shutdown=auto_shutdown, children=children)
    async with open_supervisor("shop", children=[spec]) as shop:
        team = shop.supervisor("team")
        await kill(await child_of(team, "child2"))
        assert lives(team) == expected
        assert lives(shop) == {"team": 1}


@pytest.mark.parametrize("auto_shutdown", [ANY, ALL])
async def test_otp_significant_bystander__temporary_one_goes_without_a_sound(
    auto_shutdown: AutoShutdown,
) -> None:
    children = [
        ChildSpec("child1", obedient),
        ChildSpec("child2", obedient, restart=TEMPORARY, significant=True),
    ]
    spec = SupervisorSpec(
        "team", strategy=Strategy.ONE_FOR_ALL, auto_shutdown=auto_shutdown, children=children
    )
    async with open_supervisor("shop", children=[spec]) as shop:
        team = shop.supervisor("team")
        await kill(await child_of(team, "child1"))
        assert lives(team) == {"child1": 2}
        assert lives(shop) == {"team": 1}


def nested(inner: SupervisorSpec) -> SupervisorSpec:
    return SupervisorSpec("outer", auto_shutdown=ANY, restart=TRANSIENT, children=[inner])


async def test_otp_significant_escalation() -> None:
    child = ChildSpec("child", obedient, restart=TRANSIENT, significant=True)
    for significant, outer_phase in ((True, Phase.STOPPED), (False, Phase.RUNNING)):
        inner = SupervisorSpec(
            "inner", auto_shutdown=ANY, restart=TRANSIENT, significant=significant, children=[child]
        )
        async with open_supervisor("shop", children=[nested(inner)]) as shop:
            outer = shop.supervisor("outer")
            team = outer.supervisor("inner")
            await end_and_settle(team.address(child), End.NORMAL)
            assert team.phase in (Phase.STOPPED, Phase.GONE)
            assert outer.phase is outer_phase
            assert shop.phase is Phase.RUNNING


async def test_otp_significant_temporary__a_crash_is_the_cause() -> None:
    async with open_supervisor("shop", children=[team_spec(ANY, TEMPORARY)]) as shop:
        team = shop.supervisor("team")
        with watch(shop) as watching:
            await crash(await child_of(team, "child1"), ValueError("broken"))
            await wait_all_tasks_blocked()
            ends = {note.path: note.exit for note in watching.all() if isinstance(note, Stopped)}

        error = ends["shop/team"].error
        assert error is not None
        assert repr(error.__cause__) == "ValueError('broken')"
