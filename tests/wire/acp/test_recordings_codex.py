"""What codex-acp 2.6.0 was recorded to say, and what the wire makes of it."""

import pytest
from msgspec.structs import replace

from avatar_actors.model.settings import AvatarSettings
from avatar_actors.providers.codex import codex_profile
from tests.wire.acp.digest import turns
from tests.wire.acp.replay import Replay

AGENT = "codex-acp-2.6.0"
PROFILE = replace(codex_profile(AvatarSettings()), mode="")


BASIC = [
    [
        "session commands ['plan', 'mcp']",
        "opened @agentclientprotocol/codex-acp 2.6.0 model=gpt-5.5[medium] mode=agent",
    ],
    [
        "session commands ['plan', 'mcp']",
        "text Hello from fake.",
        "context 1027/258400",
        "session title please SCENARIO:text",
        "used 900 in, 27 out, 100 cached, 7 thought",
        "over 1 completed end_turn",
    ],
    [
        "thought 11 \n\nI think about it. ",
        "text Answer after thinking.",
        "context 1027/258400",
        "used 900 in, 27 out, 100 cached, 7 thought",
        "over 2 completed end_turn",
    ],
    [
        "text Running it. ",
        "exec_command started: echo hi-from-shell",
        "exec_command completed 'hi-from-shell\\n'",
        "context 1027/258400",
        "text Final answer after 1 tool round(s).",
        "context 1027/258400",
        "used 1800 in, 54 out, 200 cached, 14 thought",
        "over 3 completed end_turn",
    ],
]


TOOLS = [
    [
        "opened @agentclientprotocol/codex-acp 2.6.0 model=gpt-5.5[medium] mode=agent",
    ],
    [
        "session commands ['plan', 'mcp']",
        "text Running it. ",
        "exec_command started: touch /sandbox/wd/codexacp-tools/created.txt && echo m…",
        "exec_command completed 'made\\n'",
        "context 1027/258400",
        "text Final answer after 1 tool round(s).",
        "context 1027/258400",
        "session title please SCENARIO:shell[touch /sandbox/wd/codexacp-tools/created…",
        "used 1800 in, 54 out, 200 cached, 14 thought",
        "over 1 completed end_turn",
    ],
    [
        "exec_command started: echo A",
        "exec_command started: echo B",
        "exec_command completed 'B\\n'",
        "exec_command completed 'A\\n'",
        "context 1027/258400",
        "text Final answer after 1 tool round(s).",
        "context 1027/258400",
        "used 1800 in, 54 out, 200 cached, 14 thought",
        "over 2 completed end_turn",
    ],
    [
        "edit started: /sandbox/wd/codexacp-tools/new.txt",
        "edit completed '/sandbox/wd/codexacp-tools/new.txt'",
        "context 1027/258400",
        "text Final answer after 1 tool round(s).",
        "context 1027/258400",
        "used 1800 in, 54 out, 200 cached, 14 thought",
        "over 3 completed end_turn",
    ],
    [
        "exec_command started: /sandbox/wd/codexacp-tools/seed.txt",
        "exec_command completed 'alpha\\nbeta\\ngamma\\n'",
        "context 1027/258400",
        "text Final answer after 1 tool round(s).",
        "context 1027/258400",
        "used 1800 in, 54 out, 200 cached, 14 thought",
        "over 4 completed end_turn",
    ],
    [
        "text Hello from fake.",
        "context 1027/258400",
        "used 900 in, 27 out, 100 cached, 7 thought",
        "over 5 completed end_turn",
    ],
    [
        "text Hello from fake.",
        "context 1027/258400",
        "used 900 in, 27 out, 100 cached, 7 thought",
        "over 6 completed end_turn",
    ],
    [
        "text Hello from fake.",
        "context 1027/258400",
        "used 900 in, 27 out, 100 cached, 7 thought",
        "over 7 completed end_turn",
    ],
    [
        "text Running it. ",
        "exec_command started: exit 3",
        "exec_command failed error 'exit code 3'",
        "context 1027/258400",
        "text Final answer after 1 tool round(s).",
        "context 1027/258400",
        "used 1800 in, 54 out, 200 cached, 14 thought",
        "over 8 completed end_turn",
    ],
    [
        "text Running it. ",
        "exec_command started: seq 1 3; echo err >&2",
        "exec_command completed '1\\n2\\n3\\nerr\\n'",
        "context 1027/258400",
        "text Final answer after 1 tool round(s).",
        "context 1027/258400",
        "used 1800 in, 54 out, 200 cached, 14 thought",
        "over 9 completed end_turn",
    ],
]


REJECT = [
    [
        "opened @agentclientprotocol/codex-acp 2.6.0 model=gpt-5.5[medium] mode=works…",
    ],
    [
        "session commands ['plan', 'mcp']",
        "execute started: touch /sandbox/wd/escalated",
        "asked execute allow_once allow_always reject_once",
        "execute cancelled error 'denied'",
        "context 1027/258400",
        "used 900 in, 27 out, 100 cached, 7 thought",
        "over 1 cancelled cancelled",
    ],
    [
        "execute started: touch /sandbox/wd/escalated",
        "asked execute allow_once allow_always reject_once",
        "execute cancelled error 'denied'",
        "context 1027/258400",
        "used 900 in, 27 out, 100 cached, 7 thought",
        "over 2 cancelled cancelled",
    ],
]


CANCEL = [
    [
        "opened @agentclientprotocol/codex-acp 2.6.0 model=gpt-5.5[medium] mode=agent",
    ],
    [
        "session commands ['plan', 'mcp']",
        "text w0 w1 w2 w3 ",
        "over 1 cancelled cancelled",
    ],
    [
        "exec_command started: sleep 77; echo done",
        "context 1027/258400",
        "exec_command cancelled error 'cancelled'",
        "used 900 in, 27 out, 100 cached, 7 thought",
        "over 2 cancelled cancelled",
    ],
    [
        "context 1027/258400",
        "over 3 cancelled cancelled",
    ],
    [
        "execute started: /bin/bash -lc 'touch /sandbox/wd/escalated'",
        "think started: ",
        "think failed error \"Status: Denied\\nAction: exec /bin/bash -lc 'touch /sandb…",
        "execute failed error 'failed'",
        "context 1027/258400",
        "text Final answer after 1 tool round(s).",
        "context 1027/258400",
        "session title please SCENARIO:escalate",
        "used 1800 in, 54 out, 200 cached, 14 thought",
        "over 4 completed end_turn",
    ],
    [
        "text Hello from fake.",
        "context 1027/258400",
        "used 900 in, 27 out, 100 cached, 7 thought",
        "over 5 completed end_turn",
    ],
]


ERRORS = [
    [
        "opened @agentclientprotocol/codex-acp 2.6.0 model=gpt-6.1-sol[low] mode=agen…",
    ],
    [
        "session commands ['plan', 'mcp']",
        "session title please SCENARIO:err400",
        "over 1 failed end_turn fake error 400",
    ],
    [
        "over 2 failed  Authentication required. Run `codex login` o…",
    ],
    [
        "over 3 failed end_turn exceeded retry limit, last status: 429 Too M…",
    ],
    [
        "warning Reconnecting... 1/1",
        "over 4 failed end_turn We're currently experiencing high demand, wh…",
    ],
]


MCP = [
    [
        "opened @agentclientprotocol/codex-acp 2.6.0 model=unknown-model[medium] mode…",
    ],
    [
        "session commands ['plan', 'mcp']",
        "text Warning: Model metadata for `unknown-model` not found. Defaulting to fa…",
        "mcp__ech__echo_back started: yo",
        "asked mcp__ech__echo_back allow_once allow_always",
        "mcp__ech__echo_back started: yo",
        "mcp__ech__echo_back completed 'ECHO:yo'",
        "context 1027/258400",
        "text Final answer after 1 tool round(s).",
        "context 1027/258400",
        'session title please SCENARIO:tool[mcp__ech.echo_back|{"text":"yo"}]',
        "used 1800 in, 54 out, 200 cached, 14 thought",
        "over 1 completed end_turn",
    ],
]


SESSIONS = [
    [
        "opened @agentclientprotocol/codex-acp 2.6.0 model=gpt-6.1-sol[low] mode=agen…",
    ],
    [
        "session commands ['plan', 'mcp']",
        "thought 11 \n\nI think about it. ",
        "text Answer after thinking.",
        "context 1027/258400",
        "session title please SCENARIO:think",
        "used 900 in, 27 out, 100 cached, 7 thought",
        "over 1 completed end_turn",
    ],
    [
        "text Running it. ",
        "context 1027/258400",
        "text Final answer after 1 tool round(s).",
        "context 1027/258400",
        "used 1800 in, 54 out, 200 cached, 14 thought",
        "over 2 completed end_turn",
    ],
    [
        "answered ['nextCursor', 'sessions']",
        "answered ['nextCursor', 'sessions']",
        "answered ['configOptions', 'modes', 'sessionId']",
        "answered ['configOptions', 'models', 'modes']",
        "session commands ['plan', 'mcp']",
        "session commands ['plan', 'mcp']",
        "session title please SCENARIO:think",
        "warning the agent sent what belongs to no turn; this…",
        "answered ['configOptions', 'models', 'modes']",
        "answered []",
        "over 3 failed  Session 01a1e1a5-8cc7-7850-bf30-16d7a5ebd77a…",
    ],
]


SETTERS = [
    [
        "opened @agentclientprotocol/codex-acp 2.6.0 model=gpt-6.1-sol[low] mode=agen…",
    ],
    [
        "session commands ['plan', 'mcp']",
        "session mode read-only, model gpt-6.1-sol",
        "answered []",
        "session mode workspace-write, model gpt-6.1-sol",
        "answered []",
        "session mode agent, model gpt-6.1-sol",
        "answered []",
        "session mode agent-full-access, model gpt-6.1-sol",
        "answered []",
        "answered Invalid params",
        "answered []",
        "session mode agent-full-access, model gpt-6.1-sol",
        "answered []",
        "answered Internal error: Unsupported format of modelId: my-unlisted-model. E…",
        "answered ['configOptions']",
        "session mode agent-full-access, model gpt-6.1-sol",
        "answered ['configOptions']",
        "session mode agent-full-access, model gpt-5.5",
        "answered ['configOptions']",
        "answered Invalid params",
        "session mode agent-full-access, model gpt-5.5",
        "answered ['configOptions']",
        "answered Invalid params",
        "text Hello from fake.",
        "context 1027/258400",
        "session title please SCENARIO:text",
        "used 900 in, 27 out, 100 cached, 7 thought",
        "over 1 completed end_turn",
    ],
]


# With the notices that the wire offers to take.
UNKNOWN_MODEL = [
    ["opened @agentclientprotocol/codex-acp 2.6.0 model=my-local-llm[medium] mode=…"],
    [
        "session commands ['plan', 'mcp', 'skills']",
        "warning Model metadata for `my-local-llm` not found.…",
        "text Hello from fake.",
        "context 15/258400",
        "session title hello",
        "used 10 in, 5 out, 0 cached, 0 thought",
        "over 1 completed end_turn",
    ],
]


COMPACT = [
    ["opened @agentclientprotocol/codex-acp 2.6.0 model=gpt-5.5[medium] mode=read-…"],
    [
        "session commands ['plan', 'mcp', 'skills']",
        "text Hello from fake.",
        "context 15/258400",
        "session title hello",
        "used 10 in, 5 out, 0 cached, 0 thought",
        "over 1 completed end_turn",
    ],
    [
        "info the agent is compacting its context",
        "context 15/258400",
        "context 15/258400",
        "context 7698/258400",
        "info the agent has compacted its context",
        "used 10 in, 5 out, 0 cached, 0 thought",
        "over 2 completed end_turn",
    ],
]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("basic", BASIC),
        ("unknown_model", UNKNOWN_MODEL),
        ("compact", COMPACT),
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
