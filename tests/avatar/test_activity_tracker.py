"""The activity tracker, alone, on virtual time."""

from functools import partial

import pytest
import trio
from trio.testing import MockClock

from avatar_actors.avatar.actors.activity_tracker import activity_tracker
from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.messages import (
    BeginTurn,
    EndTurn,
    Follow,
    SlowReaders,
    Subscribe,
    TrackerMessage,
    TryAgain,
    WasSent,
)
from avatar_actors.avatar.state.event_fanout import EventFanout
from avatar_actors.model.events import (
    AvatarEvent,
    CostEvent,
    DiagnosticEvent,
    EngineStateEvent,
    PermissionEvent,
    QueueEvent,
    RetryEvent,
    StallEvent,
    SupervisionEvent,
    TextEvent,
    ThinkingEvent,
    ToolEvent,
    TurnEndedEvent,
    TurnStartedEvent,
)
from avatar_actors.model.settings import Timeouts
from avatar_actors.model.values import (
    Outcome,
    ProviderCapabilities,
    StallVerdict,
    ToolStatus,
    Usage,
)
from avatar_actors.processes import Vitals
from avatar_actors.session.messages import (
    ProcessMessage,
    PromptSent,
    Publish,
    SessionUp,
    TurnEnding,
)
from supervisors import Address
from tests.avatar.actor_tree import ActorTree, Recorder, open_tree

IDLE = Vitals(cpu_seconds=1.0, processes=1, states={"S": 1})


class TrackerSetup:
    def __init__(self) -> None:
        self.stream = EventStream()
        self._told: list[AvatarEvent] = []
        self.process = Recorder[ProcessMessage](GetVitals=IDLE)
        self.at: Address[TrackerMessage]

    async def open(self, tree: ActorTree, *, shows_thoughts: bool = True) -> None:
        process = await tree.start("process", self.process)
        timeouts = Timeouts(stall_warning=30, stall_alarm=60, health_check_interval=5)
        fanout = EventFanout("p", "aria")
        actor = partial(activity_tracker, fanout=fanout, timeouts=timeouts, max_answer=10**6)
        self.at = await tree.start("tracker", actor)
        await self.at.ask(Subscribe(self.stream))
        told = ProviderCapabilities(thinking_supported=shows_thoughts)
        await self.at.tell(SessionUp(told, process))

    async def begin(self, turn_id: int = 1) -> None:
        await self.at.tell(BeginTurn(turn_id, "do it"))

    async def happens(self, turn_id: int, *events: AvatarEvent) -> None:
        await self.at.tell(Publish(turn_id, events))

    async def end(self, outcome: Outcome = Outcome.COMPLETED, turn_id: int = 1) -> TurnEndedEvent:
        return await self.at.ask(EndTurn(turn_id, TurnEnding(outcome=outcome), "s"))

    def told(self, turn_id: int | None = None) -> list[AvatarEvent]:
        self._told += self.stream.take_nowait()
        return [event for event in self._told if turn_id in (None, event.turn_id)]

    def stalls(self) -> list[StallEvent]:
        return [event for event in self.told() if isinstance(event, StallEvent)]


@pytest.fixture
def track() -> TrackerSetup:
    return TrackerSetup()


async def test_the_end_holds_the_whole_text_and_is_the_last_event(track: TrackerSetup) -> None:
    async with open_tree() as tree:
        await track.open(tree)
        await track.begin()
        for letter in "abc":
            await track.happens(1, TextEvent(text=letter), ThinkingEvent(thought="not text"))
        await track.happens(1, CostEvent(cost_usd=0.5, output_tokens=3))
        ended = await track.end()
        await track.happens(1, TextEvent(text="late"))
        await tree.settle()
        assert (ended.text, ended.session_id) == ("abc", "s")
        assert ended.usage == Usage(cost_usd=0.5, output_tokens=3)
        assert isinstance(track.told(1)[0], TurnStartedEvent)
        assert isinstance(track.told(1)[-1], TurnEndedEvent)


@pytest.mark.parametrize(
    ("outcome", "status", "unknown"),
    [
        (Outcome.CRASHED, ToolStatus.UNKNOWN, ("t",)),
        (Outcome.FAILED, ToolStatus.UNKNOWN, ("t",)),
        (Outcome.COMPLETED, ToolStatus.UNKNOWN, ("t",)),
        (Outcome.CANCELLED, ToolStatus.CANCELLED, ()),
        (Outcome.TIMED_OUT, ToolStatus.CANCELLED, ()),
    ],
)
async def test_a_tool_in_flight_ends_with_its_turn(
    track: TrackerSetup, outcome: Outcome, status: ToolStatus, unknown: tuple[str, ...]
) -> None:
    async with open_tree() as tree:
        await track.open(tree)
        await track.begin()
        await track.happens(1, ToolEvent(tool_id="t", status=ToolStatus.STARTED))
        ended = await track.end(outcome)
        await tree.settle()
        tools = [event for event in track.told(1) if isinstance(event, ToolEvent)]
        assert [tool.status for tool in tools] == [ToolStatus.STARTED, status]
        assert ended.unknown_tools == unknown
        assert not ended.can_retry


async def test_a_crash_before_any_tool_may_be_tried_again(track: TrackerSetup) -> None:
    async with open_tree() as tree:
        await track.open(tree)
        await track.begin()
        await track.happens(1, TextEvent(text="half"))
        ended = await track.end(Outcome.CRASHED)
        assert (ended.text, ended.can_retry) == ("half", True)
        await track.begin(2)
        assert not (await track.end(Outcome.FAILED, 2)).can_retry


async def test_a_turn_that_never_began_has_an_end_too(track: TrackerSetup) -> None:
    async with open_tree() as tree:
        await track.open(tree)
        await track.begin(1)
        ended = await track.end(Outcome.REJECTED, turn_id=2)
        assert ended.outcome is Outcome.REJECTED
        await track.happens(1, TextEvent(text="a"))
        assert (await track.end(turn_id=1)).text == "a"


async def test_nothing_of_one_turn_gets_into_the_next(track: TrackerSetup) -> None:
    async with open_tree() as tree:
        await track.open(tree)
        await track.begin(1)
        await track.happens(1, TextEvent(text="a"), ToolEvent(tool_id="t"))
        await track.end(turn_id=1)
        await track.begin(2)
        await track.happens(1, TextEvent(text="a"))
        await track.happens(2, TextEvent(text="b"))
        ended = await track.end(Outcome.CRASHED, turn_id=2)
        assert (ended.text, ended.can_retry, ended.unknown_tools) == ("b", True, ())


async def test_turns_may_follow_each_other_without_a_pause(track: TrackerSetup) -> None:
    async with open_tree() as tree:
        await track.open(tree)
        for turn in range(1, 10):
            await track.begin(turn)
            await track.at.tell(EndTurn(turn, TurnEnding(outcome=Outcome.COMPLETED), "s"))
        await track.begin(10)
        assert (await track.end(turn_id=10)).outcome is Outcome.COMPLETED


async def test_whether_a_prompt_was_sent_is_known_per_turn(track: TrackerSetup) -> None:
    async with open_tree() as tree:
        await track.open(tree)
        await track.begin(1)
        assert not await track.at.ask(WasSent(1))
        await track.at.tell(PromptSent(1))
        assert await track.at.ask(WasSent(1))
        assert not await track.at.ask(WasSent(2))


async def test_a_refused_prompt_that_is_tried_again_has_not_been_sent_yet(
    track: TrackerSetup,
) -> None:
    async with open_tree() as tree:
        await track.open(tree)
        await track.begin(1)
        await track.at.tell(PromptSent(1))
        refused = TurnEnding(outcome=Outcome.FAILED, reason="overloaded", is_recoverable=True)
        assert await track.at.ask(TryAgain(1, refused, RetryEvent(attempt=2)))
        assert not await track.at.ask(WasSent(1))


async def test_an_agent_that_shows_no_thoughts_gets_guessed_ones_marked_so(
    track: TrackerSetup,
) -> None:
    async with open_tree() as tree:
        await track.open(tree, shows_thoughts=False)
        await track.begin()
        await track.happens(1, TextEvent(text="a"))
        await track.end()
        await tree.settle()
        thoughts = [event for event in track.told(1) if isinstance(event, ThinkingEvent)]
        assert [(each.is_start, each.is_complete) for each in thoughts] == [(1, 0), (0, 1)]
        assert all(each.synthetic for each in thoughts)
        kinds = [type(event) for event in track.told(1)]
        assert kinds.index(TextEvent) > max(
            number for number, kind in enumerate(kinds) if kind is ThinkingEvent
        )


async def test_the_engine_state_goes_home_at_the_end(track: TrackerSetup) -> None:
    async with open_tree() as tree:
        await track.open(tree)
        await track.begin()
        await track.happens(1, TextEvent(text="a"))
        await track.happens(1, ToolEvent(tool_id="t"))
        await track.end(Outcome.CRASHED)
        await tree.settle()
        states = [event for event in track.told(1) if isinstance(event, EngineStateEvent)]
        assert [each.new_state.value for each in states] == [
            "thinking",
            "responding",
            "tool_executing",
            "idle",
        ]


async def test_a_silent_agent_is_judged_twice_with_evidence(
    track: TrackerSetup, autojump_clock: MockClock
) -> None:
    async with open_tree() as tree:
        await track.open(tree)
        await track.begin()
        await trio.sleep(500)
        assert [round(stall.seconds) for stall in track.stalls()] == [30, 60]
        assert {stall.verdict for stall in track.stalls()} == {StallVerdict.WEDGED}
        assert "no output for 30 s; 0.00 s of CPU in 1 processes" in track.stalls()[0].evidence


async def test_an_agent_that_speaks_now_and_then_is_not_judged(
    track: TrackerSetup, autojump_clock: MockClock
) -> None:
    async with open_tree() as tree:
        await track.open(tree)
        await track.begin()
        for _ in range(20):
            await trio.sleep(29)
            await track.happens(1, TextEvent(text="."))
        await tree.settle()
        assert track.stalls() == []


async def test_prompts_that_queue_up_are_no_words_of_the_agent(
    track: TrackerSetup, autojump_clock: MockClock
) -> None:
    async with open_tree() as tree:
        await track.open(tree)
        await track.begin()
        for waiting in range(4):
            await trio.sleep(10)
            await track.happens(0, QueueEvent(waiting=waiting))
        await tree.settle()
        assert [round(stall.seconds) for stall in track.stalls()] == [30]


async def test_stderr_and_notices_are_no_words_of_the_agent(
    track: TrackerSetup, autojump_clock: MockClock
) -> None:
    async with open_tree() as tree:
        await track.open(tree)
        await track.begin()
        for _ in range(4):
            await trio.sleep(10)
            await track.happens(0, DiagnosticEvent(message="warming up", source="stderr"))
            await track.happens(0, SupervisionEvent(notice="crashed"))
        await tree.settle()
        assert [round(stall.seconds) for stall in track.stalls()] == [30]


async def test_the_end_of_the_tracker_is_the_end_of_its_streams_but_not_of_shared_ones() -> None:
    track, shared = TrackerSetup(), EventStream()
    async with open_tree() as tree:
        await track.open(tree)
        await track.at.tell(Follow(shared))
        await track.happens(0, TextEvent(text="last words"))
        await tree.settle()
    assert (shared.is_closed, track.stream.is_closed) == (False, True)
    assert isinstance(await anext(shared), TextEvent)


async def test_a_watcher_hears_of_a_subscriber_that_is_too_slow(track: TrackerSetup) -> None:
    recorder = Recorder[SlowReaders]()
    async with open_tree() as tree:
        await track.open(tree)
        slow = EventStream(capacity=2)
        await track.at.tell(Follow(EventStream(), await tree.start("recorder", recorder)))
        await track.at.ask(Subscribe(slow))
        for _ in range(10):
            await track.happens(0, DiagnosticEvent(message="m"))
        await tree.settle()
        assert sum(each.dropped for each in recorder.heard) == slow.lost > 0


async def test_an_agent_that_speaks_while_it_is_looked_at_is_not_judged(
    track: TrackerSetup, autojump_clock: MockClock
) -> None:
    async with open_tree() as tree:
        await track.open(tree)
        await track.begin()
        await trio.sleep(32)
        await track.happens(1, TextEvent(text="here I am"))
        await trio.sleep(10)
        assert track.stalls() == []


async def test_silence_between_turns_is_no_stall(
    track: TrackerSetup, autojump_clock: MockClock
) -> None:
    async with open_tree() as tree:
        await track.open(tree)
        await track.begin()
        await track.end()
        await trio.sleep(500)
        await track.begin(2)
        await trio.sleep(29)
        await track.end(turn_id=2)
        await trio.sleep(500)
        assert track.stalls() == []


async def test_a_silence_that_waits_on_the_host_says_so(
    track: TrackerSetup, autojump_clock: MockClock
) -> None:
    async with open_tree() as tree:
        await track.open(tree)
        await track.begin()
        await track.happens(1, PermissionEvent(request_id="q"))
        await trio.sleep(50)
        assert [stall.verdict for stall in track.stalls()] == [StallVerdict.WAITING_ON_YOU]
