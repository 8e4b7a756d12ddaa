"""The turn queue, alone: one turn at a time, interrupts in every phase, exactly one end."""

from functools import partial

import pytest
import trio
from trio.testing import MockClock

from avatar_actors.avatar import messages as avatar_messages
from avatar_actors.avatar.actors.turn_limits import TurnLimits
from avatar_actors.avatar.actors.turn_queue import turn_queue
from avatar_actors.avatar.actors.turn_runner import TurnRunner
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
from tests.avatar.stage import Ear, Stage, open_stage


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


class Scene:
    def __init__(self) -> None:
        self.agent = Agent()
        self.tracker = Ear[avatar_messages.TrackerMessage](EndTurn=TurnEndedEvent(), WasSent=True)
        self.limiter = Ear[LimiterMessage]()
        self.limiter_at: Address[LimiterMessage]
        self.runtime_budget_at: Address[RuntimeBudgetMessage]
        self.process_at: Address[ProcessMessage]
        self.tracker_at: Address[avatar_messages.TrackerMessage]
        self.at: Address[avatar_messages.TurnMessage]
        self.capabilities = ProviderCapabilities()
        self.settings = AvatarSettings()

    async def play(self, stage: Stage) -> None:
        """Up to the open session."""
        await self.set_up(stage)
        await self.open_session(stage)

    async def set_up(self, stage: Stage) -> None:
        self.tracker_at = await stage.play("tracker", self.tracker, room=1)
        self.limiter_at = await stage.play("limiter", self.limiter)
        budget = Ear[RuntimeBudgetMessage](Reserve="", OpenAccount=False)
        self.runtime_budget_at = await stage.play("runtime budget", budget)
        self.process_at = await stage.play("process", Ear[ProcessMessage]())
        actor = partial(
            turn_queue,
            settings=self.settings,
            tracker=self.tracker_at,
            gatekeeper=await stage.play("gatekeeper", Ear[GatekeeperMessage]()),
            runtime_budget=self.runtime_budget_at,
            limiter=self.limiter_at,
            provider="p",
        )
        self.at = await stage.play("queue", actor)

    async def open_session(self, stage: Stage) -> None:
        await self.meet(await stage.play("bridge", self.agent))
        await stage.rest()

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

    async def submit(self, turn_id: int, how: WhileBusy = WhileBusy.QUEUE) -> None:
        await self.at.tell(
            avatar_messages.Submit(
                avatar_messages.Submission(turn_id=turn_id, text="x", while_busy=how, timeout=1000)
            )
        )

    def ends(self) -> dict[int, Outcome]:
        """How each turn ended; a turn that ended twice is a fault."""
        told = [each for each in self.tracker.heard if isinstance(each, avatar_messages.EndTurn)]
        numbers = [each.turn_id for each in told]
        assert len(numbers) == len(set(numbers)), "a turn ended twice"
        return {each.turn_id: each.ending.outcome for each in told}


@pytest.fixture
def scene() -> Scene:
    return Scene()


async def test_turns_run_one_after_the_other_in_order(scene: Scene) -> None:
    async with open_stage() as stage:
        await scene.play(stage)
        for turn in (1, 2, 3):
            await scene.submit(turn)
        await stage.rest()
        assert scene.agent.prompts == [1]
        for turn in (1, 2, 3):
            scene.agent.end(turn)
            await stage.rest()
        assert scene.agent.prompts == [1, 2, 3]
        assert scene.ends() == dict.fromkeys((1, 2, 3), Outcome.COMPLETED)


async def test_a_late_interrupt_never_hits_the_next_turn(scene: Scene) -> None:
    async with open_stage() as stage:
        await scene.play(stage)
        await scene.submit(1)
        await scene.submit(2)
        await stage.rest()
        scene.agent.end(1)
        await stage.rest()
        assert not await scene.at.ask(avatar_messages.Interrupt(1))
        await stage.rest()
        assert scene.agent.cancels == []
        scene.agent.end(2)


async def test_an_interrupt_at_the_rate_limiter_sends_nothing(scene: Scene) -> None:
    async with open_stage() as stage:
        await scene.play(stage)
        with freeze(scene.limiter_at):
            await scene.submit(1)
            await stage.rest()
            assert await scene.at.ask(avatar_messages.Interrupt(1))
            await stage.rest()
            assert scene.ends() == {1: Outcome.CANCELLED}
        await stage.rest()
        assert scene.agent.prompts == []
        assert GiveBack(1) in scene.limiter.heard


async def test_an_interrupt_while_the_tracker_is_busy_is_not_forgotten(scene: Scene) -> None:
    """The tracker's mailbox is full, so the queue waits in the middle of a step."""
    for steps in range(6):
        scene = Scene()
        async with open_stage() as stage:
            await scene.play(stage)
            with freeze(scene.tracker_at) as step:
                await scene.tracker_at.tell(avatar_messages.WasSent(0))
                await scene.submit(1)
                await stage.rest()
                for _ in range(steps):
                    await step()
                with trio.move_on_after(0.05):
                    await scene.at.ask(avatar_messages.Interrupt(1))
            await stage.rest()
            assert scene.ends() == {1: Outcome.CANCELLED}, steps
            assert set(scene.agent.prompts) == set(scene.agent.cancels), steps


async def test_a_turn_that_takes_too_long_is_cancelled_by_its_own_name(
    scene: Scene, autojump_clock: MockClock
) -> None:
    async with open_stage() as stage:
        await scene.play(stage)
        await scene.submit(1)
        await scene.submit(2)
        await trio.sleep(999)
        assert scene.agent.cancels == []
        await trio.sleep(2)
        assert scene.agent.cancels == [1]
        assert scene.ends() == {1: Outcome.TIMED_OUT}
        await trio.sleep(990)
        scene.agent.end(2)
        await stage.rest()
        assert scene.ends()[2] is Outcome.COMPLETED


async def test_a_close_down_ends_all_and_takes_no_more(scene: Scene) -> None:
    async with open_stage() as stage:
        await scene.play(stage)
        for turn in (1, 2):
            await scene.submit(turn)
        await stage.rest()
        await scene.at.ask(avatar_messages.CloseDown("enough"))
        await scene.submit(3)
        await stage.rest()
        cancelled = Outcome.CANCELLED
        assert scene.ends() == {1: cancelled, 2: cancelled, 3: Outcome.REJECTED}


async def test_an_urgent_prompt_goes_before_those_that_wait(scene: Scene) -> None:
    async with open_stage() as stage:
        await scene.play(stage)
        await scene.submit(1)
        await scene.submit(2)
        await stage.rest()
        await scene.submit(3, WhileBusy.INTERRUPT)
        await stage.rest()
        assert scene.agent.prompts == [1, 3]
        assert scene.ends() == {1: Outcome.CANCELLED}


async def test_health_is_answered_though_the_runtime_budget_does_not(scene: Scene) -> None:
    async with open_stage() as stage:
        await scene.play(stage)
        with freeze(scene.runtime_budget_at), trio.fail_after(30):
            await scene.submit(1)
            await stage.rest()
            assert (await scene.at.ask(avatar_messages.GetHealth())).pid == 1
            assert await scene.at.ask(avatar_messages.Interrupt(1))
        await stage.rest()
        assert scene.ends() == {1: Outcome.CANCELLED}


async def test_a_turn_that_overspends_is_ended_by_its_own_number(scene: Scene) -> None:
    scene.settings = AvatarSettings(budget=Budget(cost_usd=1))
    async with open_stage() as stage:
        await scene.play(stage)
        await scene.submit(1)
        await stage.rest()
        await scene.at.tell(session_messages.Spent(0, Usage(cost_usd=0.9)))
        await stage.rest()
        assert scene.agent.cancels == []
        await scene.at.tell(session_messages.Spent(1, Usage(cost_usd=0.2)))
        await stage.rest()
        assert scene.agent.cancels == [1]
        assert scene.ends() == {1: Outcome.OVER_BUDGET}
        health = await scene.at.ask(avatar_messages.GetHealth())
        assert health.total.cost_usd == pytest.approx(1.1)


async def test_a_login_that_is_refused_later_ends_the_avatar_and_says_what_to_do(
    scene: Scene,
) -> None:
    async with open_stage() as stage:
        await scene.play(stage)
        stage.cast.remove(scene.at)  # it is to end
        monitor = scene.at.monitor()
        await scene.submit(1)
        await stage.rest()
        await scene.at.tell(
            session_messages.LoginRefused("refused with HTTP 401", "Give a valid token.")
        )
        down = await monitor.down()
        assert down.exit is not None
        assert isinstance(down.exit.error, AgentNeedsLogin)
        assert scene.ends() == {1: Outcome.CRASHED}
        told = [each for each in scene.tracker.heard if isinstance(each, session_messages.Publish)]
        [error] = [e for each in told for e in each.events if isinstance(e, ErrorEvent)]
        assert error.error == "the avatar has ended: refused with HTTP 401\nGive a valid token."
        assert not error.recoverable


async def test_a_login_that_is_refused_at_the_first_start_is_left_to_who_starts(
    scene: Scene,
) -> None:
    async with open_stage() as stage:
        await scene.set_up(stage)
        await scene.at.tell(session_messages.LoginRefused("refused", "sign in"))
        await stage.rest()
        await scene.open_session(stage)
        await scene.submit(1)
        await stage.rest()
        assert scene.agent.prompts == [1]
        scene.agent.end(1)


async def test_a_prompt_whose_bridge_dies_in_the_turn_is_said_once(scene: Scene) -> None:
    said: list[BridgeMessage] = []

    async def dying(inbox: Inbox[BridgeMessage]) -> None:
        async for message in inbox:
            said.append(message)
            raise RuntimeError("it dies")

    async with open_stage() as stage:
        await scene.set_up(stage)
        mortal = ChildSpec("mortal", dying, restart=Restart.TEMPORARY)
        await scene.meet(await stage.root.start(mortal))
        await scene.submit(1)
        await stage.rest()
        await scene.open_session(stage)
        assert len(said) == 1
        assert scene.agent.prompts == []
        assert scene.ends() == {1: Outcome.CRASHED}


async def test_nothing_is_said_into_a_turn_that_waits_for_the_rate_limit(scene: Scene) -> None:
    scene.capabilities = ProviderCapabilities(steering=True)
    async with open_stage() as stage:
        await scene.play(stage)
        with freeze(scene.limiter_at):
            await scene.submit(1)
            await stage.rest()
            await scene.submit(2, WhileBusy.STEER)
            await stage.rest()
            assert scene.ends() == {2: Outcome.REJECTED}
        await stage.rest()
        assert scene.agent.prompts == [1]


async def test_the_first_of_two_interrupts_says_how_a_turn_ends(scene: Scene) -> None:
    async with open_stage() as stage:
        await scene.play(stage)
        submission = avatar_messages.Submission(turn_id=1, text="x", timeout=1000)
        limits = TurnLimits(
            Budget(), scene.at, scene.tracker_at, scene.runtime_budget_at, scene.limiter_at
        )
        runner = TurnRunner(
            submission, AvatarSettings(), scene.tracker_at, limits, trio.sleep_forever
        )
        first = TurnEnding(outcome=Outcome.TIMED_OUT, reason="first")
        await runner.interrupt(first)
        await runner.interrupt(TurnEnding(outcome=Outcome.CANCELLED, reason="second"))
        assert await runner.run() == first
