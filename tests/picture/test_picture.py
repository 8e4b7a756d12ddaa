"""The picture as a table: these events give this mood and this headline, whoever draws them."""

from collections.abc import Sequence

import pytest

from avatar_actors import (
    ActivityEvent,
    ActivityStatus,
    AvatarEvent,
    BridgeState,
    Continuity,
    ContinuityEvent,
    DiagnosticEvent,
    EngineState,
    EngineStateEvent,
    ErrorEvent,
    Level,
    Outcome,
    PermissionEvent,
    StallEvent,
    StallVerdict,
    StateEvent,
    TextEvent,
    ThinkingEvent,
    ThinkingPhase,
    ToolEvent,
    ToolStatus,
    TurnEndedEvent,
    TurnStartedEvent,
)
from avatar_actors.picture import Age, AvatarPicture, Fact, Mood, agent_numbers, rules

READY = StateEvent(new_state=BridgeState.READY)
TURN = (READY, TurnStartedEvent(turn_id=1), EngineStateEvent(new_state=EngineState.THINKING))
TALK = (EngineStateEvent(new_state=EngineState.RESPONDING), TextEvent(text="x", turn_id=1))
TOOLS = EngineStateEvent(new_state=EngineState.TOOL_EXECUTING)
ASK = PermissionEvent(request_id="1", tool_name="Write", title="notes.txt")


def thought(phase: ThinkingPhase, subject: str = "") -> ThinkingEvent:
    return ThinkingEvent(thought="…", phase=phase, subject=subject, is_start=True, turn_id=1)


def tool(name: str, status: ToolStatus = ToolStatus.STARTED, parent: str = "") -> ToolEvent:
    return ToolEvent(tool_name=name, tool_id=name, status=status, turn_id=1, parent_id=parent)


def ended(outcome: Outcome) -> tuple[AvatarEvent, ...]:
    return (
        TurnEndedEvent(outcome=outcome, turn_id=1),
        EngineStateEvent(new_state=EngineState.IDLE),
    )


TABLE: tuple[tuple[str, Sequence[AvatarEvent], Mood, str], ...] = (
    ("nothing", (), Mood.IDLE, ""),
    ("ready", (READY,), Mood.IDLE, ""),
    (
        "start",
        (StateEvent(new_state=BridgeState.WARMING_UP),),
        Mood.STARTING,
        "Starting the agent",
    ),
    ("sent", TURN, Mood.LOADING, "Thinking"),
    ("thinks", (*TURN, thought(ThinkingPhase.GENERAL)), Mood.THINKING, "Thinking"),
    ("looks", (*TURN, thought(ThinkingPhase.ANALYZING, "Auth")), Mood.ANALYZING, "Auth"),
    ("plans", (*TURN, thought(ThinkingPhase.PLANNING)), Mood.PLANNING, "Thinking"),
    ("plans a tool", (*TURN, thought(ThinkingPhase.TOOL_PLANNING)), Mood.PLANNING, "Thinking"),
    ("codes", (*TURN, thought(ThinkingPhase.CODING)), Mood.CODING, "Thinking"),
    ("reviews", (*TURN, thought(ThinkingPhase.REVIEWING)), Mood.REVIEWING, "Thinking"),
    ("talks", (*TURN, *TALK), Mood.TALKING, "Responding"),
    ("one tool", (*TURN, tool("Read"), TOOLS), Mood.WORKING, "Read"),
    ("tools", (*TURN, tool("Read"), tool("Grep"), TOOLS), Mood.WORKING, "2 tools side by side"),
    ("asks", (*TURN, ASK), Mood.APPROVAL, "May it? Write: notes.txt"),
    ("asks while a tool runs", (*TURN, tool("Read"), ASK), Mood.APPROVAL, "Read"),
    (
        "asks after a thought",
        (*TURN, thought(ThinkingPhase.CODING, "Edit"), ASK),
        Mood.APPROVAL,
        "May it? Write: notes.txt",
    ),
    (
        "silent",
        (*TURN, *TALK, StallEvent(verdict=StallVerdict.WEDGED, seconds=31, turn_id=1)),
        Mood.STALLED,
        "Silent for 31s: it seems stuck",
    ),
    (
        "silent and at work",
        (*TURN, *TALK, StallEvent(verdict=StallVerdict.WORKING, seconds=31, turn_id=1)),
        Mood.TALKING,
        "Responding",
    ),
    (
        "dead",
        (*TURN, EngineStateEvent(new_state=EngineState.ERROR)),
        Mood.RESTARTING,
        "The agent is gone; it comes back",
    ),
    (
        "gave up",
        (*TURN, ErrorEvent(error="x", recoverable=False)),
        Mood.ERROR,
        "No agent now: the next prompt starts a new conversation",
    ),
    ("done", (*TURN, *TALK, *ended(Outcome.COMPLETED)), Mood.IDLE, ""),
    ("cancelled", (*TURN, *ended(Outcome.CANCELLED)), Mood.IDLE, ""),
    (
        "over budget",
        (*TURN, *ended(Outcome.OVER_BUDGET)),
        Mood.OVER_BUDGET,
        "Over budget: raise it to go on",
    ),
    ("failed", (*TURN, *ended(Outcome.FAILED)), Mood.ERROR, "The last turn did not finish"),
)


def pictured(events: Sequence[AvatarEvent], now: float = 0.0) -> AvatarPicture:
    picture = AvatarPicture()
    for event in events:
        picture.see(event, now)
    return picture


@pytest.mark.parametrize(("events", "mood", "headline"), [row[1:] for row in TABLE],
                         ids=[row[0] for row in TABLE])  # fmt: skip
def test_mood_and_headline_are_the_first_row_that_fits(
    events: Sequence[AvatarEvent], mood: Mood, headline: str
) -> None:
    picture = pictured(events)
    assert (picture.mood(), picture.headline(0.0).words) == (mood, headline)


def test_every_mood_stands_in_the_table() -> None:
    assert {row[2] for row in TABLE} == set(Mood)


def test_every_fact_is_in_a_table() -> None:
    named = {fact for fact, _ in (*rules.MOODS, *rules.HEADLINES)}
    assert named == set(Fact)


def test_a_new_turn_forgets_how_the_last_one_ended() -> None:
    picture = pictured((*TURN, *ended(Outcome.FAILED), TurnStartedEvent(turn_id=2)))
    assert picture.mood() is Mood.LOADING


def test_counts_are_always_there_and_follow_the_jobs() -> None:
    picture = pictured(TURN)
    assert picture.counts() == {"running": 0, "done": 0, "waits": 0, "failed": 0}
    for event in (
        tool("a"),
        tool("b", ToolStatus.COMPLETED),
        tool("c", ToolStatus.APPROVAL),
        tool("d", ToolStatus.UNKNOWN),
        tool("e", ToolStatus.CANCELLED),
    ):
        picture.see(event, 1.0)
    expected = {"running": 1, "done": 1, "waits": 1, "failed": 1, "cancelled": 1}
    assert picture.counts() == expected


def test_more_than_ten_jobs_collapse_the_tree_until_fewer_than_five_are_left() -> None:
    picture = pictured([*TURN, *(tool(str(number)) for number in range(11))])
    seen = [picture.is_collapsed()]
    for number in range(7):
        picture.see(tool(str(number), ToolStatus.COMPLETED), 1.0)
        seen.append(picture.is_collapsed())
    assert seen == [True] * 7 + [False]


def test_a_job_without_news_gets_old() -> None:
    picture = pictured([*TURN, tool("Bash")])
    [job] = picture.work.jobs.values()
    assert [picture.age(job, now) for now in (29.0, 30.0, 60.0)] == [
        Age.FRESH,
        Age.SLOW,
        Age.STUCK,
    ]
    picture.see(tool("Bash"), 50.0)
    assert picture.age(picture.work.jobs["Bash"], 60.0) is Age.FRESH


def test_agents_have_numbers_and_their_jobs_inherit_them() -> None:
    picture = pictured(
        (
            *(tool("Task 1"), tool("Task 2"), tool("Grep", parent="Task 2"), tool("Read")),
            tool("Glob", parent="Task 1"),
        )
    )
    numbers = agent_numbers(picture.work.jobs.values())
    assert numbers == {"Task 1": 1, "Task 2": 2, "Grep": 2, "Glob": 1}


def test_the_end_of_a_background_task_is_told_with_its_last_line() -> None:
    job = ActivityEvent(activity_id="1", activity_type="background_task", name="npm test")
    picture = pictured([job])
    done = ActivityEvent(
        activity_id="1",
        activity_type="background_task",
        status=ActivityStatus.FAILED,
        output="41 pass\n1 fail\n",
    )
    [toast] = picture.see(done, 2.0)
    assert (toast.level, toast.about) == (Level.WARNING, "1")
    assert toast.words == "npm test failed (2.0s): 1 fail"
    assert picture.see(done, 3.0) == []


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (DiagnosticEvent(level=Level.INFO, message="hello"), None),
        (DiagnosticEvent(level=Level.WARNING, message="80%", source="budget"), "budget: 80%"),
        (ErrorEvent(error="the agent\ndied"), "the agent died"),
        (ContinuityEvent(continuity=Continuity.RESUMED), "the conversation is resumed"),
        (ContinuityEvent(continuity=Continuity.NEW), None),
    ],
)
def test_what_matters_beside_the_talk_becomes_a_toast(event: AvatarEvent, told: str | None) -> None:
    assert [toast.words for toast in AvatarPicture().see(event, 0.0)] == ([told] if told else [])


def test_thoughts_are_kept_without_codes_and_only_their_end() -> None:
    picture = pictured([thought(ThinkingPhase.GENERAL)])
    picture.see(ThinkingEvent(thought="\x1b[2J" + "a" * 5000, token_count=7), 0.0)
    assert (len(picture.thought), picture.thought_tokens) == (4000, 7)
    assert "\x1b" not in picture.thought
