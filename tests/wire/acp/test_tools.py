import pytest

from avatar_actors.model.events import DiagnosticEvent, ToolEvent
from avatar_actors.model.values import ToolStatus
from avatar_actors.wire.acp.profile import AcpProfile
from avatar_actors.wire.acp.tools import MOST_OPEN, MOST_OUTPUT
from avatar_actors.wire.acp.wire import AcpWire
from avatar_actors.wire.commands import Cancel, Prompt
from avatar_actors.wire.facts import TurnOver
from tests.wire.acp.digest import words
from tests.wire.acp.replay import in_turn, reply, text, update


def start(tool_id: str = "t", /, **fields: object) -> bytes:
    return update("tool_call", toolCallId=tool_id, **{"title": "x", **fields})


def change(tool_id: str = "t", /, **fields: object) -> bytes:
    return update("tool_call_update", toolCallId=tool_id, **fields)


def said(words_: str) -> list[dict[str, object]]:
    return [{"type": "content", "content": {"type": "text", "text": words_}}]


def only_tool(wire: AcpWire, lines: bytes) -> ToolEvent:
    *_, tool = [fact for fact in wire.receive(lines) if isinstance(fact, ToolEvent)]
    return tool


def test_each_change_of_status_is_told_once() -> None:
    lines = (
        start(status="pending", kind="execute")
        + change(status="in_progress")
        + change(status="in_progress", content=said("half"))
        + change(status="completed", content=said("whole"))
        + change(status="completed")
    )
    assert words(in_turn().receive(lines)) == [
        "execute pending: x",
        "execute started: x",
        "execute completed 'whole'",
    ]


def test_parameters_that_come_later_are_told() -> None:
    meta = {"claudeCode": {"toolName": "Bash"}}
    lines = start(rawInput={}, _meta=meta) + change(rawInput={"command": "ls"})
    assert words(in_turn().receive(lines)) == ["Bash pending: ", "Bash pending: ls"]


def test_update_of_a_call_that_was_never_announced_announces_it() -> None:
    assert words(in_turn().receive(change(status="completed", content=said("x")))) == [
        "other completed 'x'"
    ]


def test_content_is_replaced_and_empty_content_means_nothing_was_told() -> None:
    lines = start(status="in_progress", content=said("(a description)"))
    tool = only_tool(in_turn(), lines + change(status="completed", content=[]))
    assert (tool.status, tool.result) == (ToolStatus.COMPLETED, None)


@pytest.mark.parametrize(
    ("raw_output", "result"),
    [
        ("plain", "plain"),
        ({"formatted_output": "out", "stdout": "no"}, "out"),
        ({"stdout": "out", "exit_code": 0}, "out"),
        ({"output": "out", "metadata": {}}, "out"),
        ({"result": {"content": [{"type": "text", "text": "a"}, {"text": "b"}]}}, "ab"),
        ({"content": [{"type": "text", "text": "a"}]}, "a"),
        ({"unheard": "of"}, "fenced"),
        (None, "fenced"),
        (7, "fenced"),
    ],
)
def test_result_is_the_plainest_text_there_is(raw_output: object, result: str) -> None:
    lines = start() + change(status="completed", content=said("fenced"), rawOutput=raw_output)
    assert only_tool(in_turn(), lines).result == result


def test_terminal_output_in_meta_is_collected() -> None:
    def prints(data: str) -> bytes:
        return change(_meta={"terminal_output_delta": {"data": data, "terminal_id": "t"}})

    lines = start(status="in_progress") + prints("a\n") + prints("b\n")
    assert only_tool(in_turn(), lines + change(status="completed")).result == "a\nb\n"


def test_failure_tells_the_output_and_the_exit_code() -> None:
    ended = {"terminal_output_delta": {"data": "oops"}, "terminal_exit": {"exit_code": 3}}
    tool = only_tool(in_turn(), start() + change(status="failed", _meta=ended))
    assert (tool.result, tool.error) == (None, "oops\nexit code 3")


def test_endless_output_is_kept_to_its_end() -> None:
    wire = in_turn()
    for letter in "ab":
        data = {"terminal_output_delta": {"data": letter * MOST_OUTPUT}}
        wire.receive(change(_meta=data))
    assert only_tool(wire, change(status="completed")).result == "b" * MOST_OUTPUT


@pytest.mark.parametrize(
    ("fields", "name", "parameters"),
    [
        ({"name": "exec", "rawInput": {"command": "ls"}}, "exec", {"command": "ls"}),
        ({"_meta": {"toolName": "shell"}}, "shell", {}),
        ({"kind": "edit", "locations": [{"path": "/a"}]}, "edit", {"path": "/a"}),
        ({"kind": "edit", "content": [{"type": "diff", "path": "/b"}]}, "edit", {"path": "/b"}),
        (
            {
                "kind": "edit",
                "locations": [{"path": "/c"}],
                "content": [{"type": "diff", "path": "/c", "oldText": "1", "newText": "2"}],
            },
            "edit",
            {"path": "/c", "oldText": "1", "newText": "2"},
        ),
        ({"kind": "execute", "title": "ls -l"}, "execute", {"command": "ls -l"}),
        (
            {"rawInput": {"server": "s", "tool": "t", "arguments": {"x": 1}}},
            "mcp__s__t",
            {"x": 1},
        ),
        (
            {"rawInput": {"command": ["/bin/bash", "-lc", "git log"], "cwd": "/"}},
            "other",
            {"command": "git log", "cwd": "/"},
        ),
        ({}, "other", {}),
    ],
)
def test_name_and_parameters_in_the_agents_forms(
    fields: dict[str, object], name: str, parameters: dict[str, object]
) -> None:
    tool = only_tool(in_turn(), start(**fields))
    assert (tool.tool_name, tool.parameters) == (name, parameters)


def test_name_in_the_id_is_found_where_the_profile_says_so() -> None:
    tool = only_tool(in_turn(AcpProfile(tool_name_end="__")), start("read_file__read_file_1_0"))
    assert tool.tool_name == "read_file"


def test_tool_of_a_sub_agent_names_its_parent() -> None:
    tool = only_tool(in_turn(), start(_meta={"claudeCode": {"parentToolUseId": "toolu_1"}}))
    assert tool.parent_id == "toolu_1"


@pytest.mark.parametrize(
    "output",
    [
        "Command cancelled by user.",
        "half\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>",
    ],
)
def test_tool_that_says_it_was_cancelled_is_not_completed(output: str) -> None:
    lines = start() + change(status="completed", content=said(output))
    assert only_tool(in_turn(), lines).status is ToolStatus.CANCELLED


@pytest.mark.parametrize(
    ("stop_reason", "status"),
    [("end_turn", ToolStatus.UNKNOWN), ("cancelled", ToolStatus.CANCELLED)],
)
def test_open_calls_end_with_their_turn(stop_reason: str, status: ToolStatus) -> None:
    wire = in_turn()
    wire.receive(start("a") + start("b"))
    *tools, over = wire.receive(reply(2, {"stopReason": stop_reason}))
    ends = [(tool.tool_id, tool.status) for tool in tools if isinstance(tool, ToolEvent)]
    assert ends == [("a", status), ("b", status)]
    assert isinstance(over, TurnOver)


def test_call_of_an_earlier_turn_is_fenced_off() -> None:
    wire = in_turn()
    wire.receive(start("a", status="in_progress"))
    wire.command(Cancel(1))
    wire.receive(reply(2, {"stopReason": "cancelled"}))
    wire.command(Prompt(2, "next"))
    late = change("a", status="completed", content=said("late"))
    [fact] = wire.receive(late + late)
    assert isinstance(fact, DiagnosticEvent)
    # An agent that counts its calls anew in each turn announces them anew.
    assert words(wire.receive(start("a", status="in_progress"))) == ["other started: "]


def test_calls_that_never_end_are_bounded() -> None:
    wire = in_turn()
    lines = b"".join(start(f"t{number}") for number in range(MOST_OPEN + 1))
    tools = [fact for fact in wire.receive(lines) if isinstance(fact, ToolEvent)]
    gone = [tool for tool in tools if tool.status.is_over]
    assert [(tool.tool_id, tool.status) for tool in gone] == [("t0", ToolStatus.UNKNOWN)]


def test_failed_status_of_the_profile_fails_a_turn_that_ends_well() -> None:
    profile = AcpProfile(failed_status=(("x", "status"), "bad"), retry_notice=("x", "error"))
    wire = in_turn(profile)
    facts = wire.receive(
        update("session_info_update", _meta={"x": {"error": "trying again"}})
        + update("session_info_update", _meta={"x": {"status": "bad"}})
        + text("429 Too Many")
        + text(" Requests")
        + reply(2, {"stopReason": "end_turn"})
    )
    assert words(facts) == [
        "warning trying again",
        "over 1 failed end_turn 429 Too Many Requests",
    ]
    wire.command(Prompt(2, "next"))
    assert words(wire.receive(reply(3, {"stopReason": "end_turn"}))) == [
        "over 2 completed end_turn"
    ]
