"""What claude-agent-acp 0.49.0 was recorded to say, and what the wire makes of it."""

import pytest

from avatar_actors.wire.acp.profile import AcpProfile
from tests.wire.acp.digest import turns
from tests.wire.acp.replay import Replay

AGENT = "claude-agent-acp-0.49.0"
PROFILE = AcpProfile()


BASIC = [
    [
        "opened @agentclientprotocol/claude-agent-acp 0.49.0 model=default mode=defau…",
    ],
    [
        "session commands ['deep-research', 'update-config']",
        "context 1001/1000000",
        "text Hello from fake.",
        "context 1027/1000000",
        "context 1027/1000000",
        "used 0 in, 0 out, 0 cached, 0 thought $0.005225",
        "used 900 in, 27 out, 100 cached, 0 thought $0.005225",
        "over 1 completed end_turn $0.005225",
    ],
    [
        "context 1001/1000000",
        "thought 11 I think about it.",
        "text Answer after thinking.",
        "context 1027/1000000",
        "context 1027/1000000",
        "used 0 in, 0 out, 0 cached, 0 thought $0.005225",
        "used 900 in, 27 out, 100 cached, 0 thought $0.005225",
        "over 2 completed end_turn $0.005225",
    ],
    [
        "context 1001/1000000",
        "text Running it. ",
        "Bash pending: ",
        "Bash pending: echo hi-from-shell",
        "context 1027/1000000",
        "Bash completed 'hi-from-shell'",
        "context 1001/1000000",
        "text Final answer after 1 tool round(s).",
        "context 1027/1000000",
        "context 1027/1000000",
        "used 0 in, 0 out, 0 cached, 0 thought $0.010450",
        "used 1800 in, 54 out, 200 cached, 0 thought $0.010450",
        "over 3 completed end_turn $0.010450",
    ],
]


TOOLS = [
    [
        "opened @agentclientprotocol/claude-agent-acp 0.49.0 model=default mode=defau…",
    ],
    [
        "session commands ['deep-research', 'update-config']",
        "context 1001/1000000",
        "text Running it. ",
        "Bash pending: ",
        "Bash pending: touch /sandbox/wd/claude-tools/created.txt && echo made",
        "asked Bash allow_always allow_once reject_once",
        "Bash started: touch /sandbox/wd/claude-tools/created.txt && echo made",
        "context 1027/1000000",
        "Bash completed 'made'",
        "context 1001/1000000",
        "text Final answer after 1 tool round(s).",
        "context 1027/1000000",
        "context 1027/1000000",
        "used 0 in, 0 out, 0 cached, 0 thought $0.010450",
        "used 1800 in, 54 out, 200 cached, 0 thought $0.010450",
        "over 1 completed end_turn $0.010450",
    ],
    [
        "context 1001/1000000",
        "Bash pending: ",
        "Bash pending: echo A",
        "Bash pending: ",
        "Bash pending: echo B",
        "context 1027/1000000",
        "Bash completed 'B'",
        "Bash completed 'A'",
        "context 1001/1000000",
        "text Final answer after 1 tool round(s).",
        "context 1027/1000000",
        "context 1027/1000000",
        "used 0 in, 0 out, 0 cached, 0 thought $0.010450",
        "used 1800 in, 54 out, 200 cached, 0 thought $0.010450",
        "over 2 completed end_turn $0.010450",
    ],
    [
        "context 1001/1000000",
        "Write pending: ",
        "Write pending: /sandbox/wd/claude-tools/new.txt",
        "context 1027/1000000",
        "asked Write allow_always allow_once reject_once",
        "Write started: /sandbox/wd/claude-tools/new.txt",
        "Write completed 'File created successfully at: /sandbox/wd/claude-tools/new.…",
        "context 1001/1000000",
        "text Final answer after 1 tool round(s).",
        "context 1027/1000000",
        "context 1027/1000000",
        "used 0 in, 0 out, 0 cached, 0 thought $0.010450",
        "used 1800 in, 54 out, 200 cached, 0 thought $0.010450",
        "over 3 completed end_turn $0.010450",
    ],
    [
        "context 1001/1000000",
        "Read pending: ",
        "Read pending: /sandbox/wd/claude-tools/seed.txt",
        "context 1027/1000000",
        "Read completed '1\\talpha\\n2\\tbeta\\n3\\tgamma\\n4\\t'",
        "context 1001/1000000",
        "text Final answer after 1 tool round(s).",
        "context 1027/1000000",
        "context 1027/1000000",
        "used 0 in, 0 out, 0 cached, 0 thought $0.010450",
        "used 1800 in, 54 out, 200 cached, 0 thought $0.010450",
        "over 4 completed end_turn $0.010450",
    ],
    [
        "context 1001/1000000",
        "text Hello from fake.",
        "context 1027/1000000",
        "context 1027/1000000",
        "used 0 in, 0 out, 0 cached, 0 thought $0.005225",
        "used 900 in, 27 out, 100 cached, 0 thought $0.005225",
        "over 5 completed end_turn $0.005225",
    ],
    [
        "context 1001/1000000",
        "plan one completed, two in_progress",
        "context 1027/1000000",
        "context 1001/1000000",
        "text Final answer after 1 tool round(s).",
        "context 1027/1000000",
        "context 1027/1000000",
        "used 0 in, 0 out, 0 cached, 0 thought $0.010450",
        "used 1800 in, 54 out, 200 cached, 0 thought $0.010450",
        "over 6 completed end_turn $0.010450",
    ],
    [
        "context 1001/1000000",
        "text Hello from fake.",
        "context 1027/1000000",
        "context 1027/1000000",
        "used 0 in, 0 out, 0 cached, 0 thought $0.005225",
        "used 900 in, 27 out, 100 cached, 0 thought $0.005225",
        "over 7 completed end_turn $0.005225",
    ],
    [
        "context 1001/1000000",
        "text Running it. ",
        "Bash pending: ",
        "Bash pending: exit 3",
        "asked Bash allow_always allow_once reject_once",
        "context 1027/1000000",
        "Bash started: exit 3",
        "Bash failed error 'Exit code 3'",
        "context 1001/1000000",
        "text Final answer after 1 tool round(s).",
        "context 1027/1000000",
        "context 1027/1000000",
        "used 0 in, 0 out, 0 cached, 0 thought $0.010450",
        "used 1800 in, 54 out, 200 cached, 0 thought $0.010450",
        "over 8 completed end_turn $0.010450",
    ],
    [
        "context 1001/1000000",
        "text Running it. ",
        "Bash pending: ",
        "Bash pending: seq 1 3; echo err >&2",
        "context 1027/1000000",
        "Bash completed '1\\n2\\n3\\nerr'",
        "context 1001/1000000",
        "text Final answer after 1 tool round(s).",
        "context 1027/1000000",
        "context 1027/1000000",
        "used 0 in, 0 out, 0 cached, 0 thought $0.010450",
        "used 1800 in, 54 out, 200 cached, 0 thought $0.010450",
        "over 9 completed end_turn $0.010450",
    ],
]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("basic", BASIC),
        ("tools", TOOLS),
    ],
)
def test_recording_gives_exactly_these_events(name: str, expected: list[list[str]]) -> None:
    assert turns(Replay(AGENT, name, PROFILE).facts) == expected
