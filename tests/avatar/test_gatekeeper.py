"""The gatekeeper, alone, on virtual time."""

from functools import partial
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from avatar_actors.avatar.actors.gatekeeper import gatekeeper
from avatar_actors.avatar.messages import TrackerMessage
from avatar_actors.model.errors import UnknownRequest
from avatar_actors.model.events import PermissionClosedEvent, PermissionEvent, ToolEvent
from avatar_actors.model.permission_rules import Rules
from avatar_actors.model.settings import PermissionMode
from avatar_actors.model.tool_policy import ToolPolicy
from avatar_actors.model.values import Permit, ToolStatus
from avatar_actors.session.messages import (
    AnswerQuestion,
    BridgeMessage,
    Decided,
    GatekeeperMessage,
    Publish,
    Question,
    QuestionsOver,
    QuestionWithdrawn,
)
from avatar_actors.wire.commands import AnswerPermission
from avatar_actors.wire.facts import PermissionAsked
from supervisors import Address
from supervisors.testing import freeze
from tests.avatar.actor_tree import ActorTree, Recorder, open_tree

NOTHING = AnswerPermission(request_id="none", permit=Permit.CANCELLED)


class Gate:
    """A gatekeeper between a deaf-and-dumb tracker and bridge."""

    def __init__(self) -> None:
        self.tracker = Recorder[TrackerMessage]()
        self.bridge = Recorder[BridgeMessage]()
        self.bridge_at: Address[BridgeMessage]
        self.tracker_at: Address[TrackerMessage]
        self.at: Address[GatekeeperMessage]

    async def open(
        self, tree: ActorTree, patience: float, mode: PermissionMode = PermissionMode.ASK
    ) -> None:
        self.tracker_at = await tree.start("tracker", self.tracker, room=1)
        self.bridge_at = await tree.start("bridge", self.bridge, room=1)
        rules = Rules(mode, ToolPolicy())
        actor = partial(gatekeeper, rules=rules, patience=patience, tracker=self.tracker_at)
        self.at = await tree.start("gatekeeper", actor)

    async def question(self, name: str, turn_id: int = 1) -> None:
        tool = ToolEvent(tool_name="Bash", tool_id=name, status=ToolStatus.APPROVAL)
        asked = PermissionAsked(request_id=name, tool=tool, options=())
        await self.at.tell(Question(f"7-{name}", turn_id, asked, self.bridge_at))

    async def answer(self, name: str, permit: Permit, **more: Any) -> None:
        await self.at.ask(AnswerQuestion(request_id=f"7-{name}", permit=permit, **more))

    def asked(self) -> list[str]:
        return [e.request_id for e in self._events() if isinstance(e, PermissionEvent)]

    def closed(self) -> dict[str, tuple[Permit, str]]:
        closed = [e for e in self._events() if isinstance(e, PermissionClosedEvent)]
        return {event.request_id: (event.permit, event.why) for event in closed}

    def decided(self) -> dict[str, Permit]:
        answers = [each.answer for each in self.bridge.heard if isinstance(each, Decided)]
        return {answer.request_id: answer.permit for answer in answers}

    def _events(self) -> list[object]:
        told = [each for each in self.tracker.heard if isinstance(each, Publish)]
        return [event for each in told for event in each.events]


@pytest.fixture
def gate() -> Gate:
    return Gate()


async def test_an_answer_reaches_the_agent_and_the_subscribers(gate: Gate) -> None:
    async with open_tree() as tree:
        await gate.open(tree, float("inf"))
        await gate.question("a")
        await gate.answer("a", Permit.ALLOW_ALWAYS, option_id="x", updated_input={"k": 1})
        await tree.settle()
        assert gate.asked() == ["7-a"]
        assert gate.decided() == {"a": Permit.ALLOW_ALWAYS}
        [decided] = gate.bridge.heard
        assert isinstance(decided, Decided)
        assert (decided.answer.option_id, decided.answer.updated_input) == ("x", {"k": 1})
        assert gate.closed() == {"7-a": (Permit.ALLOW_ALWAYS, "host")}


@pytest.mark.parametrize(
    ("mode", "permit"),
    [
        (PermissionMode.SAFE, Permit.REJECT_ONCE),
        (PermissionMode.UNRESTRICTED, Permit.ALLOW_ONCE),
    ],
)
async def test_other_modes_ask_nobody(gate: Gate, mode: PermissionMode, permit: Permit) -> None:
    async with open_tree() as tree:
        await gate.open(tree, float("inf"), mode)
        await gate.question("a")
        await tree.settle()
        assert (gate.asked(), gate.decided()) == ([], {"a": permit})


async def test_a_second_answer_is_refused(gate: Gate) -> None:
    async with open_tree() as tree:
        await gate.open(tree, float("inf"))
        await gate.question("a")
        await gate.answer("a", Permit.ALLOW_ONCE)
        with pytest.raises(UnknownRequest):
            await gate.answer("a", Permit.REJECT_ONCE)
        with pytest.raises(UnknownRequest):
            await gate.answer("never asked", Permit.REJECT_ONCE)
        assert gate.decided() == {"a": Permit.ALLOW_ONCE}


async def test_each_question_is_denied_at_its_own_deadline(
    gate: Gate, autojump_clock: MockClock
) -> None:
    async with open_tree() as tree:
        await gate.open(tree, patience=10)
        await gate.question("a")
        await trio.sleep(4)
        await gate.question("b")
        await trio.sleep(6.5)
        assert gate.decided() == {"a": Permit.REJECT_ONCE}
        await gate.answer("b", Permit.ALLOW_ONCE)
        await trio.sleep(60)
        assert gate.decided() == {"a": Permit.REJECT_ONCE, "b": Permit.ALLOW_ONCE}
        assert gate.closed()["7-a"] == (Permit.REJECT_ONCE, "nobody answered in time")


async def test_a_question_may_wait_for_ever(gate: Gate, autojump_clock: MockClock) -> None:
    async with open_tree() as tree:
        await gate.open(tree, float("inf"))
        await gate.question("a")
        await trio.sleep(86_000)
        assert (gate.decided(), gate.closed()) == ({}, {})
        await gate.answer("a", Permit.ALLOW_ONCE)


async def test_the_end_of_a_turn_closes_its_questions_alone(gate: Gate) -> None:
    async with open_tree() as tree:
        await gate.open(tree, float("inf"))
        await gate.question("a", turn_id=1)
        await gate.question("b", turn_id=2)
        await gate.at.ask(QuestionsOver(1))
        await tree.settle()
        assert list(gate.closed()) == ["7-a"]
        assert gate.decided() == {}
        with pytest.raises(UnknownRequest):
            await gate.answer("a", Permit.ALLOW_ONCE)


async def test_a_withdrawn_question_is_closed_once(gate: Gate) -> None:
    async with open_tree() as tree:
        await gate.open(tree, float("inf"))
        await gate.question("a")
        for _ in "twice":
            await gate.at.tell(QuestionWithdrawn("7-a"))
        await tree.settle()
        assert gate.closed() == {"7-a": (Permit.CANCELLED, "withdrawn by the agent")}


async def test_the_end_of_the_agent_closes_all_questions_also_those_of_no_turn(gate: Gate) -> None:
    async with open_tree() as tree:
        await gate.open(tree, float("inf"))
        await gate.question("a", turn_id=0)
        await gate.question("b", turn_id=2)
        await gate.at.ask(QuestionsOver(None))
        await tree.settle()
        assert set(gate.closed()) == {"7-a", "7-b"}


async def test_the_deadline_of_one_question_does_not_swallow_the_answer_to_another(
    gate: Gate, autojump_clock: MockClock
) -> None:
    async with open_tree() as tree, trio.open_nursery() as nursery:
        await gate.open(tree, patience=10)
        await gate.question("a")
        await trio.sleep(5)
        await gate.question("b")
        await tree.settle()
        with freeze(gate.bridge_at):
            # The bridge is busy: its mailbox has room for one only, so the second answer waits.
            await gate.bridge_at.tell(Decided(NOTHING))
            nursery.start_soon(gate.answer, "b", Permit.ALLOW_ONCE)
            await trio.sleep(7)  # a's deadline passes meanwhile
        await trio.sleep(1)
        assert gate.decided().get("b") is Permit.ALLOW_ONCE
        assert gate.decided().get("a") is Permit.REJECT_ONCE
        assert set(gate.closed()) == {"7-a", "7-b"}
