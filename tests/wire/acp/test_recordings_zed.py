"""What zed's codex-acp 0.16.0 was recorded to say, and what the wire makes of it."""

import pytest

from avatar_actors.model.settings import AvatarSettings
from avatar_actors.providers.codex import codex_profile
from tests.wire.acp.digest import turns
from tests.wire.acp.replay import Replay

AGENT = "codex-acp-zed-0.16.0"
PROFILE = codex_profile(AvatarSettings(options={"adapter": "zed"}))


BASIC = [
    [
        "session commands ['review', 'review-branch']",
        "opened codex-acp 0.16.0 model=gpt-5.4 mode=read-only",
    ],
    [
        "session commands ['review', 'review-branch']",
        "text Hello from fake.",
        "context 1027/258400",
        "over 1 completed end_turn",
    ],
    [
        "thought 11 \n\nI think about it. ",
        "text Answer after thinking.",
        "context 1027/258400",
        "over 2 completed end_turn",
    ],
    [
        "text Running it. ",
        "execute started: echo hi-from-shell",
        "execute completed 'hi-from-shell\\n'",
        "context 1027/258400",
        "text Final answer after 1 tool round(s).",
        "context 1027/258400",
        "over 3 completed end_turn",
    ],
]


TOOLS = [
    [
        "opened codex-acp 0.16.0 model=gpt-5.4 mode=read-only",
    ],
    [
        "session commands ['review', 'review-branch']",
        "text Running it. ",
        "context 1027/258400",
        "text Final answer after 1 tool round(s).",
        "context 1027/258400",
        "over 1 completed end_turn",
    ],
    [
        "execute started: echo B",
        "execute started: echo A",
        "execute completed 'A\\n'",
        "context 1027/258400",
        "execute completed 'B\\n'",
        "text Final answer after 1 tool round(s).",
        "context 1027/258400",
        "over 2 completed end_turn",
    ],
    [
        "edit started: ",
        "asked edit allow_once reject_once",
        "edit started: ",
        "edit completed 'Success. Updated the following files:\\nA new.txt\\n'",
        "context 1027/258400",
        "text Final answer after 1 tool round(s).",
        "context 1027/258400",
        "over 3 completed end_turn",
    ],
    [
        "read started: cat seed.txt",
        "read completed 'alpha\\nbeta\\ngamma\\n'",
        "context 1027/258400",
        "text Final answer after 1 tool round(s).",
        "context 1027/258400",
        "over 4 completed end_turn",
    ],
    [
        "text Hello from fake.",
        "context 1027/258400",
        "over 5 completed end_turn",
    ],
    [
        "plan one completed, two in_progress",
        "context 1027/258400",
        "text Final answer after 1 tool round(s).",
        "context 1027/258400",
        "over 6 completed end_turn",
    ],
    [
        "text Hello from fake.",
        "context 1027/258400",
        "over 7 completed end_turn",
    ],
    [
        "text Running it. ",
        "execute started: exit 3",
        "execute failed error 'exit code 3'",
        "context 1027/258400",
        "text Final answer after 1 tool round(s).",
        "context 1027/258400",
        "over 8 completed end_turn",
    ],
    [
        "text Running it. ",
        "execute started: seq 1 3; echo err >&2",
        "context 1027/258400",
        "execute completed '1\\n2\\n3\\nerr\\n'",
        "text Final answer after 1 tool round(s).",
        "context 1027/258400",
        "over 9 completed end_turn",
    ],
]


REJECT = [
    [
        "opened codex-acp 0.16.0 model=gpt-5.4 mode=read-only",
    ],
    [
        "session commands ['review', 'review-branch']",
        "asked execute allow_once allow_always reject_once",
        "execute cancelled error 'denied'",
        "context 1027/258400",
        "over 1 cancelled cancelled",
    ],
    [
        "asked execute allow_once allow_always reject_once",
        "execute cancelled error 'denied'",
        "context 1027/258400",
        "over 2 cancelled cancelled",
    ],
]


CANCEL = [
    [
        "opened codex-acp 0.16.0 model=gpt-5.4 mode=read-only",
    ],
    [
        "text w0 ",
        "session commands ['review', 'review-branch']",
        "text w1 w2 w3 ",
        "over 1 cancelled cancelled",
    ],
    [
        "execute started: sleep 77; echo done",
        "context 1027/258400",
        "execute cancelled error 'cancelled'",
        "over 2 cancelled cancelled",
    ],
]


MCP = [
    [
        "opened codex-acp 0.16.0 model=gpt-5.4 mode=read-only",
    ],
    [
        "session commands ['review', 'review-branch']",
        "mcp__ech__echo_back started: yo",
        "asked mcp__ech__echo_back allow_once allow_always",
        "mcp__ech__echo_back started: yo",
        "mcp__ech__echo_back completed 'ECHO:yo'",
        "context 1027/258400",
        "text Final answer after 1 tool round(s).",
        "context 1027/258400",
        "over 1 completed end_turn",
    ],
]


UNKNOWN_MODEL = [
    ["opened codex-acp 0.16.0 model=my-local-llm mode=read-only"],
    [
        "warning Model metadata for `my-local-llm` not found.…",
        "session commands ['review', 'review-branch', 'review-commit']",
        "text Hello from fake.",
        "context 15/258400",
        "over 1 completed end_turn",
    ],
]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("basic", BASIC),
        ("unknown_model", UNKNOWN_MODEL),
        ("tools", TOOLS),
        ("reject", REJECT),
        ("cancel", CANCEL),
        ("mcp", MCP),
    ],
)
def test_recording_gives_exactly_these_events(name: str, expected: list[list[str]]) -> None:
    assert turns(Replay(AGENT, name, PROFILE).facts) == expected
