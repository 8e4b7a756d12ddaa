"""`avatar gui --demo`: an afternoon of the embedded agent, played by scripts, for looking at."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import msgspec

from avatar_actors import AvatarError, PermissionEvent, Permit, WhileBusy
from avatar_actors.cli.agent_choice import AgentChoice

if TYPE_CHECKING:
    from avatar_actors.gui.app import AvatarApp
    from avatar_actors.gui.pane import AvatarPane

# Seconds that the demo waits for a person to answer, before it answers itself.
PATIENCE: Final = 12.0
_BETWEEN: Final = 2.0


def _thought(subject: str, text: str) -> dict[str, Any]:
    return {"think": f"**{subject}**\n{text}"}


def _tool(name: str, target: str, seconds: float, result: str) -> dict[str, Any]:
    given = {"command" if name == "Bash" else "path": target}
    return {"tool": name, "input": given, "seconds": seconds, "result": result}


def _below(parent: str, name: str) -> dict[str, Any]:
    update: dict[str, Any] = {
        "sessionUpdate": "tool_call", "toolCallId": f"{parent}-{name}", "title": name,
        "status": "in_progress", "_meta": {"claudeCode": {"parentToolUseId": parent}},
    }  # fmt: skip
    return {"update": update}


def _agent(name: str) -> dict[str, Any]:
    update = {"sessionUpdate": "tool_call", "toolCallId": name, "title": f"Task: {name}"}
    return {"update": {**update, "status": "in_progress"}}


def _done(*tool_ids: str) -> list[dict[str, Any]]:
    ended = {"sessionUpdate": "tool_call_update", "status": "completed"}
    return [{"update": {**ended, "toolCallId": tool_id}} for tool_id in tool_ids]


_ANSWER: Final = """## What this project is

Three modules matter, and **one of them** is the door:

| module | lines | what it answers |
|---|---|---|
| `engine.py` | 281 | what does a host hold? |
| `bridge.py` | 352 | what did the agent say? |
| `tree.py` | 176 | what is running now? |

```python
async def greet(name: str) -> str:
    \"\"\"Say hello, and mean it.\"\"\"
    return f"Ahoj, {name}!"
```

1. Read the door first.
2. Then the bridge: *příliš žluťoučký kůň* is one of its tests.
"""
_AGENTS: Final = ("Research", "Explore", "Review")
ACTS: Final[tuple[tuple[str, list[dict[str, Any]]], ...]] = (
    (
        "What matters in this project?",
        [
            {"wait": 1.5},
            _thought("Analyzing code structure", "Three modules look like the heart of it. "),
            {"wait": 2},
            {"plan": [{"content": "look around", "status": "in_progress"}, "tell what I found"]},
            {
                "parallel": [
                    _tool("Read", "README.md", 1.5, "a readme"),
                    _tool("Grep", "def open_", 3, "12 matches"),
                    _tool("Bash", "make test", 4, "1021 passed"),
                ]
            },
            {"say": _ANSWER, "chunks": 60},
            {"usage": {"input": 1200, "output": 230, "used": 12_000, "size": 200_000}},
        ],
    ),
    (
        "Send three agents to look closer",
        [
            _thought("Planning the work", "One reads, one explores, one reviews. "),
            {"wait": 1.5},
            *(_agent(name) for name in _AGENTS),
            *(_below(name, f"{verb} src") for name in _AGENTS for verb in ("Grep", "Read")),
            {"wait": 4},
            *_done(*(f"{name}-{verb} src" for name in _AGENTS for verb in ("Grep", "Read"))),
            {"wait": 1},
            *_done(*_AGENTS),
            {"say": "All three agree: it holds together.\n"},
        ],
    ),
    (
        "Write it down",
        [
            _thought("Writing code", "A short note is enough. "),
            {"wait": 1.5},
            {"ask": "Write", "input": {"path": "notes.txt", "content": "It holds together.\n"}},
            {"say": " Thank you.\n"},
        ],
    ),
    ("And now something breaks", [{"say": "I was about to say "}, {"wait": 2}, {"exit": 3}]),
    ("Are you still there?", [{"wait": 1}, {"say": "Yes, and I remember everything. "}]),
)


def demo_choice(choice: AgentChoice) -> AgentChoice:
    """The same choice, with the embedded agent allowed to play scripts."""
    options = choice.options.copy()
    options["options"] = {"scripts": "true"}
    why = "a scripted afternoon; type to join in, Ctrl-Q leaves"
    return msgspec.structs.replace(choice, options=options, why=why)


async def play(app: AvatarApp) -> None:
    """All acts, one after the other, in the first tab."""
    pane = app.panes[0]
    for caption, steps in ACTS:
        script = msgspec.json.encode(steps).decode()
        turn = app.actions.send(pane, f"{caption}\nSCRIPT:{script}", WhileBusy.QUEUE, caption)
        helper = asyncio.create_task(_answer_for_the_person(pane))
        try:
            await turn
        finally:
            helper.cancel()
        await asyncio.sleep(_BETWEEN)
    pane.note("The afternoon is over. Your turn: ask the embedded agent something.", "ok")


async def _answer_for_the_person(pane: AvatarPane) -> None:
    """Allow what nobody answered for a while: the show goes on."""
    while True:
        await asyncio.sleep(0.5)
        for asked in list(pane.picture.state.asks.values()):
            await asyncio.sleep(PATIENCE)
            if isinstance(asked.event, PermissionEvent):
                await _allow(pane, asked.event)


async def _allow(pane: AvatarPane, asked: PermissionEvent) -> None:
    try:
        await pane.host.engine.run(
            lambda avatar: avatar.answer(asked.request_id, Permit.ALLOW_ONCE)
        )
    except AvatarError:
        return  # the person was quicker
