"""What gemini-cli 0.61.0 was recorded to say over ACP, and what the wire makes of it."""

import pytest

from avatar_actors.model.settings import PermissionMode
from avatar_actors.providers.gemini import gemini_profile
from avatar_actors.wire.acp.profile import FilesOffered
from tests.wire.acp.digest import turns
from tests.wire.acp.replay import Replay

AGENT = "gemini-acp-0.61.0"
PROFILE = gemini_profile(PermissionMode.ASK, FilesOffered.READ_AND_WRITE)


TOOLS = [
    [
        "opened gemini-cli 0.61.0 model=auto mode=default",
    ],
    [
        "session commands ['memory', 'memory show']",
        "text Running it. ",
        "asked run_shell_command allow_always allow_once reject_once",
        "run_shell_command started: touch /sandbox/wd/gemini2-tools/created.txt && ec…",
        "run_shell_command completed",
        "text Final answer after 1 tool round(s).",
        "used 2000 in, 40 out, 0 cached, 0 thought",
        "over 1 completed end_turn",
    ],
    [
        "run_shell_command started: echo A",
        "run_shell_command completed",
        "run_shell_command started: echo B",
        "run_shell_command completed",
        "text Final answer after 1 tool round(s).",
        "used 2000 in, 40 out, 0 cached, 0 thought",
        "over 2 completed end_turn",
    ],
    [
        "read /sandbox/wd/gemini2-tools/new.txt",
        "write_file started: /sandbox/wd/gemini2-tools/new.txt",
        "read /sandbox/wd/gemini2-tools/new.txt",
        "write_file failed error 'Error checking existing file: Resource not found'",
        "text Final answer after 1 tool round(s).",
        "used 2000 in, 40 out, 0 cached, 0 thought",
        "over 3 completed end_turn",
    ],
    [
        "read_file started: /sandbox/wd/gemini2-tools/seed.txt",
        "read_file completed",
        "text Final answer after 1 tool round(s).",
        "used 2000 in, 40 out, 0 cached, 0 thought",
        "over 4 completed end_turn",
    ],
    [
        "read /sandbox/wd/gemini2-tools/seed.txt",
        "asked replace allow_always allow_once reject_once",
        "replace started: /sandbox/wd/gemini2-tools/seed.txt",
        "read /sandbox/wd/gemini2-tools/seed.txt",
        "write /sandbox/wd/gemini2-tools/seed.txt 'alpha\\nBETA\\ngamma\\n'",
        "replace completed '/sandbox/wd/gemini2-tools/seed.txt'",
        "text Final answer after 1 tool round(s).",
        "used 2000 in, 40 out, 0 cached, 0 thought",
        "over 5 completed end_turn",
    ],
    [
        "text Final answer after 1 tool round(s).",
        "used 2000 in, 40 out, 0 cached, 0 thought",
        "over 6 completed end_turn",
    ],
    [
        "text Final answer after 1 tool round(s).",
        "used 2000 in, 40 out, 0 cached, 0 thought",
        "over 7 completed end_turn",
    ],
    [
        "text Running it. ",
        "asked run_shell_command allow_always allow_once reject_once",
        "run_shell_command started: exit 3",
        "run_shell_command completed",
        "text Final answer after 1 tool round(s).",
        "used 2000 in, 40 out, 0 cached, 0 thought",
        "over 8 completed end_turn",
    ],
    [
        "text Running it. ",
        "asked run_shell_command allow_always allow_once reject_once",
        "run_shell_command started: seq 1 3; echo err >&2",
        "run_shell_command completed",
        "text Final answer after 1 tool round(s).",
        "used 2000 in, 40 out, 0 cached, 0 thought",
        "over 9 completed end_turn",
    ],
]


REJECT = [
    [
        "opened gemini-cli 0.61.0 model=auto mode=default",
    ],
    [
        "session commands ['memory', 'memory show']",
        "text Running it. ",
        "asked run_shell_command allow_always allow_once reject_once",
        "run_shell_command cancelled error 'denied'",
        "text Final answer after 1 tool round(s).",
        "used 2000 in, 40 out, 0 cached, 0 thought",
        "over 1 completed end_turn",
    ],
    [
        "text Running it. ",
        "asked run_shell_command allow_always allow_once reject_once",
        "run_shell_command cancelled error 'denied'",
        "text Final answer after 1 tool round(s).",
        "used 2000 in, 40 out, 0 cached, 0 thought",
        "over 2 completed end_turn",
    ],
]


CANCEL = [
    [
        "opened gemini-cli 0.61.0 model=auto mode=default",
    ],
    [
        "session commands ['memory', 'memory show']",
        "text w0 w1 w2 w3 ",
        "over 1 cancelled cancelled",
    ],
    [
        "asked run_shell_command allow_always allow_once reject_once",
        "run_shell_command started: sleep 77; echo done",
        "run_shell_command cancelled error 'cancelled'",
        "over 2 cancelled cancelled",
    ],
    [
        "over 3 cancelled cancelled",
    ],
    [
        "text Running it. ",
        "asked run_shell_command allow_always allow_once reject_once",
        "withdrawn",
        "over 5 rejected  the agent takes no prompt now: the connectio…",
    ],
    [
        "text Hello from fake.",
    ],
]


ERRORS = [
    [
        "opened gemini-cli 0.61.0 model=auto mode=default",
    ],
    [
        "session commands ['memory', 'memory show']",
        "over 1 failed  fake error 400 (HTTP 400)",
    ],
    [
        "over 2 failed  fake error 401 (HTTP 401). Run `gemini` once…",
    ],
    [
        "over 4 rejected  the agent takes no prompt now: the connectio…",
    ],
]


MCP = [
    [
        "opened gemini-cli 0.61.0 model=auto mode=default",
    ],
    [
        "session commands ['memory', 'memory show']",
        "asked mcp_ech_echo_back allow_always allow_always allow_once",
        "mcp_ech_echo_back started: ",
        "mcp_ech_echo_back completed 'ECHO:yo'",
        "text Final answer after 1 tool round(s).",
        "used 2000 in, 40 out, 0 cached, 0 thought",
        "over 1 completed end_turn",
    ],
]


SESSIONS = [
    [
        "opened gemini-cli 0.61.0 model=auto mode=default",
    ],
    [
        "session commands ['memory', 'memory show']",
        "thought 11 **Considering**\nI think about it.",
        "text Answer after thinking.",
        "used 1000 in, 20 out, 0 cached, 0 thought",
        "over 1 completed end_turn",
    ],
    [
        "text Running it. ",
        "run_shell_command started: echo hi-from-shell",
        "run_shell_command completed",
        "text Final answer after 1 tool round(s).",
        "used 2000 in, 40 out, 0 cached, 0 thought",
        "over 2 completed end_turn",
    ],
    [
        'answered "Method not found": session/list',
        'answered "Method not found": session/list',
        'answered "Method not found": session/fork',
        'answered "Method not found": session/resume',
        "answered Internal error: No previous sessions found for this project.",
        'answered "Method not found": session/close',
        "text Hello from fake.",
        "used 1000 in, 20 out, 0 cached, 0 thought",
        "over 3 completed end_turn",
    ],
]


SETTERS = [
    [
        "opened gemini-cli 0.61.0 model=auto mode=default",
    ],
    [
        "session commands ['memory', 'memory show']",
        "answered []",
        "session mode autoEdit",
        "answered []",
        "session mode yolo",
        "answered []",
        "session mode plan",
        "answered []",
        "answered Internal error: Invalid or unavailable mode: nope",
        "answered []",
        "answered []",
        "answered []",
        'answered "Method not found": session/set_config_option',
        "text Hello from fake.",
        "used 1000 in, 20 out, 0 cached, 0 thought",
        "over 1 completed end_turn",
    ],
]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tools", TOOLS),
        ("reject", REJECT),
        ("cancel", CANCEL),
        ("errors", ERRORS),
        ("mcp", MCP),
        ("sessions", SESSIONS),
        ("setters", SETTERS),
    ],
)
def test_recording_gives_exactly_these_events(name: str, expected: list[list[str]]) -> None:
    assert turns(Replay(AGENT, name, PROFILE).facts) == expected
