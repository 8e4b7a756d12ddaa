"""Specs, exits and notices behave as frozen dataclasses do, though they compile next to nothing."""

import copy
import inspect
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, asdict, fields, replace

import pytest

from supervisors import (
    Backoff,
    ChildSpec,
    Crashed,
    Exit,
    ExitKind,
    Inbox,
    MailboxSpec,
    Overflow,
    Restart,
    Started,
    SupervisorSpec,
)


async def idle(inbox: Inbox[int]) -> None:
    async for _ in inbox:
        pass


def test_equal_values_are_equal_and_have_one_hash() -> None:
    assert MailboxSpec(3) == MailboxSpec(capacity=3)
    assert MailboxSpec(3) != MailboxSpec(4)
    assert len({MailboxSpec(3), MailboxSpec(3, Overflow.WAIT), MailboxSpec(4)}) == 2


def test_values_of_two_classes_are_never_equal() -> None:
    assert Started("shop", 1.0, 1) == Started("shop", 1.0, 1)
    assert Started("shop", 1.0, 1) != Crashed("shop", 1.0, 1, None)
    assert Exit(ExitKind.NORMAL) != "returned"


def test_specs_are_compared_by_identity() -> None:
    one, other = ChildSpec("till", idle), ChildSpec("till", idle)
    assert one == one  # noqa: PLR0124
    assert one != other
    assert len({one, other, SupervisorSpec("shop"), SupervisorSpec("shop")}) == 4


def test_a_value_is_shown_as_it_is_made() -> None:
    expected = "MailboxSpec(capacity=3, overflow=<Overflow.FAIL: 'fail'>)"
    assert repr(MailboxSpec(3, Overflow.FAIL)) == expected


@pytest.mark.parametrize("name", ["capacity", "other"])
def test_a_value_is_frozen(name: str) -> None:
    box = MailboxSpec(3)
    with pytest.raises(FrozenInstanceError, match=f"cannot change field '{name}'"):
        setattr(box, name, 4)
    with pytest.raises(FrozenInstanceError, match=f"cannot change field '{name}'"):
        delattr(box, name)
    assert box.capacity == 3


def test_values_are_matched_by_position() -> None:
    match Crashed("shop", 1.0, 2, None):
        case Crashed(path, _, life, None):
            assert (path, life) == ("shop", 2)
        case _:
            pytest.fail("not matched")


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'actor'"):
        ChildSpec("till")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="unexpected keyword argument 'minimun'"):
        Backoff(minimun=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def test_the_functions_of_dataclasses_know_values() -> None:
    spec = ChildSpec("till", idle, restart=Restart.TRANSIENT)
    renamed = replace(spec, name="door")
    assert (renamed.name, renamed.restart) == ("door", Restart.TRANSIENT)
    assert [field.name for field in fields(MailboxSpec)] == ["capacity", "overflow"]
    assert asdict(MailboxSpec(3)) == {"capacity": 3, "overflow": Overflow.WAIT}


def test_a_value_survives_pickle_and_copy() -> None:
    backoff = Backoff(minimum=2.0)
    assert pickle.loads(pickle.dumps(backoff)) == copy.deepcopy(backoff) == backoff


def test_help_shows_the_arguments_of_a_class_that_nobody_used_yet() -> None:
    assert [*inspect.signature(ChildSpec).parameters][:3] == ["name", "actor", "restart"]
    kind = inspect.signature(ChildSpec).parameters["restart"].kind
    assert kind is inspect.Parameter.KEYWORD_ONLY


def test_a_class_with_an_init_of_its_own_keeps_it() -> None:
    class Small(MailboxSpec):
        def __init__(self) -> None:
            super().__init__(1, Overflow.FAIL)

    assert Small().capacity == Small().capacity == 1


def test_importing_the_package_compiles_few_methods() -> None:
    """Each takes 0.05 ms; as dataclasses, the classes of the package had 127 of them."""
    program = """
import sys, trio
compiled = []
def hear(event, args):
    # Not the modules themselves, where nobody has compiled them yet.
    if event == "compile" and not str(args[1]).endswith(".py"):
        compiled.append(args[1])
sys.addaudithook(hear)
import supervisors
print(len(compiled))
"""
    run = [sys.executable, "-c", program]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 30
