"""Names that are unique in a tree, and addresses by name that outlive every restart."""

import pytest
from trio.testing import wait_all_tasks_blocked

from supervisors import (
    ActorDown,
    Backoff,
    ChildSpec,
    DeadLetter,
    NameTaken,
    Phase,
    Restart,
    StartFailed,
    Strategy,
    SupervisorSpec,
    open_supervisor,
)
from supervisors.testing import crash, watch
from tests.supervisors.till import Add, Close, deaf, failing_from_life, till


async def test_a_registered_actor_is_reached_by_its_name() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till, register="cash"))
        assert await shop.named("cash").ask(Add(5)) == 5
        assert shop.registered() == {"cash": address}
        assert shop.named("cash").path == "shop/till"


async def test_names_are_known_in_the_whole_tree() -> None:
    inner = ChildSpec("till", till, register="cash")
    floor = SupervisorSpec("floor", children=[inner])
    async with open_supervisor("shop", children=[floor]) as shop:
        assert await shop.supervisor("floor").named("cash").ask(Add(1)) == 1
        assert await shop.named("cash").ask(Add(1)) == 2


async def test_a_named_address_reaches_the_next_life_of_its_actor() -> None:
    async with open_supervisor("shop") as shop:
        address = await shop.start(ChildSpec("till", till, register="cash"))
        cash = shop.named("cash")
        assert await cash.ask(Add(5)) == 5
        await crash(address)
        await wait_all_tasks_blocked()
        assert await cash.ask(Add(1)) == 1


async def test_a_named_address_reaches_whoever_has_the_name_now() -> None:
    async with open_supervisor("shop") as shop:
        cash = shop.named("cash")
        await shop.start(ChildSpec("first", till, register="cash"))
        assert cash.path == "shop/first"
        await shop.terminate("first")
        await shop.start(ChildSpec("second", till, register="cash"))
        assert cash.path == "shop/second"


async def test_a_name_that_nobody_has_is_down_and_takes_dead_letters() -> None:
    async with open_supervisor("shop") as shop:
        nobody = shop.named("nobody")
        assert nobody.phase is Phase.GONE
        with pytest.raises(ActorDown, match=r"nobody is down \(never started\)"):
            await nobody.ask(Add(1))
        with watch(shop) as watching:
            await nobody.tell("hello?")
            assert (await watching.next(DeadLetter)).path == "nobody"
        assert shop.dead_letters == 1
        assert (await nobody.monitor().down()).exit is None


@pytest.mark.parametrize("strategy", list(Strategy))
async def test_a_taken_name_fails_the_start_of_the_second(strategy: Strategy) -> None:
    async with open_supervisor("shop", strategy=strategy) as shop:
        await shop.start(ChildSpec("first", till, register="cash"))
        with pytest.raises(StartFailed, match="'cash' belongs to shop/first") as failure:
            await shop.start(ChildSpec("second", till, register="cash"))
        assert isinstance(failure.value.__cause__, NameTaken)
        assert [child.name for child in await shop.children()] == ["first"]
        assert shop.named("cash").path == "shop/first"


async def test_the_name_of_an_actor_that_ended_is_free() -> None:
    async with open_supervisor("shop") as shop:
        spec = ChildSpec("till", till, register="cash", restart=Restart.TRANSIENT)
        address = await shop.start(spec)
        await address.tell(Close())
        await wait_all_tasks_blocked()
        assert shop.registered() == {}
        await shop.restart("till")
        assert shop.registered() == {"cash": address}


async def test_an_actor_that_waits_for_its_restart_keeps_its_name() -> None:
    async with open_supervisor("shop") as shop:
        spec = ChildSpec("till", till, register="cash", backoff=Backoff(minimum=10))
        address = await shop.start(spec)
        await crash(address)
        await wait_all_tasks_blocked()
        assert shop.registered() == {"cash": address}
        with pytest.raises(StartFailed):
            await shop.start(ChildSpec("thief", till, register="cash"))
        await shop.terminate("till")
        assert shop.registered() == {}


async def test_a_failed_first_start_frees_the_name() -> None:
    async with open_supervisor("shop") as shop:
        with pytest.raises(StartFailed):
            await shop.start(ChildSpec("till", failing_from_life(1), register="cash"))
        assert shop.registered() == {}


async def test_a_supervisor_can_have_a_name_too() -> None:
    async with open_supervisor("shop") as shop:
        floor = await shop.start(SupervisorSpec("floor", register="ground floor"))
        await floor.start(ChildSpec("deaf", deaf))
        assert shop.registered()["ground floor"].path == "shop/floor"
        await shop.terminate("floor")
        assert shop.registered() == {}


async def test_two_trees_have_their_own_names() -> None:
    async with open_supervisor("here") as here, open_supervisor("there") as there:
        await here.start(ChildSpec("till", till, register="cash"))
        await there.start(ChildSpec("till", till, register="cash"))
        assert here.named("cash").path == "here/till"
        assert there.named("cash").path == "there/till"
