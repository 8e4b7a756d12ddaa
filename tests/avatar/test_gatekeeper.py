"""The gatekeeper, alone, on virtual time."""

from functools import partial
from typing import Any, TypeVar

import pytest
import trio
from trio.testing import MockClock

from avatar_actors.avatar.actors.gatekeeper import gatekeeper
from avatar_actors.avatar.actors.host_functions import HostFunctions
from avatar_actors.avatar.messages import AskSubscribers, TrackerMessage
from avatar_actors.model.errors import SettingsError, UnknownRequest
from avatar_actors.model.events import (
    DiagnosticEvent,
    PermissionClosedEvent,
    PermissionEvent,
    QuestionClosedEvent,
    QuestionEvent,
    ToolEvent,
)
from avatar_actors.model.permission_rules import Rules
from avatar_actors.model.questions import Answers, QuestionOption, UserQuestion
from avatar_actors.model.settings import PermissionMode
from avatar_actors.model.tool_policy import ToolPolicy
from avatar_actors.model.values import Permit, ToolStatus
from avatar_actors.session.messages import (
    BridgeMessage,
    Decided,
    GatekeeperMessage,
    GiveAnswers,
    GivePermit,
    Publish,
    Question,
    QuestionsOver,
    QuestionWithdrawn,
)
from avatar_actors.wire.commands import AnswerPermission, AnswerUser
from avatar_actors.wire.facts import PermissionAsked, UserAsked
from supervisors import Address
from supervisors.testing import freeze
from tests.avatar.actor_tree import ActorTree, Recorder, open_tree

E = TypeVar("E")
NOTHING = AnswerPermission(request_id="none", permit=Permit.CANCELLED)


class Gate:
    """A gatekeeper between a deaf-and-dumb tracker and bridge."""

    def __init__(self, *, has_subscriber: bool = True) -> None:
        self.tracker = Recorder[TrackerMessage](AskSubscribers=has_subscriber)
        self.bridge = Recorder[BridgeMessage]()
        self.bridge_at: Address[BridgeMessage]
        self.tracker_at: Address[TrackerMessage]
        self.at: Address[GatekeeperMessage]

    async def open(
        self,
        tree: ActorTree,
        patience: float,
        mode: PermissionMode = PermissionMode.ASK,
        host: HostFunctions | None = None,
    ) -> None:
        self.tracker_at = await tree.start("tracker", self.tracker, room=1)
        self.bridge_at = await tree.start("bridge", self.bridge, room=1)
        rules = Rules(mode, ToolPolicy())
        actor = partial(
            gatekeeper,
            rules=rules,
            patience=patience,
            tracker=self.tracker_at,
            host=host or HostFunctions(),
        )
        self.at = await tree.start("gatekeeper", actor)

    async def question(self, name: str, turn_id: int = 1) -> None:
        tool = ToolEvent(tool_name="Bash", tool_id=name, status=ToolStatus.APPROVAL)
        asked = PermissionAsked(request_id=name, tool=tool, options=())
        await self.at.tell(Question(f"7-{name}", turn_id, asked, self.bridge_at))

    async def answer(self, name: str, permit: Permit, **more: Any) -> None:
        await self.at.ask(GivePermit(request_id=f"7-{name}", permit=permit, **more))

    async def user_question(self, name: str, turn_id: int = 1) -> None:
        options = (QuestionOption("red"), QuestionOption("blue"))
        colour = UserQuestion(question_id="q1", text="Which colour?", options=options)
        asked = UserAsked(request_id=name, questions=(colour,))
        await self.at.tell(Question(f"7-{name}", turn_id, asked, self.bridge_at))

    def answers(self) -> dict[str, tuple[Answers | None, str]]:
        told = [each.answer for each in self.bridge.heard if isinstance(each, Decided)]
        users = [answer for answer in told if isinstance(answer, AnswerUser)]
        return {answer.request_id: (answer.answers, answer.message) for answer in users}

    def asked(self) -> list[str]:
        return [e.request_id for e in self._events() if isinstance(e, PermissionEvent)]

    def closed(self) -> dict[str, tuple[Permit, str]]:
        closed = [e for e in self._events() if isinstance(e, PermissionClosedEvent)]
        return {event.request_id: (event.permit, event.why) for event in closed}

    def decided(self) -> dict[str, Permit]:
        told = [each.answer for each in self.bridge.heard if isinstance(each, Decided)]
        permits = [answer for answer in told if isinstance(answer, AnswerPermission)]
        return {answer.request_id: answer.permit for answer in permits}

    def of_kind(self, kind: type[E]) -> list[E]:
        return [event for event in self._events() if isinstance(event, kind)]

    def _events(self) -> list[object]:
        told: list[object] = []
        for each in self.tracker.heard:
            told += each.events if isinstance(each, Publish) else ()
            told += [each.event] if isinstance(each, AskSubscribers) else ()
        return told


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
        assert isinstance(decided.answer, AnswerPermission)
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


async def test_without_anybody_to_ask_a_tool_is_denied_at_once_and_the_log_says_what_to_pass() -> (
    None
):
    gate = Gate(has_subscriber=False)
    async with open_tree() as tree:
        await gate.open(tree, float("inf"))
        await gate.question("a")
        await tree.settle()
        assert gate.decided() == {"a": Permit.REJECT_ONCE}
        permit, why = gate.closed()["7-a"]
        assert (permit, "pass permissions=" in why) == (Permit.REJECT_ONCE, True)
        [warning] = gate.of_kind(DiagnosticEvent)
        assert "'Bash' was denied" in warning.message
        with pytest.raises(UnknownRequest):
            await gate.answer("a", Permit.ALLOW_ONCE)


async def test_without_anybody_to_ask_the_model_hears_it_at_once_in_its_own_words() -> None:
    gate = Gate(has_subscriber=False)
    async with open_tree() as tree:
        await gate.open(tree, float("inf"))
        await gate.user_question("a")
        await tree.settle()
        answers, message = gate.answers()["a"]
        assert (answers, message.startswith("Nobody is there to answer")) == (None, True)
        [closed] = gate.of_kind(QuestionClosedEvent)
        assert (closed.is_answered, "pass questions=" in closed.why) == (False, True)


async def test_no_mode_answers_a_question_to_the_user(gate: Gate) -> None:
    async with open_tree() as tree:
        await gate.open(tree, float("inf"), PermissionMode.UNRESTRICTED)
        await gate.user_question("a")
        await tree.settle()
        assert (len(gate.of_kind(QuestionEvent)), gate.answers()) == (1, {})
        await gate.at.ask(GiveAnswers("7-a", {"q1": "blue"}))
        await tree.settle()
        assert gate.answers() == {"a": ({"q1": ("blue",)}, "")}


async def test_an_answer_that_does_not_fit_leaves_the_question_open(gate: Gate) -> None:
    async with open_tree() as tree:
        await gate.open(tree, float("inf"))
        await gate.user_question("a")
        with pytest.raises(SettingsError, match="'red', 'blue'"):
            await gate.at.ask(GiveAnswers("7-a", "green"))
        with pytest.raises(UnknownRequest):
            await gate.answer("a", Permit.ALLOW_ONCE)
        await gate.at.ask(GiveAnswers("7-a", None, "not now"))
        await tree.settle()
        assert gate.answers() == {"a": (None, "not now")}
        with pytest.raises(UnknownRequest):
            await gate.at.ask(GiveAnswers("7-a", "red"))


async def test_a_function_answers_for_the_host_and_subscribers_see_the_question() -> None:
    gate = Gate(has_subscriber=False)

    async def allow(request: PermissionEvent) -> Permit:
        assert request.tool_name == "Bash"
        return Permit.ALLOW_ONCE

    async with open_tree() as tree:
        host = HostFunctions(allow, lambda question: question.questions[0].options[1].label)
        await gate.open(tree, float("inf"), host=host)
        await gate.question("a")
        await gate.user_question("b")
        with trio.fail_after(60):
            while len(gate.bridge.heard) < 2:
                await tree.settle()
        assert gate.decided() == {"a": Permit.ALLOW_ONCE}
        assert gate.answers() == {"b": ({"q1": ("blue",)}, "")}
        assert gate.closed() == {"7-a": (Permit.ALLOW_ONCE, "host")}
        assert gate.asked() == ["7-a"]


def _raises(_: object) -> Permit:
    raise LookupError("secret words")


async def _returns_a_word(_: object) -> Any:
    return "yes"


async def _exits(_: object) -> Any:
    raise SystemExit(3)


def _forgets_async(request: object) -> Any:
    return _returns_a_word(request)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (_raises, "failed (LookupError)"),
        (_exits, "failed (SystemExit)"),
        (_returns_a_word, "it must be a Permit; got str"),
        (_forgets_async, "failed (TypeError)"),
    ],
)
async def test_a_function_that_fails_denies_that_request_alone(
    function: Any, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    gate = Gate()
    async with open_tree() as tree:
        await gate.open(tree, float("inf"), host=HostFunctions(function))
        for name in ("a", "b"):
            await gate.question(name)
        with trio.fail_after(60):
            while len(gate.closed()) < 2:
                await tree.settle()
        assert gate.decided() == {"a": Permit.REJECT_ONCE, "b": Permit.REJECT_ONCE}
        for permit, why in gate.closed().values():
            assert (permit, reason in why) == (Permit.REJECT_ONCE, True)
            assert "secret" not in why
    assert [record.name for record in caplog.records] == ["avatar_actors.handlers"] * 2


async def test_a_function_is_cancelled_when_its_question_is_over(gate: Gate) -> None:
    ended: list[str] = []

    async def never(request: PermissionEvent) -> Permit:
        try:
            await trio.sleep_forever()
        finally:
            ended.append(request.request_id)

    async with open_tree() as tree:
        await gate.open(tree, float("inf"), host=HostFunctions(never))
        for turn_id, name in enumerate(("a", "b", "c"), 1):
            await gate.question(name, turn_id)
        await tree.settle()
        await gate.at.tell(QuestionWithdrawn("7-a"))
        await gate.at.ask(QuestionsOver(2))
        await gate.answer("c", Permit.ALLOW_ONCE)
        await tree.settle()
        assert sorted(ended) == ["7-a", "7-b", "7-c"]
        assert gate.decided() == {"c": Permit.ALLOW_ONCE}


async def test_an_answer_that_does_not_fit_is_told_to_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    gate = Gate()
    async with open_tree() as tree:
        await gate.open(tree, float("inf"), host=HostFunctions(None, lambda _: "swordfish"))
        await gate.user_question("a")
        with trio.fail_after(60):
            while not gate.of_kind(QuestionClosedEvent):
                await tree.settle()
        [closed] = gate.of_kind(QuestionClosedEvent)
        assert "must be one of 'red', 'blue'" in closed.why
        assert "swordfish" not in f"{closed.why}{gate.answers()}{caplog.text}"
