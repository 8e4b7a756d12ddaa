"""Bad input fails at once, with a message that says what is allowed."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from trio.testing import wait_all_tasks_blocked

from supervisors import (
    AutoShutdown,
    Backoff,
    ChildSpec,
    MailboxSpec,
    NoReply,
    Overflow,
    Restart,
    Shutdown,
    Spec,
    SpecError,
    StartFailed,
    Strategy,
    SupervisionError,
    SupervisorSpec,
    open_supervisor,
)
from supervisors.testing import crash, nothing_left
from tests.supervisors.till import idle, till

# Untyped on purpose: these tests pass what the types forbid.
child: Callable[..., ChildSpec[Any]] = ChildSpec
supervisor: Callable[..., SupervisorSpec] = SupervisorSpec
backoff: Callable[..., Backoff] = Backoff
mailbox: Callable[..., MailboxSpec] = MailboxSpec

NOT_NUMBERS = [math.nan, True, "5", None]


def test_the_defaults_are_otps() -> None:
    spec = ChildSpec("till", till)
    assert spec.restart is Restart.PERMANENT
    assert spec.shutdown == 5.0
    assert not spec.significant
    assert spec.start_timeout == 30
    assert spec.backoff is None
    assert spec.mailbox == MailboxSpec(capacity=256, overflow=Overflow.WAIT)
    assert spec.register is None


def test_a_spec_may_name_its_messages() -> None:
    assert ChildSpec[object]("idle", idle).name == "idle"


def test_the_defaults_of_a_supervisor_are_otps() -> None:
    spec = SupervisorSpec("shop")
    assert spec.strategy is Strategy.ONE_FOR_ONE
    assert (spec.intensity, spec.period) == (1, 5.0)
    assert spec.auto_shutdown is AutoShutdown.NEVER
    assert spec.shutdown is Shutdown.INFINITE
    assert spec.start_timeout == math.inf
    assert spec.max_children is None


def test_a_spec_error_is_a_value_error_of_this_package() -> None:
    with pytest.raises(ValueError, match="name must be") as failure:
        ChildSpec("", till)
    assert isinstance(failure.value, SpecError)
    assert isinstance(failure.value, SupervisionError)


@pytest.mark.parametrize("make", [child, supervisor])
@pytest.mark.parametrize("name", ["", "a/b", 5, None, b"bytes"])
def test_a_name_is_a_text_without_a_slash(make: Callable[..., object], name: object) -> None:
    with pytest.raises(SpecError, match="must be a text without '/', and not empty"):
        make(name, actor=idle) if make is child else make(name)


@pytest.mark.parametrize("actor", [None, "till", 5])
def test_an_actor_is_a_function(actor: object) -> None:
    with pytest.raises(SpecError, match="must be an async function"):
        child("till", actor)


async def test_an_actor_that_was_called_already_is_not_a_function() -> None:
    async def no_inbox() -> None:
        pass

    called = no_inbox()
    with pytest.raises(SpecError, match="must be an async function"):
        child("till", called)
    await called


@pytest.mark.parametrize(
    ("option", "value", "allowed"),
    [
        ("restart", "permanent", "Restart.TEMPORARY"),
        ("restart", None, "Restart.PERMANENT"),
        ("significant", 1, "must be a bool"),
        ("backoff", 3, "must be a Backoff"),
        ("mailbox", 256, "must be a MailboxSpec"),
        ("register", "", "must be a text without '/'"),
        ("register", 7, "must be a text without '/'"),
    ],
)
def test_an_option_of_a_child_says_what_it_may_be(option: str, value: object, allowed: str) -> None:
    with pytest.raises(SpecError, match=option) as failure:
        child("till", till, **{option: value})
    assert allowed in str(failure.value)
    assert f"{value!r}" in str(failure.value)


@pytest.mark.parametrize("shutdown", [-1, -0.1, math.inf, "brutal", *NOT_NUMBERS])
@pytest.mark.parametrize("make", [child, supervisor])
def test_shutdown_is_a_number_or_a_word(make: Callable[..., object], shutdown: object) -> None:
    allowed = "a number of at least 0, Shutdown.BRUTAL or .*INFINITE"
    with pytest.raises(SpecError, match=allowed):
        make("x", **({"actor": idle} if make is child else {}), shutdown=shutdown)


@pytest.mark.parametrize("start_timeout", [0, -1, -math.inf, *NOT_NUMBERS])
def test_a_start_timeout_is_a_number_above_zero(start_timeout: object) -> None:
    with pytest.raises(SpecError, match=r"must be a number .*, or math\.inf"):
        child("till", till, start_timeout=start_timeout)


@pytest.mark.parametrize("capacity", [0, -1, 1.5, math.inf, *NOT_NUMBERS])
def test_a_capacity_is_a_whole_number_above_zero(capacity: object) -> None:
    with pytest.raises(SpecError, match="capacity must be a whole number of at least 1"):
        mailbox(capacity)


@pytest.mark.parametrize("overflow", ["wait", None, Restart.PERMANENT])
def test_an_overflow_rule_is_one_of_four(overflow: object) -> None:
    allowed = "Overflow.WAIT.*Overflow.DROP_OLDEST.*Overflow.DROP_NEWEST.*Overflow.FAIL"
    with pytest.raises(SpecError, match=allowed):
        mailbox(1, overflow)


@pytest.mark.parametrize(
    ("options", "allowed"),
    [
        ({"minimum": 0}, "minimum must be a number"),
        ({"minimum": -1}, "minimum must be a number"),
        ({"minimum": 2, "maximum": 1}, "maximum must be a number of at least 2"),
        ({"maximum": math.inf}, "maximum must be a number"),
        ({"factor": 0.5}, "factor must be a number of at least 1"),
        ({"jitter": -0.1}, "jitter must be a number of at least 0"),
        ({"reset_after": -1}, "reset_after must be a number of at least 0"),
        *(({"minimum": value}, "minimum must be a number") for value in NOT_NUMBERS),
        *(({"jitter": value}, "jitter must be a number") for value in NOT_NUMBERS),
    ],
)
def test_a_backoff_says_what_its_numbers_may_be(options: dict[str, object], allowed: str) -> None:
    with pytest.raises(SpecError, match=allowed):
        backoff(**options)


@pytest.mark.parametrize(
    ("options", "allowed"),
    [
        (
            {"strategy": "one_for_one"},
            "Strategy.ONE_FOR_ONE.*Strategy.ONE_FOR_ALL.*Strategy.REST_FOR_ONE.*Strategy.DYNAMIC",
        ),
        ({"strategy": "all_for_one"}, "got 'all_for_one'"),
        ({"strategy": None}, "strategy must be .*Strategy.ONE_FOR_ONE"),
        ({"intensity": -1}, "intensity must be a whole number of at least 0"),
        ({"intensity": 1.5}, "intensity must be a whole number"),
        ({"intensity": math.inf}, "intensity must be a whole number"),
        *(({"intensity": value}, "intensity must be a whole number") for value in NOT_NUMBERS),
        ({"period": 0}, "period must be a number"),
        ({"period": -5}, "period must be a number"),
        ({"period": math.inf}, "period must be a number"),
        *(({"period": value}, "period must be a number") for value in NOT_NUMBERS),
        ({"auto_shutdown": "never"}, "AutoShutdown.NEVER.*ANY_SIGNIFICANT.*ALL_SIGNIFICANT"),
        ({"max_children": 5}, "max_children is for Strategy.DYNAMIC only"),
        ({"strategy": Strategy.DYNAMIC, "max_children": -1}, "max_children must be a whole number"),
        ({"strategy": Strategy.DYNAMIC, "max_children": True}, "max_children must be a whole"),
        (
            {"strategy": Strategy.DYNAMIC, "auto_shutdown": AutoShutdown.ANY_SIGNIFICANT},
            "auto_shutdown must be AutoShutdown.NEVER",
        ),
    ],
)
async def test_a_supervisor_says_what_its_options_may_be(
    options: dict[str, Any], allowed: str
) -> None:
    with pytest.raises(SpecError, match=allowed):
        supervisor("shop", **options)
    with pytest.raises(SpecError, match=allowed):
        async with open_supervisor("shop", **options):
            raise AssertionError("the block must not run")


@pytest.mark.parametrize("children", ["till", b"till", 5, None, {till}, [till], ["till"], [None]])
async def test_children_are_a_list_of_specs(children: Any) -> None:
    allowed = "must be a list|must be a ChildSpec or a SupervisorSpec"
    with pytest.raises(SpecError, match=allowed):
        supervisor("shop", children=children)


def test_the_name_of_a_child_is_unique_unless_dynamic() -> None:
    twins: list[Spec] = [ChildSpec("till", till), ChildSpec("till", idle)]
    with pytest.raises(SpecError, match="two children of 'shop' are called 'till'"):
        SupervisorSpec("shop", children=twins)
    SupervisorSpec("shop", strategy=Strategy.DYNAMIC, children=twins)


def test_a_significant_child_cannot_be_permanent() -> None:
    with pytest.raises(SpecError, match="make it TRANSIENT"):
        ChildSpec("till", till, significant=True)


def test_a_significant_child_needs_an_auto_shutdown() -> None:
    spec = ChildSpec("till", till, significant=True, restart=Restart.TRANSIENT)
    with pytest.raises(SpecError, match=r"choose ANY_.*ALL_SIGNIFICANT"):
        SupervisorSpec("shop", children=[spec])
    SupervisorSpec("shop", children=[spec], auto_shutdown=AutoShutdown.ANY_SIGNIFICANT)


@pytest.mark.parametrize("strategy", list(Strategy))
async def test_a_bad_child_is_refused_while_running_and_the_supervisor_lives(
    strategy: Strategy,
) -> None:
    async with open_supervisor("shop", strategy=strategy) as shop:
        spec = ChildSpec("till", till, significant=True, restart=Restart.TRANSIENT)
        with pytest.raises(SpecError, match="auto_shutdown of 'shop' is NEVER"):
            await shop.start(spec)
        untyped: Any = shop
        with pytest.raises(SpecError, match="must be a ChildSpec or a SupervisorSpec"):
            await untyped.start("till")
        with pytest.raises(SpecError, match="intensity must be a whole number"):
            await shop.reload(intensity=-1)
        await shop.start(ChildSpec("till", till))


async def test_specs_made_by_a_function_are_checked_when_it_is_called() -> None:
    def garbage() -> Any:
        return "till"

    async with nothing_left():
        with pytest.raises(StartFailed, match="children of 'shop' must be a list") as bad:
            async with open_supervisor("shop", children=garbage):
                raise AssertionError("the block must not run")
    assert isinstance(bad.value.__cause__, SpecError)


async def test_a_function_of_children_is_called_anew_for_each_life_of_its_supervisor() -> None:
    calls: list[int] = []

    def children() -> list[ChildSpec[object]]:
        calls.append(1)
        return [ChildSpec(f"child {len(calls)}", idle)]

    floor = SupervisorSpec("floor", children=children)
    async with open_supervisor("shop", children=[floor]) as shop:
        assert [info.name for info in await shop.supervisor("floor").children()] == ["child 1"]
        await crash(shop.supervisor("floor"))
        await wait_all_tasks_blocked()
        assert [info.name for info in await shop.supervisor("floor").children()] == ["child 2"]


@pytest.mark.parametrize("bad", [lambda: "garbage", lambda: [None]])
async def test_a_reload_that_is_refused_changes_nothing(bad: Any) -> None:
    async with nothing_left(), open_supervisor("shop") as shop:
        await shop.start(ChildSpec("till", till))
        with pytest.raises(SpecError):
            await shop.reload(children=bad)
        assert [child.name for child in await shop.children()] == ["till"]


async def test_a_reload_that_renames_what_runs_frees_the_old_name_at_its_end() -> None:
    async with open_supervisor("shop") as shop:
        await shop.start(ChildSpec("till", till, register="old"))
        await shop.reload(children=[ChildSpec("till", till, register="new")])
        await shop.terminate("till")
        assert shop.registered() == {}


@pytest.mark.parametrize("strategy", list(Strategy))
async def test_what_no_supervisor_understands_does_it_no_harm(strategy: Strategy) -> None:
    async with open_supervisor("shop", strategy=strategy) as shop:
        floor = SupervisorSpec("floor", strategy=strategy, register="floor")
        await shop.start(floor)
        untyped: Any = shop.named("floor")
        await untyped.tell("gibberish")
        with pytest.raises(NoReply):
            await untyped.ask("gibberish too")
        assert (await shop.count()).active == 1
        assert shop.tree().children[0].life == 1
