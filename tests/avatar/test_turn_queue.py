"""The turn queue, alone: one turn at a time, interrupts in every phase, exactly one end."""

from functools import partial

import pytest
import trio
from trio.testing import MockClock

from avatar_actors.avatar import messages as avatar_messages
from avatar_actors.avatar.actors.turn_limits import TurnLimits
from avatar_actors.avatar.actors.turn_queue import turn_queue
from avatar_actors.avatar.actors.turn_runner import TurnRunner
from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.messages import GiveBack, LimiterMessage, RuntimeBudgetMessage
from avatar_actors.model.errors import AgentNeedsLogin
from avatar_actors.model.events import ErrorEvent, TurnEndedEvent
from avatar_actors.model.settings import AvatarSettings, Budget, WhileBusy
from avatar_actors.model.values import Outcome, ProviderCapabilities, Usage
from avatar_actors.session import messages as session_messages
from avatar_actors.session.messages import (
    BridgeMessage,
    CancelTurn,
    GatekeeperMessage,
    ProcessMessage,
    RunTurn,
    TurnEnding,
)
from supervisors import Address, ChildSpec, Inbox, Reply, Restart
from supervisors.testing import freeze
from tests.avatar.actor_tree import ActorTree, Recorder, open_tree


class Agent:
    """A bridge that ends a turn when it is told to, or cancelled."""

    def __init__(self) -> None:
        self.prompts: list[int] = []
        self.cancels: list[int] = []
        self._turns: dict[int, Reply[TurnEnding]] = {}

    async def __call__(self, inbox: Inbox[BridgeMessage]) -> None:
        async for message in inbox:
            if isinstance(message, RunTurn):
                self.prompts.append(message.turn_id)
                self._turns[message.turn_id] = inbox.defer(message)
            elif isinstance(message, CancelTurn):
                self.cancels.append(message.turn_id)
                self.end(message.turn_id, message.outcome)

    def end(self, turn_id: int, outcome: Outcome = Outcome.COMPLETED) -> None:
        if turn_id in self._turns:
            self._turns.pop(turn_id).send(TurnEnding(outcome=outcome))


class QueueSetup:
    def __init__(self) -> None:
        self.agent = Agent()
        self.tracker = Recorder[avatar_messages.TrackerMessage](
            EndTurn=TurnEndedEvent(), WasSent=True
        )
        self.limiter = Recorder[LimiterMessage]()
        self.limiter_at: Address[LimiterMessage]
        self.runtime_budget_at: Address[RuntimeBudgetMessage]
        self.process_at: Address[ProcessMessage]
        self.tracker_at: Address[avatar_messages.TrackerMessage]
        self.at: Address[avatar_messages.TurnMessage]
        self.capabilities = ProviderCapabilities()
        self.settings = AvatarSettings()

    async def open(self, tree: ActorTree) -> None:
        """Up to the open session."""
        await self.set_up(tree)
        await self.open_session(tree)

    async def set_up(self, tree: ActorTree) -> None:
        self.tracker_at = await tree.start("tracker", self.tracker, room=1)
        self.limiter_at = await tree.start("limiter", self.limiter)
        budget = Recorder[RuntimeBudgetMessage](Reserve="", OpenAccount=False)
        self.runtime_budget_at = await tree.start("runtime budget", budget)
        self.process_at = await tree.start("process", Recorder[ProcessMessage]())
        actor = partial(
            turn_queue,
            settings=self.settings,
            tracker=self.tracker_at,
            gatekeeper=await tree.start("gatekeeper", Recorder[GatekeeperMessage]()),
            runtime_budget=self.runtime_budget_at,
            limiter=self.limiter_at,
            provider="p",
        )
        self.at = await tree.start("queue", actor)

    async def open_session(self, tree: ActorTree) -> None:
        await self.meet(await tree.start("bridge", self.agent))
        await tree.settle()

    async def meet(self, bridge: Address[BridgeMessage]) -> None:
        """A session with this bridge is open."""
        ready = session_messages.SessionReady(
            bridge=bridge,
            process=self.process_at,
            capabilities=self.capabilities,
            session_id="s",
            pid=1,
        )
        await self.at.tell(ready)

    async def submit(self, turn_id: int, how: WhileBusy = WhileBusy.QUEUE) -> EventStream:
        submission = avatar_messages.Submission(
            turn_id=turn_id, text="x", while_busy=how, timeout=1000
        )
        stream = EventStream(turn_id)
        await self.at.ask(avatar_messages.Submit(submission, stream))
        return stream

    def ends(self) -> dict[int, Outcome]:
        """How each turn ended; a turn that ended twice is a fault."""
        told = [each for each in self.tracker.heard if isinstance(each, avatar_messages.EndTurn)]
        numbers = [each.turn_id for each in told]
        assert len(numbers) == len(set(numbers)), "a turn ended twice"
        return {each.turn_id: each.ending.outcome for each in told}


@pytest.fixture
def setup() -> QueueSetup:
    return QueueSetup()


async def test_turns_run_one_after_the_other_in_order(setup: QueueSetup) -> None:
    async with open_tree() as tree:
        await setup.open(tree)
        for turn in (1, 2, 3):
            await setup.submit(turn)
        await tree.settle()
        assert setup.agent.prompts == [1]
        for turn in (1, 2, 3):
            setup.agent.end(turn)
            await tree.settle()
        assert setup.agent.prompts == [1, 2, 3]
        assert setup.ends() == dict.fromkeys((1, 2, 3), Outcome.COMPLETED)


async def test_readers_of_turns_do_not_wait_for_ever_when_the_tracker_is_gone(
    setup: QueueSetup,
) -> None:
    async with open_tree() as tree:
        await setup.set_up(tree)
        streams = [await setup.submit(turn) for turn in (1, 2)]
        await tree.settle()
        tree.started.remove(setup.tracker_at)
        await tree.root.terminate(setup.tracker_at)
        assert not any(stream.is_closed for stream in streams)
    assert all(stream.is_closed for stream in streams)


async def test_a_late_interrupt_never_hits_the_next_turn(setup: QueueSetup) -> None:
    async with open_tree() as tree:
        await setup.open(tree)
        await setup.submit(1)
        await setup.submit(2)
        await tree.settle()
        setup.agent.end(1)
        await tree.settle()
        assert not await setup.at.ask(avatar_messages.Interrupt(1))
        await tree.settle()
        assert setup.agent.cancels == []
        setup.agent.end(2)


async def test_an_interrupt_at_the_rate_limiter_sends_nothing(setup: QueueSetup) -> None:
    async with open_tree() as tree:
        await setup.open(tree)
        with freeze(setup.limiter_at):
            await setup.submit(1)
            await tree.settle()
            assert await setup.at.ask(avatar_messages.Interrupt(1))
            await tree.settle()
            assert setup.ends() == {1: Outcome.CANCELLED}
        await tree.settle()
        assert setup.agent.prompts == []
        assert GiveBack(1) in setup.limiter.heard


async def test_an_interrupt_while_the_tracker_is_busy_is_not_forgotten(setup: QueueSetup) -> None:
    """The tracker's mailbox is full, so the queue waits in the middle of a step."""
    for steps in range(6):
        setup = QueueSetup()
        async with open_tree() as tree:
            await setup.open(tree)
            with freeze(setup.tracker_at) as step:
                await setup.tracker_at.tell(avatar_messages.WasSent(0))
                await setup.submit(1)
                await tree.settle()
                for _ in range(steps):
                    await step()
                with trio.move_on_after(0.05):
                    await setup.at.ask(avatar_messages.Interrupt(1))
            await tree.settle()
            assert setup.ends() == {1: Outcome.CANCELLED}, steps
            assert set(setup.agent.prompts) == set(setup.agent.cancels), steps


async def test_a_turn_that_takes_too_long_is_cancelled_by_its_own_name(
    setup: QueueSetup, autojump_clock: MockClock
) -> None:
    async with open_tree() as tree:
        await setup.open(tree)
        await setup.submit(1)
        await setup.submit(2)
        await trio.sleep(999)
        assert setup.agent.cancels == []
        await trio.sleep(2)
        assert setup.agent.cancels == [1]
        assert setup.ends() == {1: Outcome.TIMED_OUT}
        await trio.sleep(990)
        setup.agent.end(2)
        await tree.settle()
        assert setup.ends()[2] is Outcome.COMPLETED


async def test_a_close_down_ends_all_and_takes_no_more(setup: QueueSetup) -> None:
    async with open_tree() as tree:
        await setup.open(tree)
        for turn in (1, 2):
            await setup.submit(turn)
        await tree.settle()
        await setup.at.ask(avatar_messages.CloseDown("enough"))
        await setup.submit(3)
        await tree.settle()
        cancelled = Outcome.CANCELLED
        assert setup.ends() == {1: cancelled, 2: cancelled, 3: Outcome.REJECTED}


async def test_an_urgent_prompt_goes_before_those_that_wait(setup: QueueSetup) -> None:
    async with open_tree() as tree:
        await setup.open(tree)
        await setup.submit(1)
        await setup.submit(2)
        await tree.settle()
        await setup.submit(3, WhileBusy.INTERRUPT)
        await tree.settle()
        assert setup.agent.prompts == [1, 3]
        assert setup.ends() == {1: Outcome.CANCELLED}


async def test_health_is_answered_though_the_runtime_budget_does_not(setup: QueueSetup) -> None:
    async with open_tree() as tree:
        await setup.open(tree)
        with freeze(setup.runtime_budget_at), trio.fail_after(30):
            await setup.submit(1)
            await tree.settle()
            assert (await setup.at.ask(avatar_messages.GetHealth())).pid == 1
            assert await setup.at.ask(avatar_messages.Interrupt(1))
        await tree.settle()
        assert setup.ends() == {1: Outcome.CANCELLED}


async def test_a_turn_that_overspends_is_ended_by_its_own_number(setup: QueueSetup) -> None:
    setup.settings = AvatarSettings(budget=Budget(cost_usd=1))
    async with open_tree() as tree:
        await setup.open(tree)
        await setup.submit(1)
        await tree.settle()
        await setup.at.tell(session_messages.Spent(0, Usage(cost_usd=0.9)))
        await tree.settle()
        assert setup.agent.cancels == []
        await setup.at.tell(session_messages.Spent(1, Usage(cost_usd=0.2)))
        await tree.settle()
        assert setup.agent.cancels == [1]
        assert setup.ends() == {1: Outcome.OVER_BUDGET}
        health = await setup.at.ask(avatar_messages.GetHealth())
        assert health.total.cost_usd == pytest.approx(1.1)


async def test_a_login_that_is_refused_later_ends_the_avatar_and_says_what_to_do(
    setup: QueueSetup,
) -> None:
    async with open_tree() as tree:
        await setup.open(tree)
        tree.started.remove(setup.at)  # it is to end
        monitor = setup.at.monitor()
        await setup.submit(1)
        await tree.settle()
        await setup.at.tell(
            session_messages.LoginRefused("refused with HTTP 401", "Give a valid token.")
        )
        down = await monitor.down()
        assert down.exit is not None
        assert isinstance(down.exit.error, AgentNeedsLogin)
        assert setup.ends() == {1: Outcome.CRASHED}
        told = [each for each in setup.tracker.heard if isinstance(each, session_messages.Publish)]
        [error] = [e for each in told for e in each.events if isinstance(e, ErrorEvent)]
        assert error.error == "the avatar has ended: refused with HTTP 401\nGive a valid token."
        assert not error.recoverable


async def test_a_login_that_is_refused_at_the_first_start_is_left_to_who_starts(
    setup: QueueSetup,
) -> None:
    async with open_tree() as tree:
        await setup.set_up(tree)
        await setup.at.tell(session_messages.LoginRefused("refused", "sign in"))
        await tree.settle()
        await setup.open_session(tree)
        await setup.submit(1)
        await tree.settle()
        assert setup.agent.prompts == [1]
        setup.agent.end(1)


async def test_a_prompt_whose_bridge_dies_in_the_turn_is_said_once(setup: QueueSetup) -> None:
    said: list[BridgeMessage] = []

    async def dying(inbox: Inbox[BridgeMessage]) -> None:
        async for message in inbox:
            said.append(message)
            raise RuntimeError("it dies")

    async with open_tree() as tree:
        await setup.set_up(tree)
        mortal = ChildSpec("mortal", dying, restart=Restart.TEMPORARY)
        await setup.meet(await tree.root.start(mortal))
        await setup.submit(1)
        await tree.settle()
        await setup.open_session(tree)
        assert len(said) == 1
        assert setup.agent.prompts == []
        assert setup.ends() == {1: Outcome.CRASHED}


async def test_nothing_is_said_into_a_turn_that_waits_for_the_rate_limit(setup: QueueSetup) -> None:
    setup.capabilities = ProviderCapabilities(steering=True)
    async with open_tree() as tree:
        await setup.open(tree)
        with freeze(setup.limiter_at):
            await setup.submit(1)
            await tree.settle()
            await setup.submit(2, WhileBusy.STEER)
            await tree.settle()
            assert setup.ends() == {2: Outcome.REJECTED}
        await tree.settle()
        assert setup.agent.prompts == [1]


async def test_the_first_of_two_interrupts_says_how_a_turn_ends(setup: QueueSetup) -> None:
    async with open_tree() as tree:
        await setup.open(tree)
        submission = avatar_messages.Submission(turn_id=1, text="x", timeout=1000)
        limits = TurnLimits(
            Budget(), setup.at, setup.tracker_at, setup.runtime_budget_at, setup.limiter_at
        )
        runner = TurnRunner(
            submission, AvatarSettings(), setup.tracker_at, limits, trio.sleep_forever
        )
        first = TurnEnding(outcome=Outcome.TIMED_OUT, reason="first")
        await runner.interrupt(first)
        await runner.interrupt(TurnEnding(outcome=Outcome.CANCELLED, reason="second"))
        assert await runner.run() == first
