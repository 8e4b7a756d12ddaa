"""Cases 1 to 15 of supervisor_SUITE: how a supervisor and its children start, or do not."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

import pytest
import trio

from supervisors import (
    AutoShutdown,
    ChildCount,
    ChildNotFound,
    ChildSpec,
    ExitKind,
    Ignore,
    Phase,
    Restart,
    Shutdown,
    SpecError,
    StartFailed,
    Stopped,
    Strategy,
    SupervisorSpec,
    open_supervisor,
)
from supervisors.testing import nothing_left, watch
from tests.supervisors.otp.actors_for_otp import (
    Boom,
    StartsBadly,
    from_start,
    lives,
    obedient,
    phases,
    story,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from supervisors import Inbox, Spec


def ignoring_init() -> Sequence[Spec]:
    raise Ignore("no reason to run")


def broken_init() -> Sequence[Spec]:
    raise Boom("in init")


def garbage_init() -> Any:
    return "no list of specs"


async def ignoring(inbox: Inbox[object]) -> None:
    raise Ignore("no reason to run")


async def test_otp_sup_start_normal() -> None:
    async with nothing_left(), open_supervisor("shop") as shop:
        assert shop.phase is Phase.RUNNING
        assert await shop.count() == ChildCount(specs=0, active=0, supervisors=0, workers=0)
        with watch(shop) as watching:
            await shop.stop()
    [end] = watching.all()
    assert isinstance(end, Stopped)
    assert (end.path, end.exit.kind) == ("shop", ExitKind.SHUTDOWN)


async def test_otp_sup_start_ignore_init() -> None:
    async with open_supervisor("root") as root:
        shop = await root.start(SupervisorSpec("shop", children=ignoring_init))
        assert shop.phase is Phase.STOPPED
        assert await root.count() == ChildCount(specs=1, active=0, supervisors=1, workers=0)
        assert root.phase is Phase.RUNNING


async def test_otp_sup_start_ignore_init__the_host_sees_no_error() -> None:
    worked = False
    async with nothing_left(), open_supervisor("shop", children=ignoring_init) as shop:
        assert shop.phase is Phase.STOPPED
        await trio.lowlevel.checkpoint()  # the block has nothing to work with, so it ends here
        worked = True
    assert not worked
    await trio.lowlevel.checkpoint()


async def test_otp_sup_start_ignore_child() -> None:
    async with open_supervisor("shop") as shop:
        first = await shop.start(ChildSpec("first", ignoring))
        second = await shop.start(ChildSpec("second", obedient))
        assert (first.phase, second.phase) == (Phase.STOPPED, Phase.RUNNING)
        assert [(child.name, child.phase) for child in await shop.children()] == [
            ("second", Phase.RUNNING),
            ("first", Phase.STOPPED),
        ]
        assert await shop.count() == ChildCount(specs=2, active=1, supervisors=0, workers=2)


async def test_otp_sup_start_ignore_temporary_child() -> None:
    children: list[Spec] = [
        ChildSpec("first", ignoring, restart=Restart.TEMPORARY),
        ChildSpec("second", obedient, restart=Restart.TEMPORARY),
    ]
    async with open_supervisor("shop", children=children) as shop:
        assert [child.name for child in await shop.children()] == ["second"]
        assert await shop.count() == ChildCount(specs=1, active=1, supervisors=0, workers=1)


async def test_otp_sup_start_ignore_temporary_child_start_child() -> None:
    async with open_supervisor("shop") as shop:
        first = await shop.start(ChildSpec("first", ignoring, restart=Restart.TEMPORARY))
        await shop.start(ChildSpec("second", obedient, restart=Restart.TEMPORARY))
        assert first.phase is Phase.GONE
        assert [child.name for child in await shop.children()] == ["second"]
        assert await shop.count() == ChildCount(specs=1, active=1, supervisors=0, workers=1)


async def test_otp_sup_start_ignore_temporary_child_start_child_simple() -> None:
    async with open_supervisor("shop", strategy=Strategy.DYNAMIC) as shop:
        first = await shop.start(ChildSpec("first", ignoring, restart=Restart.TEMPORARY))
        await shop.start(ChildSpec("second", obedient, restart=Restart.TEMPORARY))
        assert [child.name for child in await shop.children()] == ["second"]
        assert await shop.count() == ChildCount(specs=1, active=1, supervisors=0, workers=1)
        assert first.phase is Phase.GONE


async def test_otp_sup_start_ignore_permanent_child_start_child_simple() -> None:
    async with nothing_left(), open_supervisor("shop", strategy=Strategy.DYNAMIC) as shop:
        await shop.start(ChildSpec("first", ignoring))
        second = await shop.start(ChildSpec("second", obedient))
        assert [child.name for child in await shop.children()] == ["second"]
        assert await shop.count() == ChildCount(specs=1, active=1, supervisors=0, workers=1)
        monitor = second.monitor()
    down = await monitor.down()
    assert down.exit is not None
    assert down.exit.kind is ExitKind.SHUTDOWN


async def test_otp_sup_start_error_return() -> None:
    with pytest.raises(StartFailed) as failure:
        async with open_supervisor("shop", children=garbage_init):
            pass
    assert isinstance(failure.value.__cause__, SpecError)
    assert "must be a list or a tuple; got 'no list of specs'" in str(failure.value)
    await trio.lowlevel.checkpoint()  # no cancellation was left for the starter


async def test_otp_sup_start_fail() -> None:
    with pytest.raises(StartFailed) as failure:
        async with open_supervisor("shop", children=broken_init):
            pass
    cause = failure.value.__cause__
    assert isinstance(cause, Boom)
    assert traceback.extract_tb(cause.__traceback__)[-1].name == "broken_init"
    await trio.lowlevel.checkpoint()  # no cancellation was left for the starter


async def test_otp_sup_start_fail__started_siblings_stop_in_reverse_and_nothing_is_retried() -> (
    None
):
    bad = StartsBadly(from_start(1))
    children = [ChildSpec("a", obedient), ChildSpec("b", obedient), ChildSpec("bad", bad)]
    async with open_supervisor("root") as root:
        with watch(root) as watching, pytest.raises(StartFailed):
            await root.start(SupervisorSpec("shop", children=children, intensity=10))
        assert story(watching)[-5:] == [
            "Started bad",
            "Crashed bad",
            "Stopped b",
            "Stopped a",
            "Crashed shop",
        ]
        assert bad.starts == 1
        assert await root.children() == []


def returns_garbage(inbox: Inbox[object]) -> Any:
    return 42


BAD_STARTS = [
    pytest.param(StartsBadly(from_start(1)), Boom, id="error"),
    pytest.param(returns_garbage, TypeError, id="garbage"),
]


@pytest.mark.parametrize(("actor", "cause"), BAD_STARTS)
async def test_otp_sup_start_child_returns_error(actor: Any, cause: type[Exception]) -> None:
    async with open_supervisor("shop") as shop:
        with pytest.raises(StartFailed, match="shop/bad failed to start") as failure:
            await shop.start(ChildSpec("bad", actor))
        assert isinstance(failure.value.__cause__, cause)
        assert await shop.children() == []
        assert shop.phase is Phase.RUNNING


async def test_otp_sup_start_restart_child_returns_error() -> None:
    async with open_supervisor("shop", intensity=0) as shop:
        child = await shop.start(ChildSpec("child", StartsBadly({2})))
        await shop.terminate(child)
        with pytest.raises(StartFailed) as failure:
            await shop.restart(child)
        assert isinstance(failure.value.__cause__, Boom)
        assert phases(shop) == {"child": Phase.STOPPED}
        assert await shop.count() == ChildCount(specs=1, active=0, supervisors=0, workers=1)
        await shop.restart(child)
        assert (lives(shop), child.phase) == ({"child": 3}, Phase.RUNNING)


@pytest.mark.parametrize(("actor", "cause"), BAD_STARTS)
async def test_otp_sup_start_child_returns_error_simple(actor: Any, cause: type[Exception]) -> None:
    async with open_supervisor("shop", strategy=Strategy.DYNAMIC) as shop:
        with pytest.raises(StartFailed, match="shop/bad failed to start") as failure:
            await shop.start(ChildSpec("bad", actor))
        assert isinstance(failure.value.__cause__, cause)
        assert await shop.children() == []
        assert shop.phase is Phase.RUNNING


async def test_otp_sup_start_map() -> None:
    worker = ChildSpec("worker", obedient)
    sub = SupervisorSpec("sub")
    brutal = ChildSpec("brutal", obedient, restart=Restart.TRANSIENT, shutdown=Shutdown.BRUTAL)
    async with open_supervisor("shop", children=[worker, sub, brutal]) as shop:
        assert await shop.spec("worker") is worker
        assert await shop.spec("sub") is sub
        assert await shop.spec(shop.address(brutal)) is brutal
        with pytest.raises(ChildNotFound, match="shop has no child nobody"):
            await shop.spec("nobody")


def test_otp_sup_start_map__defaults_are_those_of_otp() -> None:
    worker, sub = ChildSpec("worker", obedient), SupervisorSpec("sub")
    assert (worker.restart, worker.shutdown) == (Restart.PERMANENT, 5.0)
    assert (sub.restart, sub.shutdown) == (Restart.PERMANENT, Shutdown.INFINITE)
    assert not worker.significant
    assert not sub.significant
    assert (sub.strategy, sub.intensity, sub.period) == (Strategy.ONE_FOR_ONE, 1, 5.0)
    assert sub.auto_shutdown is AutoShutdown.NEVER


async def test_otp_sup_start_map_simple() -> None:
    one, other = ChildSpec("one", obedient), ChildSpec("other", obedient)
    async with open_supervisor("root") as root:
        shop = await root.start(SupervisorSpec("shop", strategy=Strategy.DYNAMIC))
        stranger = await root.start(ChildSpec("one", obedient))
        address, second = await shop.start(one), await shop.start(other)
        assert await shop.spec(address) is one
        assert await shop.spec(second) is other
        with pytest.raises(ChildNotFound):
            await shop.spec(stranger)


@pytest.mark.parametrize("name", ["", None, 7, "a/b"])
def test_otp_sup_start_map_faulty_specs(name: Any) -> None:
    with pytest.raises(SpecError, match="name must be a text"):
        ChildSpec(name, obedient)


@pytest.mark.parametrize("actor", [None, "obedient", 7])
def test_otp_sup_start_map_faulty_specs__start_is_no_function(actor: Any) -> None:
    with pytest.raises(SpecError, match="must be an async function"):
        ChildSpec("child", actor)


@pytest.mark.parametrize("child", [None, "child", {"id": "child"}, obedient])
async def test_otp_sup_start_map_faulty_specs__no_spec_at_all(child: Any) -> None:
    with pytest.raises(SpecError, match="must be a ChildSpec or a SupervisorSpec"):
        SupervisorSpec("shop", children=[child])
    async with open_supervisor("shop") as shop:
        with pytest.raises(SpecError, match="must be a ChildSpec or a SupervisorSpec"):
            await shop.start(child)
        assert await shop.children() == []


def test_otp_sup_start_map_faulty_specs__unknown_key_is_refused_not_ignored() -> None:
    unknown: dict[str, Any] = {"silly_flag": True}
    with pytest.raises(TypeError, match="silly_flag"):
        ChildSpec("child", obedient, **unknown)
