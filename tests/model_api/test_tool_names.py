"""One step of a script becomes the call that each agent understands."""

import pytest

from tests.model_api.recorded import DialectName, HttpRequest, Json, ModelRequest, OfferedTool
from tests.model_api.script import Mcp, ReadFile, Shell, Step, ToolCall, WriteFile
from tests.model_api.tool_names import ToolNotOffered, as_offered

PATCH = "*** Begin Patch\n*** Add File: a.txt\n+x\n+y\n*** End Patch"


def tool(name: str, *arguments: str, namespace: str = "") -> OfferedTool:
    properties: Json = {argument: {} for argument in arguments}
    return OfferedTool(name, {"properties": properties}, namespace=namespace)


AGENTS = {
    "claude": [
        tool("Bash", "command", "description", "run_in_background"),
        tool("Read", "file_path"),
        tool("Write", "file_path", "content"),
        tool("ToolSearch", "query"),
    ],
    "gemini": [
        tool("run_shell_command", "command", "description"),
        tool("read_file", "file_path"),
        tool("write_file", "file_path", "content"),
        tool("mcp_box_list", "all"),
    ],
    "codex": [
        tool("exec_command", "cmd", "sandbox_permissions", "justification"),
        OfferedTool("apply_patch", freeform=True),
    ],
    "code mode": [OfferedTool("exec", freeform=True, namespace="functions")],
    "opencode": [
        tool("bash", "command", "description"),
        tool("read", "filePath"),
        tool("write", "filePath", "content"),
        tool("box_list", "all"),
    ],
    "qwen": [
        tool("run_shell_command", "command", "description", "is_background"),
        tool("read_file", "file_path"),
        tool("write_file", "file_path", "content"),
        tool("tool_search", "query"),
    ],
}


def called(agent: str, step: Step) -> ToolCall:
    request = ModelRequest(
        dialect=DialectName.CHAT,
        http=HttpRequest("POST", "/", {}, b""),
        body={},
        model="",
        streams=True,
        system_prompt="",
        offered=AGENTS[agent],
        entries=[],
    )
    call = as_offered(step, request)
    assert isinstance(call, ToolCall)
    return call


WORDS = {"command": "ls", "description": "as scripted"}


@pytest.mark.parametrize(
    ("agent", "call"),
    [
        ("claude", ToolCall("Bash", WORDS)),
        ("gemini", ToolCall("run_shell_command", WORDS)),
        ("codex", ToolCall("exec_command", {"cmd": "ls"})),
        ("opencode", ToolCall("bash", WORDS)),
        ("qwen", ToolCall("run_shell_command", {**WORDS, "is_background": False})),
    ],
)
def test_shell_has_the_agents_name_and_arguments(agent: str, call: ToolCall) -> None:
    assert called(agent, Shell("ls")) == call


def test_shell_of_the_code_mode_is_a_program() -> None:
    call = called("code mode", Shell("ls"))
    assert (call.namespace, call.name) == ("functions", "exec")
    assert 'tools.exec_command({"cmd": "ls"})' in str(call.arguments)


def test_escalation_is_asked_for_where_it_exists() -> None:
    asking = called("codex", Shell("ls", escalated=True)).arguments
    assert isinstance(asking, dict)
    assert asking["sandbox_permissions"] == "require_escalated"
    program = called("code mode", Shell("ls", escalated=True)).arguments
    assert '"sandbox_permissions": "require_escalated"' in str(program)
    assert called("claude", Shell("ls", escalated=True)) == called("claude", Shell("ls"))


@pytest.mark.parametrize(
    ("agent", "call"),
    [
        ("claude", ToolCall("Write", {"file_path": "a.txt", "content": "x\ny\n"})),
        ("gemini", ToolCall("write_file", {"file_path": "a.txt", "content": "x\ny\n"})),
        ("codex", ToolCall("apply_patch", PATCH)),
        ("opencode", ToolCall("write", {"filePath": "a.txt", "content": "x\ny\n"})),
    ],
)
def test_file_is_written_in_the_agents_way(agent: str, call: ToolCall) -> None:
    assert called(agent, WriteFile("a.txt", "x\ny\n")) == call


@pytest.mark.parametrize(
    ("agent", "call"),
    [
        ("claude", ToolCall("Read", {"file_path": "a b"})),
        ("codex", ToolCall("exec_command", {"cmd": "cat 'a b'"})),
        ("opencode", ToolCall("read", {"filePath": "a b"})),
    ],
)
def test_file_is_read_in_the_agents_way(agent: str, call: ToolCall) -> None:
    assert called(agent, ReadFile("a b")) == call


@pytest.mark.parametrize(
    ("agent", "call"),
    [
        ("claude", ToolCall("mcp__box__list", {"all": True})),
        ("gemini", ToolCall("mcp_box_list", {"all": True})),
        ("codex", ToolCall("list", {"all": True}, namespace="mcp__box")),
        ("opencode", ToolCall("box_list", {"all": True})),
        ("qwen", ToolCall("mcp__box__list", {"all": True})),
    ],
)
def test_tool_of_a_server_has_the_agents_name(agent: str, call: ToolCall) -> None:
    assert called(agent, Mcp("box", "list", {"all": True})) == call


def test_id_of_the_step_is_the_calls() -> None:
    assert called("claude", Shell("ls", id="toolu_1")).id == "toolu_1"


def test_server_that_is_not_there_is_told() -> None:
    with pytest.raises(ToolNotOffered, match="no list of jar"):
        called("gemini", Mcp("jar", "list"))
