"""Cases 90 to 96: a live change of `auto_shutdown`, and of a child's significance."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from trio.testing import wait_all_tasks_blocked

from supervisors import (
    AutoShutdown,
    ChildSpec,
    Phase,
    Restart,
    SpecError,
    Supervisor,
    SupervisorSpec,
    open_supervisor,
)
from tests.supervisors.otp.actors_for_otp import End, end_and_settle, lives, obedient, phases

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

NEVER = AutoShutdown.NEVER
ANY, ALL = AutoShutdown.ANY_SIGNIFICANT, AutoShutdown.ALL_SIGNIFICANT
CHILD1 = ChildSpec("child1", obedient, restart=Restart.TRANSIENT, significant=True)
CHILD2 = ChildSpec("child2", obedient, restart=Restart.TRANSIENT, significant=True)


@asynccontextmanager
async def open_team(auto_shutdown: AutoShutdown) -> AsyncGenerator[Supervisor]:
    """A supervisor whose end leaves the test alive, because a root stands above it."""
    spec = SupervisorSpec("team", auto_shutdown=auto_shutdown, restart=Restart.TRANSIENT)
    async with open_supervisor("shop", children=[spec]) as shop:
        yield shop.supervisor("team")


async def reload_untouched(team: Supervisor, auto_shutdown: AutoShutdown) -> None:
    """Change the mode; who runs goes on."""
    before = lives(team)
    await team.reload(auto_shutdown=auto_shutdown)
    await wait_all_tasks_blocked()
    assert team.phase is Phase.RUNNING
    assert lives(team) == before


async def test_otp_significant_upgrade_never_any() -> None:
    async with open_team(NEVER) as team:
        with pytest.raises(SpecError, match="auto_shutdown"):
            await team.start(CHILD1)
        await reload_untouched(team, ANY)
        child1 = await team.start(CHILD1)
        await team.start(CHILD2)

        await end_and_settle(child1, End.NORMAL)
        assert team.phase is Phase.STOPPED


async def assert_never_ends_it(mode: AutoShutdown) -> None:
    async with open_team(mode) as team:
        child1 = await team.start(CHILD1)
        await reload_untouched(team, NEVER)
        with pytest.raises(SpecError, match="auto_shutdown"):
            await team.start(CHILD2)

        await end_and_settle(child1, End.NORMAL)
        assert team.phase is Phase.RUNNING
        assert phases(team) == {"child1": Phase.STOPPED}
        await team.restart("child1")
        assert phases(team) == {"child1": Phase.RUNNING}


async def test_otp_significant_upgrade_any_never() -> None:
    await assert_never_ends_it(ANY)


async def test_otp_significant_upgrade_never_all() -> None:
    async with open_team(NEVER) as team:
        with pytest.raises(SpecError, match="auto_shutdown"):
            await team.start(CHILD1)
        await reload_untouched(team, ALL)
        child1, child2 = await team.start(CHILD1), await team.start(CHILD2)

        await end_and_settle(child1, End.NORMAL)
        assert phases(team) == {"child1": Phase.STOPPED, "child2": Phase.RUNNING}
        await end_and_settle(child2, End.NORMAL)
        assert team.phase is Phase.STOPPED


async def test_otp_significant_upgrade_all_never() -> None:
    await assert_never_ends_it(ALL)


async def test_otp_significant_upgrade_any_all() -> None:
    async with open_team(ANY) as team:
        child1, child2 = await team.start(CHILD1), await team.start(CHILD2)
        await reload_untouched(team, ALL)

        await end_and_settle(child1, End.NORMAL)
        assert phases(team) == {"child1": Phase.STOPPED, "child2": Phase.RUNNING}
        await end_and_settle(child2, End.NORMAL)
        assert team.phase is Phase.STOPPED


async def test_otp_significant_upgrade_all_any() -> None:
    async with open_team(ALL) as team:
        child1, _ = await team.start(CHILD1), await team.start(CHILD2)
        await reload_untouched(team, ANY)

        await end_and_settle(child1, End.NORMAL)
        assert team.phase is Phase.STOPPED


PLAIN = ChildSpec("child", obedient, restart=Restart.TRANSIENT)
SIGNIFICANT = ChildSpec("child", obedient, restart=Restart.TRANSIENT, significant=True)


async def test_otp_significant_upgrade_child() -> None:
    async with open_team(ANY) as team:
        child = await team.start(PLAIN)
        await team.reload(children=[SIGNIFICANT])
        await wait_all_tasks_blocked()
        assert phases(team) == {"child": Phase.RUNNING}

        await end_and_settle(child, End.NORMAL)
        assert team.phase is Phase.STOPPED


async def test_otp_significant_upgrade_child__back_to_insignificant() -> None:
    async with open_team(ANY) as team:
        child = await team.start(SIGNIFICANT)
        await team.reload(children=[PLAIN])

        await end_and_settle(child, End.NORMAL)
        assert team.phase is Phase.RUNNING
        assert phases(team) == {"child": Phase.STOPPED}


async def test_otp_significant_upgrade_child__refused_while_the_mode_is_never() -> None:
    async with open_team(NEVER) as team:
        child = await team.start(PLAIN)
        with pytest.raises(SpecError, match="auto_shutdown"):
            await team.reload(children=[SIGNIFICANT])
        assert await team.spec("child") is PLAIN

        await end_and_settle(child, End.NORMAL)
        assert team.phase is Phase.RUNNING
