"""Cases 72 to 82: live changes of specs, order, scale, the log, taken names and listings."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pytest
from trio.testing import wait_all_tasks_blocked

from supervisors import (
    ChildCount,
    ChildNotFound,
    ChildSpec,
    Crashed,
    Ignore,
    Inbox,
    NameTaken,
    NoReply,
    Phase,
    Ready,
    Request,
    Restart,
    Shutdown,
    SpecError,
    Started,
    StartFailed,
    Stopped,
    Strategy,
    SupervisorSpec,
    TooManyChildren,
    WrongStrategy,
    open_supervisor,
)
from supervisors.testing import crash, watch
from tests.supervisors.otp.actors_for_otp import (
    Boom,
    End,
    end,
    end_and_settle,
    lives,
    obedient,
    phases,
)
from tests.supervisors.otp.cost import Cost, assert_linear, cost_of_block

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from supervisors import Address, Notice, Spec, TreeNode
    from supervisors.testing import Watch

    Wrap: TypeAlias = Callable[[Sequence[Spec]], Sequence[Spec] | Callable[[], Sequence[Spec]]]


def names(children: list[TreeNode]) -> list[str]:
    return [info.name for info in children]


def paths_of(kind: type[Notice], watching: Watch) -> list[str]:
    return [notice.path for notice in watching.all() if isinstance(notice, kind)]


async def test_otp_code_change() -> None:
    specs = [ChildSpec("child1", obedient), ChildSpec("child2", obedient)]
    async with open_supervisor("shop", intensity=0, children=specs) as shop:
        child1 = shop.address(specs[0])
        await shop.reload(intensity=1, period=3, strategy=Strategy.ONE_FOR_ALL)

        await end_and_settle(child1, End.ABNORMAL)
        assert lives(shop) == {"child1": 2, "child2": 2}

        with pytest.raises(SpecError, match="intensity"):
            await shop.reload(intensity=-1)
        with pytest.raises(SpecError, match="period"):
            await shop.reload(period=0)
        assert phases(shop) == {"child1": Phase.RUNNING, "child2": Phase.RUNNING}


async def test_otp_code_change__shows_in_the_tree() -> None:
    async with open_supervisor("shop") as shop:
        await shop.reload(strategy=Strategy.REST_FOR_ONE)
        assert shop.tree().strategy is Strategy.REST_FOR_ONE


def as_list(specs: Sequence[Spec]) -> Sequence[Spec]:
    return specs


def as_function(specs: Sequence[Spec]) -> Callable[[], Sequence[Spec]]:
    return lambda: specs


@pytest.mark.parametrize("wrap", [as_list, as_function])
async def test_otp_code_change__faulty_children_change_nothing(wrap: Wrap) -> None:
    specs = [ChildSpec("child1", obedient), ChildSpec("child2", obedient)]
    faulty = [specs[0], ChildSpec("twin", obedient), ChildSpec("twin", obedient)]
    async with open_supervisor("shop", children=specs) as shop:
        with pytest.raises(SpecError, match="twin"):
            await shop.reload(children=wrap(faulty), intensity=0)

        assert names(await shop.children()) == ["child2", "child1"]
        await end_and_settle(shop.address(specs[0]), End.ABNORMAL)
        assert lives(shop) == {"child1": 2, "child2": 1}


async def test_otp_code_change__ignore_changes_nothing() -> None:
    def nothing_to_change() -> Sequence[Spec]:
        raise Ignore

    spec = ChildSpec("child", obedient)
    async with open_supervisor("shop", children=[spec]) as shop:
        await shop.reload(children=nothing_to_change)
        assert names(await shop.children()) == ["child"]
        assert lives(shop) == {"child": 1}


async def test_otp_code_change__failing_function_is_the_callers_problem() -> None:
    def failing() -> Sequence[Spec]:
        raise Boom("no specs today")

    team = SupervisorSpec("team", children=[ChildSpec("child", obedient)])
    async with open_supervisor("shop", children=[team]) as shop:
        with pytest.raises(Exception, match="no specs today"):
            await shop.supervisor("team").reload(children=failing)
        await wait_all_tasks_blocked()
        assert lives(shop) == {"team": 1}


async def test_otp_code_change_map() -> None:
    first = [ChildSpec("child1", obedient, shutdown=2), ChildSpec("child2", obedient)]
    second = [ChildSpec("child1", obedient, shutdown=1), ChildSpec("child3", obedient)]
    async with open_supervisor("shop") as shop:
        await shop.reload(children=first)
        assert phases(shop) == {"child1": Phase.STOPPED, "child2": Phase.STOPPED}
        await shop.restart("child1")
        await shop.restart("child2")
        assert (await shop.spec("child1")).shutdown == 2

        await shop.reload(children=second)

        assert names(await shop.children()) == ["child2", "child3", "child1"]
        assert (await shop.spec("child1")).shutdown == 1
        assert await shop.count() == ChildCount(specs=3, active=2, supervisors=0, workers=3)
        assert lives(shop) == {"child1": 1, "child3": 0, "child2": 1}


async def test_otp_code_change_map__next_life_is_of_the_new_spec() -> None:
    async def newer(inbox: Inbox[End]) -> None:
        inbox.ready("newer")
        await inbox.receive()

    old, new = ChildSpec("child", obedient), ChildSpec("child", newer)
    async with open_supervisor("shop", children=[old]) as shop:
        child = shop.address(old)
        await shop.reload(children=[new])
        assert child.info is None
        await end_and_settle(child, End.ABNORMAL)
        assert child.info == "newer"


async def test_otp_code_change_map__outlives_a_crash_of_the_supervisor() -> None:
    old, new = ChildSpec("old", obedient), ChildSpec("new", obedient)
    async with open_supervisor("shop", children=[SupervisorSpec("team", children=[old])]) as shop:
        team = shop.supervisor("team")
        await team.reload(children=[new])
        await crash(team)
        await wait_all_tasks_blocked()
        assert phases(team) == {"new": Phase.RUNNING}


async def test_otp_code_change_simple() -> None:
    spec = ChildSpec("child", obedient)
    async with open_supervisor("shop", strategy=Strategy.DYNAMIC, intensity=0) as shop:
        child = await shop.start(spec)
        await shop.reload(max_children=1, intensity=1)

        with pytest.raises(TooManyChildren):
            await shop.start(spec)
        await end_and_settle(child, End.ABNORMAL)
        assert lives(shop) == {"child": 2}
        with pytest.raises(WrongStrategy):
            await shop.reload(strategy=Strategy.ONE_FOR_ONE, max_children=None)
        with pytest.raises(SpecError):
            await shop.reload(max_children=-1)
        assert lives(shop) == {"child": 2}


async def test_otp_code_change_simple__ordered_cannot_become_simple() -> None:
    async with open_supervisor("shop", children=[ChildSpec("child", obedient)]) as shop:
        with pytest.raises(WrongStrategy):
            await shop.reload(strategy=Strategy.DYNAMIC)
        assert lives(shop) == {"child": 1}


async def test_otp_code_change_simple_map() -> None:
    old = ChildSpec("child", obedient, shutdown=Shutdown.BRUTAL)
    new = ChildSpec("child", obedient, shutdown=1)
    async with open_supervisor("shop", strategy=Strategy.DYNAMIC) as shop:
        await shop.start(old)
        with pytest.raises(WrongStrategy):
            await shop.reload(children=[old, new])
        with pytest.raises(WrongStrategy):
            await shop.reload(children=[])
        assert lives(shop) == {"child": 1}
        assert (await shop.spec("child")).shutdown is Shutdown.BRUTAL


async def test_otp_order_of_children() -> None:
    order = ["ch7", "ch3", "ch10", "ch2", "ch5"]
    specs = [ChildSpec(name, obedient) for name in order]
    async with open_supervisor("shop", strategy=Strategy.REST_FOR_ONE, children=specs) as shop:
        assert names(await shop.children()) == order[::-1]
        with watch(shop) as watching:
            await end_and_settle(shop.address(specs[2]), End.ABNORMAL)
            assert paths_of(Stopped, watching) == ["shop/ch5", "shop/ch2"]
            assert paths_of(Ready, watching) == ["shop/ch10", "shop/ch2", "shop/ch5"]
            assert lives(shop) == {"ch7": 1, "ch3": 1, "ch10": 2, "ch2": 2, "ch5": 2}

        with watch(shop) as watching:
            await shop.stop()
            assert paths_of(Stopped, watching) == [
                *(f"shop/{name}" for name in order[::-1]),
                "shop",
            ]


async def test_otp_order_of_children__starts_in_the_order_given() -> None:
    order = ["ch7", "ch3", "ch10", "ch2", "ch5"]
    team = SupervisorSpec("team", children=[ChildSpec(name, obedient) for name in order])
    async with open_supervisor("shop") as shop:
        with watch(shop) as watching:
            await shop.start(team)
        up = [(type(notice), notice.path) for notice in watching.all()]
    each = [(kind, f"shop/team/{name}") for name in order for kind in (Started, Ready)]
    assert up == [(Started, "shop/team"), *each, (Ready, "shop/team")]


async def test_otp_scale_start_stop_many_children() -> None:
    costs: list[Cost] = []
    for number in (200, 2000):
        specs = [ChildSpec(f"child{index}", obedient) for index in range(number)]
        with cost_of_block() as cost:
            async with open_supervisor("shop", children=specs) as shop:
                pass
            assert shop.phase is Phase.STOPPED
        costs.append(cost)
    assert_linear(costs, times=10)


async def test_otp_scale_start_stop_many_children__one_by_one() -> None:
    starts: list[Cost] = []
    stops: list[Cost] = []
    for number in (100, 1000):
        async with open_supervisor("shop") as shop:
            with cost_of_block() as start:
                for index in range(number):
                    await shop.start(ChildSpec(f"child{index}", obedient))
            with cost_of_block() as stop:
                for index in range(number):
                    await shop.terminate(f"child{index}")
            assert await shop.count() == ChildCount(number, 0, 0, number)
        starts.append(start)
        stops.append(stop)
    assert_linear(starts, times=10)
    assert_linear(stops, times=10)


@dataclass(frozen=True)
class Login:
    """A message with something that must never be logged."""

    password: str


@dataclass(frozen=True)
class Check(Request[bool]):
    """The same as a question."""

    password: str


SECRET = "open sesame"


async def cannot_login(inbox: Inbox[Login | Check]) -> None:
    async for message in inbox:
        if isinstance(message, Login):
            raise Boom("login failed")


def formatted(caplog: pytest.LogCaptureFixture) -> str:
    return "\n".join(caplog.handler.format(record) for record in caplog.records)


async def test_otp_format_log_1(caplog: pytest.LogCaptureFixture) -> None:
    spec = ChildSpec("login", cannot_login)
    async with open_supervisor("shop", children=[spec], intensity=2) as shop:
        with watch(shop) as watching:
            for _ in range(2):
                await shop.address(spec).tell(Login(SECRET))
                await watching.next(Ready, "shop/login")
            crashes = [notice for notice in watching.seen if isinstance(notice, Crashed)]

    reports = [(record.name, record.levelno, record.getMessage()) for record in caplog.records]
    assert reports == [
        ("supervisors", logging.ERROR, "shop/login crashed (life 1)"),
        ("supervisors", logging.ERROR, "shop/login crashed (life 2)"),
    ]
    assert [(notice.path, notice.life) for notice in crashes] == [
        ("shop/login", 1),
        ("shop/login", 2),
    ]
    for record, notice in zip(caplog.records, crashes, strict=True):
        assert record.exc_info is not None
        assert record.exc_info[1] is notice.error
        assert isinstance(notice.error, Boom)


async def test_otp_format_log_1__give_up_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    team = SupervisorSpec("team", intensity=0, children=[ChildSpec("child", obedient)])
    async with open_supervisor("shop", children=[team]) as shop:
        [info] = await shop.supervisor("team").children()
        await end_and_settle(info.address, End.ABNORMAL)
    assert [record.getMessage() for record in caplog.records] == [
        "shop/team/child crashed (life 1)",
        "shop/team gave up: shop/team/child used up its restart budget",
    ]


async def test_otp_format_log_2(caplog: pytest.LogCaptureFixture) -> None:
    spec = ChildSpec("login", cannot_login, restart=Restart.TEMPORARY)
    caplog.set_level(logging.DEBUG)
    async with open_supervisor("shop") as shop:
        login = await shop.start(spec)
        await login.tell(Login(SECRET))
        await login.tell(Login(SECRET * 1000))
        await wait_all_tasks_blocked()
        assert shop.dead_letters == 1

    assert "login failed" in formatted(caplog)
    assert SECRET not in formatted(caplog)
    assert all("\n" not in record.getMessage() for record in caplog.records)
    assert len(caplog.records) == 1


async def test_otp_format_log_2__who_dies_of_no_reply_does_not_quote_the_request(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def asks(login: Address[Login | Check], inbox: Inbox[End]) -> None:
        await inbox.receive()
        await login.ask(Check(SECRET))

    async with open_supervisor("shop") as shop:
        login = await shop.start(ChildSpec("login", cannot_login))
        door = await shop.start(ChildSpec("door", partial(asks, login)))
        with watch(shop) as watching:
            await door.tell(End.NORMAL)
            assert isinstance((await watching.next(Crashed, "shop/door")).error, NoReply)
    assert "shop/door crashed" in formatted(caplog)
    assert SECRET not in formatted(caplog)


async def test_otp_already_started_outside_supervisor() -> None:
    owner = ChildSpec("owner", obedient, register="till")
    late = ChildSpec("late", obedient, register="till")
    team = SupervisorSpec("team")
    async with open_supervisor("shop", children=[owner, team]) as shop:
        other = shop.supervisor("team")
        with pytest.raises(StartFailed, match="belongs to shop/owner") as failure:
            await other.start(late)
        assert isinstance(failure.value.__cause__, NameTaken)
        assert await other.children() == []
        assert lives(shop) == {"owner": 1, "team": 1}

        await end_and_settle(shop.address(owner), End.ABNORMAL)
        assert shop.registered() == {"till": shop.address(owner)}
        await shop.terminate("owner")
        assert shop.registered() == {}
        found = await other.start(late)
        assert shop.registered() == {"till": found}


async def test_otp_which_children() -> None:
    worker = ChildSpec("worker", obedient)
    resting = ChildSpec("resting", obedient, restart=Restart.TRANSIENT)
    async with open_supervisor("shop") as shop:
        assert await shop.children() == []
        first = await shop.start(worker)
        second = await shop.start(resting)
        await shop.start(SupervisorSpec("team"))
        await end(second, End.NORMAL)

        listed = [
            (info.name, info.phase, info.strategy is not None) for info in await shop.children()
        ]
        assert listed == [
            ("team", Phase.RUNNING, True),
            ("resting", Phase.STOPPED, False),
            ("worker", Phase.RUNNING, False),
        ]
        assert (await shop.children())[2].address == first
        assert await shop.spec("worker") is await shop.spec(first) is worker
        with pytest.raises(ChildNotFound):
            await shop.spec("nobody")


async def test_otp_which_children_simple_one_for_one() -> None:
    spec = ChildSpec("child", obedient, restart=Restart.TEMPORARY)
    async with open_supervisor("shop", strategy=Strategy.DYNAMIC) as shop:
        pool = await shop.start(SupervisorSpec("pool", strategy=Strategy.DYNAMIC))
        first, second = await pool.start(spec), await pool.start(spec)
        listed = await pool.children()
        assert [info.address for info in listed] == [second, first]
        assert len(set(names(listed))) == 2
        assert await pool.spec(first) is await pool.spec(second) is spec

        await end(first, End.NORMAL)
        with pytest.raises(ChildNotFound):
            await pool.spec(first)
        with pytest.raises(ChildNotFound):
            await shop.spec(second)
        assert names(await pool.children()) == [second.path.rpartition("/")[2]]


async def test_otp_which_children_simple_one_for_one__an_old_address_is_no_namesakes() -> None:
    spec = ChildSpec("child", obedient, restart=Restart.TEMPORARY)
    async with open_supervisor("shop", strategy=Strategy.DYNAMIC) as shop:
        old = await shop.start(spec)
        await end(old, End.NORMAL)
        new = await shop.start(spec)
        assert new != old
        with pytest.raises(ChildNotFound):
            await shop.spec(old)
        await shop.terminate(old)
        assert new.phase is Phase.RUNNING
