"""Which of its tools an agent calls a shell, a reader or a writer, and how it names the arguments.

The agent is known by the tools that it offers. Arguments are written for all agents that share the
tool's name; those that the offered schema does not know are left out.
"""

import json
from collections.abc import Callable, Mapping
from shlex import quote
from typing import TypeAlias

from msgspec import structs

from tests.model_api.recorded import Json, ModelRequest, OfferedTool
from tests.model_api.script import (
    AnyTool,
    AskUser,
    Mcp,
    ReadFile,
    Shell,
    Step,
    ToolCall,
    Utterance,
    WriteFile,
)

Arguments: TypeAlias = Json | str
Offer: TypeAlias = dict[str, OfferedTool]

ESCALATION: Json = {
    "sandbox_permissions": "require_escalated",
    "with_escalated_permissions": True,
    "justification": "the script says so",
}

# Codex's newest models have no tools but this one, which runs programs.
CODE_MODE = "functions.exec"
CODEX_SHELLS = {"exec_command", "shell_command", "shell"}
# Of Claude Code and of qwen-code.
SEARCHES = {"ToolSearch", "tool_search"}


class ToolNotOffered(Exception):
    """The script wants what this agent, as it was started, does not offer to the model."""


def plain(command: str, extra: Json) -> Json:
    # is_background: qwen-code's is mandatory.
    return {"command": command, "description": "as scripted", "is_background": False, **extra}


def in_code_mode(command: str, extra: Json) -> str:
    arguments = json.dumps({"cmd": command, **extra})
    return f"const r = await tools.exec_command({arguments}); text(r.output);"


def patch(path: str, text: str) -> str:
    lines = "".join(f"+{line}\n" for line in text.splitlines())
    return f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch"


SHELLS: dict[str, Callable[[str, Json], Arguments]] = {
    "Bash": plain,  # Claude Code
    "run_shell_command": plain,  # Gemini CLI, qwen-code
    "bash": plain,  # opencode
    "exec_command": lambda command, extra: {"cmd": command, **extra},  # Codex
    "shell_command": plain,  # Codex, some models
    # Codex, older models
    "shell": lambda command, extra: {"command": ["bash", "-lc", command], **extra},
    CODE_MODE: in_code_mode,
}
READERS: dict[str, Callable[[str], Arguments]] = {
    "Read": lambda path: {"file_path": path},
    "read_file": lambda path: {"file_path": path, "absolute_path": path},
    "read": lambda path: {"filePath": path},
}
WRITERS: dict[str, Callable[[str, str], Arguments]] = {
    "Write": lambda path, text: {"file_path": path, "content": text},
    "write_file": lambda path, text: {"file_path": path, "content": text},
    "write": lambda path, text: {"filePath": path, "content": text},
    "apply_patch": patch,
}


def claude_question(question: str, options: list[Json]) -> Json:
    asked = {"question": question, "header": "Choice", "options": options, "multiSelect": False}
    return {"questions": [asked]}


def codex_question(question: str, options: list[Json]) -> Json:
    asked = {"id": "choice", "question": question, "header": "Choice", "options": options}
    return {"questions": [asked]}


ASKERS: dict[str, Callable[[str, list[Json]], Json]] = {
    "AskUserQuestion": claude_question,
    "request_user_input": codex_question,
    "functions.request_user_input": codex_question,  # in "code mode"
}


def as_offered(step: Step, request: ModelRequest) -> Utterance:
    """The step in the words of the agent that asked."""
    if not isinstance(step, AnyTool):
        return step
    offered = _offered(request)
    call = _question(step, offered) if isinstance(step, AskUser) else _call(step, offered)
    return structs.replace(call, id=step.id)


def _offered(request: ModelRequest) -> dict[str, OfferedTool]:
    return {tool.full_name: tool for tool in request.offered}


def _call(step: Shell | ReadFile | WriteFile | Mcp, offered: Offer) -> ToolCall:
    match step:
        case Shell(command, escalated):
            name = _first_offered(SHELLS, offered, step)
            return _fitted(offered[name], SHELLS[name](command, ESCALATION if escalated else {}))
        case ReadFile(path):
            if offered.keys().isdisjoint(READERS):
                return _call(Shell(f"cat {quote(path)}"), offered)
            name = _first_offered(READERS, offered, step)
            return _fitted(offered[name], READERS[name](path))
        case WriteFile(path, text):
            if offered.keys().isdisjoint(WRITERS):
                return _call(Shell(f"apply_patch <<'EOF'\n{patch(path, text)}\nEOF"), offered)
            name = _first_offered(WRITERS, offered, step)
            return _fitted(offered[name], WRITERS[name](path, text))
        case Mcp(server, tool, arguments):
            return _mcp_call(server, tool, arguments, offered)


def _question(step: AskUser, offered: Offer) -> ToolCall:
    name = _first_offered(ASKERS, offered, step)
    options: list[Json] = [{"label": each, "description": f"Take {each}"} for each in step.options]
    return _fitted(offered[name], ASKERS[name](step.question, options))


def _first_offered(known: Mapping[str, object], offered: Offer, step: AnyTool) -> str:
    for name in known:
        if name in offered:
            return name
    raise ToolNotOffered(f"no tool for {step} among {sorted(offered)}")


def _fitted(tool: OfferedTool, arguments: Arguments) -> ToolCall:
    if isinstance(arguments, str):
        given = arguments if tool.freeform else {"input": arguments}
        return ToolCall(tool.name, given, namespace=tool.namespace)
    known = {name: value for name, value in arguments.items() if name in tool.argument_names}
    return ToolCall(tool.name, known, namespace=tool.namespace)


def _mcp_call(server: str, tool: str, arguments: Json, offered: Offer) -> ToolCall:
    # Claude Code and qwen-code; Gemini CLI; opencode.
    for name in (f"mcp__{server}__{tool}", f"mcp_{server}_{tool}", f"{server}_{tool}"):
        if name in offered:
            return ToolCall(name, arguments)
    # The rest keep servers from the model until it searches, and take the call all the same.
    if CODE_MODE in offered:
        program = f"text(await tools.mcp__{server}__{tool}({json.dumps(arguments)}));"
        return _fitted(offered[CODE_MODE], program)
    if CODEX_SHELLS & offered.keys():
        return ToolCall(tool, arguments, namespace=f"mcp__{server}")
    if SEARCHES & offered.keys():
        return ToolCall(f"mcp__{server}__{tool}", arguments)
    raise ToolNotOffered(f"no {tool} of {server} among {sorted(offered)}")
