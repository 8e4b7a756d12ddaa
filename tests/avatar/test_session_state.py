"""What outlives a session."""

from collections.abc import Callable, Sequence
from functools import partial

import pytest

from avatar_actors.avatar.messages import ModelChosen, ResumeThis
from avatar_actors.avatar.state.session_state import SessionRecord
from avatar_actors.model.events import AvatarEvent, StateEvent
from avatar_actors.model.values import BridgeState, Continuity, ProviderCapabilities
from avatar_actors.session.messages import SessionLost, SessionReady
from avatar_actors.wire.commands import Beginning
from supervisors import Address, ChildSpec, Inbox, open_supervisor

KILLED = SessionLost("killed", -9, has_died=True)
STOPPED = SessionLost("it was stopped", None, has_died=False)


async def idle(inbox: Inbox[object]) -> None:
    async for _ in inbox:
        pass


@pytest.fixture
async def somebody() -> Address[object]:
    async with open_supervisor("root") as root:
        return await root.start(ChildSpec("somebody", idle))


def ready(
    somebody: Address[object],
    session_id: str,
    *,
    can_load: bool = True,
    continuity: Continuity = Continuity.NEW,
) -> SessionReady:
    return SessionReady(
        bridge=somebody,
        process=somebody,
        capabilities=ProviderCapabilities(can_load_session=can_load),
        session_id=session_id,
        pid=1,
        continuity=continuity,
    )


async def test_a_first_start_wishes_nothing() -> None:
    plan = SessionRecord("").plan()
    assert (plan.session_id, plan.continuity) == ("", Continuity.NEW)


async def test_a_stored_session_is_wished_from_the_first_start_on() -> None:
    assert SessionRecord("s").plan().session_id == "s"


async def test_what_was_said_is_taken_up_again(somebody: Address[object]) -> None:
    record = SessionRecord("")
    record.opened(ready(somebody, "s"))
    record.spoken()
    record.lost(KILLED)
    plan = record.plan()
    assert (plan.session_id, plan.continuity) == ("s", Continuity.RESUMED)


async def test_a_session_in_which_nothing_was_said_is_not(somebody: Address[object]) -> None:
    record = SessionRecord("")
    record.opened(ready(somebody, "s"))
    plan = record.plan()
    assert (plan.session_id, plan.continuity) == ("", Continuity.FRESH)
    assert plan.lost == "nothing had been said yet"


async def test_an_agent_that_cannot_resume_is_not_asked_to(somebody: Address[object]) -> None:
    record = SessionRecord("")
    record.opened(ready(somebody, "s", can_load=False))
    record.spoken()
    assert record.plan().continuity is Continuity.FRESH
    assert "cannot take up" in record.plan().lost


async def test_a_refused_session_is_not_wished_twice(somebody: Address[object]) -> None:
    record = SessionRecord("s")
    record.cannot_resume("no such session")
    plan = record.plan()
    assert (plan.session_id, plan.continuity, plan.lost) == (
        "",
        Continuity.FRESH,
        "no such session",
    )
    record.opened(ready(somebody, "new"))
    record.spoken()
    assert record.plan().session_id == "new"


async def test_a_switch_names_the_next_session(somebody: Address[object]) -> None:
    record = SessionRecord("")
    record.opened(ready(somebody, "s", can_load=False))
    record.switch_to(ResumeThis("other"))
    assert record.plan().session_id == "other"


async def test_states_are_told_when_they_change(somebody: Address[object]) -> None:
    record = SessionRecord("")
    steps: list[Callable[[], Sequence[AvatarEvent]]] = [
        record.starting,
        partial(record.opened, ready(somebody, "s")),
        record.silent,
        record.spoken,
        record.spoken,
        record.silent,
        partial(record.lost, KILLED),
        record.starting,
    ]
    told = [event for step in steps for event in step()]
    moves = [(each.new_state, each.detail) for each in told if isinstance(each, StateEvent)]
    assert moves == [
        (BridgeState.WARMING_UP, ""),
        (BridgeState.READY, ""),
        (BridgeState.BUSY, ""),
        (BridgeState.READY, ""),
        (BridgeState.ERROR, "killed"),
        (BridgeState.WARMING_UP, ""),
    ]
    assert record.restarts == 1


async def test_a_session_that_we_ended_is_no_error(somebody: Address[object]) -> None:
    record = SessionRecord("")
    record.opened(ready(somebody, "s"))
    [event] = record.lost(STOPPED)
    assert isinstance(event, StateEvent)
    assert event.new_state is BridgeState.DISCONNECTED


async def test_the_first_to_notice_a_death_tells_why(somebody: Address[object]) -> None:
    record = SessionRecord("")
    record.opened(ready(somebody, "s"))
    assert record.lost(KILLED)
    assert record.lost(STOPPED) == []
    assert (record.state, record.returncode) == (BridgeState.ERROR, -9)


async def test_the_last_session_is_wished_for_until_one_is_open(somebody: Address[object]) -> None:
    record = SessionRecord("", Beginning.LAST)
    assert record.plan().begins is Beginning.LAST
    record.opened(ready(somebody, "last", continuity=Continuity.RESUMED))
    record.lost(KILLED)
    plan = record.plan()
    assert (plan.session_id, plan.continuity) == ("last", Continuity.RESUMED)
    assert plan.begins is Beginning.AS_NAMED


async def test_a_last_session_that_is_gone_is_not_wished_for_again() -> None:
    record = SessionRecord("", Beginning.LAST)
    record.cannot_resume("no such session")
    plan = record.plan()
    assert (plan.continuity, plan.lost) == (Continuity.FRESH, "no such session")
    assert plan.begins is Beginning.AS_NAMED


async def test_a_fork_is_made_again_until_something_is_said_in_it(
    somebody: Address[object],
) -> None:
    record = SessionRecord("")
    record.switch_to(ResumeThis("old", Beginning.FORK))
    assert record.plan().is_demanded
    for copy in ("copy-1", "copy-2"):
        plan = record.plan()
        assert (plan.session_id, plan.begins) == ("old", Beginning.FORK)
        record.opened(ready(somebody, copy, continuity=Continuity.RESUMED))
        assert record.session_id == copy
        record.lost(KILLED)
    assert not record.plan().is_demanded
    record.opened(ready(somebody, "copy-3", continuity=Continuity.RESUMED))
    record.spoken()
    plan = record.plan()
    assert (plan.session_id, plan.begins) == ("copy-3", Beginning.AS_NAMED)


async def test_what_was_chosen_last_is_in_every_wish(somebody: Address[object]) -> None:
    record = SessionRecord("")
    record.choose(ModelChosen(model="big"))
    record.choose(ModelChosen(mode="plan"))
    record.choose(ModelChosen(model="small"))
    record.opened(ready(somebody, "s"))
    assert (record.plan().model, record.plan().mode) == ("small", "plan")
