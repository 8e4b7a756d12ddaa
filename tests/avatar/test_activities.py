"""The tree of what runs now."""

import pytest

from avatar_actors.avatar.state.activities import Activities
from avatar_actors.model.events import (
    ActivityEvent,
    AvatarEvent,
    EngineStateEvent,
    PermissionClosedEvent,
    PermissionEvent,
    TextEvent,
    ThinkingEvent,
    ToolEvent,
)
from avatar_actors.model.values import ActivityStatus, EngineState, ToolStatus


def tool(
    tool_id: str, status: ToolStatus, result: str | None = None, parent_id: str = ""
) -> ToolEvent:
    return ToolEvent(
        tool_name="Bash", tool_id=tool_id, status=status, result=result, parent_id=parent_id
    )


def nodes(events: list[AvatarEvent]) -> list[ActivityEvent]:
    return [event for event in events if isinstance(event, ActivityEvent)]


@pytest.fixture
def running() -> Activities:
    activities = Activities()
    activities.begin_turn(1, "look", 10.0)
    return activities


def test_a_turn_is_the_root_of_its_tools(running: Activities) -> None:
    [node] = nodes(running.observe(tool("a", ToolStatus.STARTED), 11.0, 1))
    assert (node.parent_activity_id, node.status) == ("turn-1", ActivityStatus.RUNNING)
    assert list(running.open) == ["turn-1", "a"]


def test_tools_side_by_side_share_a_group_and_later_ones_have_another(running: Activities) -> None:
    started = ToolStatus.STARTED
    a, b = (nodes(running.observe(tool(name, started), 11.0, 1))[0] for name in "ab")
    for name in "ab":
        running.observe(tool(name, ToolStatus.COMPLETED), 12.0, 1)
    [c] = nodes(running.observe(tool("c", started), 13.0, 1))
    assert a.concurrent_group == b.concurrent_group != c.concurrent_group


def test_a_tool_of_a_sub_agent_hangs_below_it(running: Activities) -> None:
    running.observe(tool("agent", ToolStatus.STARTED), 11.0, 1)
    [node] = nodes(running.observe(tool("a", ToolStatus.STARTED, parent_id="agent"), 11.0, 1))
    assert node.parent_activity_id == "agent"


@pytest.mark.parametrize("status", [ToolStatus.COMPLETED, ToolStatus.FAILED, ToolStatus.CANCELLED])
def test_of_an_ended_tool_only_how_it_ended_is_kept(
    running: Activities, status: ToolStatus
) -> None:
    running.observe(tool("a", ToolStatus.STARTED), 11.0, 1)
    [node] = nodes(running.observe(tool("a", status, result="out"), 12.0, 1))
    assert (node.status.value, node.completed_at) == (status.value, 12.0)
    assert (node.is_cancellable, node.output) == (False, "out")
    assert running.find("a") == ActivityEvent(activity_id="a", status=node.status)
    assert "a" not in running.open


def test_a_tool_that_ends_twice_is_told_once(running: Activities) -> None:
    running.observe(tool("a", ToolStatus.STARTED), 11.0, 1)
    running.observe(tool("a", ToolStatus.COMPLETED), 12.0, 1)
    assert nodes(running.observe(tool("a", ToolStatus.FAILED), 13.0, 1)) == []


def test_the_state_is_the_most_important_one(running: Activities) -> None:
    seen: list[EngineState] = [running.state]
    for event in (
        TextEvent(text="x"),
        ThinkingEvent(thought="x"),
        tool("a", ToolStatus.STARTED),
        PermissionEvent(request_id="q"),
        TextEvent(text="x"),
        PermissionClosedEvent(request_id="q"),
        tool("a", ToolStatus.COMPLETED),
    ):
        running.observe(event, 11.0, 1)
        seen.append(running.state)
    assert [state.value for state in seen] == [
        "thinking",
        "responding",
        "thinking",
        "tool_executing",
        "waiting_approval",
        "waiting_approval",
        "tool_executing",
        "responding",
    ]


def test_a_state_that_does_not_change_is_not_told(running: Activities) -> None:
    assert len(running.observe(TextEvent(text="x"), 11.0, 1)) == 1
    assert running.observe(TextEvent(text="y"), 11.0, 1) == []


def test_the_end_of_a_turn_ends_what_it_left_open(running: Activities) -> None:
    running.observe(tool("a", ToolStatus.STARTED), 11.0, 1)
    ends = running.end_turn(1, ToolStatus.UNKNOWN, ActivityStatus.UNKNOWN, 12.0)
    tools = [event for event in ends if isinstance(event, ToolEvent)]
    assert [(each.tool_id, each.status) for each in tools] == [("a", ToolStatus.UNKNOWN)]
    assert [node.activity_id for node in nodes(ends)] == ["a", "turn-1"]
    assert isinstance(ends[-1], EngineStateEvent)
    assert (running.open, running.tools, running.state) == ({}, {}, EngineState.IDLE)


def test_an_ended_turn_is_known_and_cannot_be_cancelled_any_more(running: Activities) -> None:
    ends = running.end_turn(1, ToolStatus.UNKNOWN, ActivityStatus.COMPLETED, 12.0)
    assert not nodes(ends)[-1].is_cancellable
    found = running.find("turn-1")
    assert found is not None
    assert not found.is_cancellable


def test_a_background_task_outlives_its_turn_but_not_the_process(running: Activities) -> None:
    running.observe(
        ActivityEvent(activity_id="t", name="build", status=ActivityStatus.RUNNING), 11.0, 1
    )
    running.end_turn(1, ToolStatus.UNKNOWN, ActivityStatus.COMPLETED, 12.0)
    assert list(running.open) == ["t"]
    [lost] = nodes(running.lose_all(13.0))
    assert (lost.activity_id, lost.status) == ("t", ActivityStatus.UNKNOWN)
    assert running.open == {}


def test_the_output_of_a_task_is_a_tail(running: Activities) -> None:
    event = ActivityEvent(activity_id="t", status=ActivityStatus.RUNNING, output="x" * 1000)
    told = [nodes(running.observe(event, 11.0, 1))[0] for _ in range(10)]
    assert [len(node.output) for node in told[2:5]] == [3000, 4000, 4000]


def test_what_is_remembered_is_bounded(running: Activities) -> None:
    for number in range(1000):
        running.observe(tool(f"a{number}", ToolStatus.STARTED), 11.0, 1)
        running.observe(tool(f"a{number}", ToolStatus.COMPLETED), 11.0, 1)
    assert running.find("a0") is None
    assert running.find("a999") is not None
    assert list(running.open) == ["turn-1"]


def test_a_tool_whose_first_report_is_its_end_is_an_activity(running: Activities) -> None:
    [node] = nodes(running.observe(tool("a", ToolStatus.COMPLETED, "done"), 11.0, 1))
    assert (node.status, node.output, node.completed_at) == (ActivityStatus.COMPLETED, "done", 11.0)


def test_a_task_begun_between_turns_is_of_none(running: Activities) -> None:
    running.end_turn(1, ToolStatus.UNKNOWN, ActivityStatus.COMPLETED, 12.0)
    task = ActivityEvent(activity_id="b", status=ActivityStatus.RUNNING)
    [node] = nodes(running.observe(task, 13.0, 0))
    assert (node.turn_id, node.parent_activity_id) == (0, "")


def test_the_death_of_the_process_leaves_the_turn_and_its_tools_to_the_end_of_the_turn(
    running: Activities,
) -> None:
    running.observe(tool("a", ToolStatus.STARTED), 11.0, 1)
    assert nodes(running.lose_all(12.0)) == []
    assert sorted(running.open) == ["a", "turn-1"]


def test_an_agent_that_is_there_again_is_told_as_a_state(running: Activities) -> None:
    [broken] = running.broken()
    assert isinstance(broken, EngineStateEvent)
    [recovered] = running.recovered()
    assert isinstance(recovered, EngineStateEvent)
    assert recovered.new_state is not broken.new_state


def test_an_unasked_turn_beside_one_that_waits_has_tools_and_an_end_of_its_own(
    running: Activities,
) -> None:
    [root] = nodes(running.begin_turn(-1, "a build has ended", 11.0))
    assert (root.activity_id, root.turn_id) == ("unasked-1", -1)
    [node] = nodes(running.observe(tool("a", ToolStatus.STARTED), 12.0, -1))
    assert (node.turn_id, node.parent_activity_id) == (-1, "unasked-1")
    [ended] = nodes(running.end_turn(1, ToolStatus.CANCELLED, ActivityStatus.CANCELLED, 13.0))
    assert ended.activity_id == "turn-1"
    assert set(running.open) == {"unasked-1", "a"}
    running.end_turn(-1, ToolStatus.UNKNOWN, ActivityStatus.COMPLETED, 14.0)
    assert not running.open
