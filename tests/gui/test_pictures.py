"""Still pictures of the app in three sizes, as text; `PICTURES=write` draws them anew."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from avatar_actors import (
    AvatarEvent,
    ContextEvent,
    CostEvent,
    CostSource,
    EngineState,
    EngineStateEvent,
    PermissionEvent,
    PlanEntry,
    PlanEvent,
    TextEvent,
    ThinkingEvent,
    ThinkingPhase,
    ToolEvent,
    ToolStatus,
    TurnStartedEvent,
)
from tests.gui.flight import Flight, flown

FOLDER = Path(__file__).parent / "pictures"
ANSWER = """Three modules matter, and **one** is the door:

| module | lines |
|---|---|
| engine.py | 281 |

```python
async def greet(name: str) -> str:
    return f"Ahoj {name}"
```
- příliš žluťoučký kůň
- a line that is much longer than the window is wide, so that it has to be wrapped somewhere here
"""


def tool(
    name: str, path: str, status: ToolStatus = ToolStatus.STARTED, parent: str = ""
) -> ToolEvent:
    return ToolEvent(
        turn_id=1,
        tool_name=name,
        tool_id=f"{name} {path}",
        parameters={"path": path},
        status=status,
        parent_id=parent,
        result="2 passed\n" if status.is_over else None,
    )


def work() -> Iterator[AvatarEvent]:
    """A turn that thinks, works and talks."""
    yield TurnStartedEvent(turn_id=1, prompt="What matters here?")
    yield EngineStateEvent(new_state=EngineState.THINKING)
    thought = "**Analyzing code structure**\nThree modules look like the heart of it."
    yield ThinkingEvent(
        turn_id=1, thought=thought, phase=ThinkingPhase.ANALYZING, is_complete=True, token_count=342
    )
    yield PlanEvent(turn_id=1, entries=(PlanEntry("look around", "completed"), PlanEntry("tell")))
    yield TextEvent(turn_id=1, text=ANSWER)
    yield CostEvent(
        turn_id=1, cost_usd=0.02, input_tokens=1200, output_tokens=200, source=CostSource.REPORTED
    )
    yield ContextEvent(turn_id=1, used_tokens=10, size_tokens=100)
    yield tool("Read", "README.md", ToolStatus.COMPLETED)
    yield tool("Task", "research")
    yield tool("Grep", "auth", parent="Task research")
    yield EngineStateEvent(new_state=EngineState.TOOL_EXECUTING)


def ask() -> Iterator[AvatarEvent]:
    """The same, with a question."""
    yield from work()
    yield EngineStateEvent(new_state=EngineState.WAITING_APPROVAL)
    yield PermissionEvent(
        turn_id=1,
        request_id="1",
        tool_name="Edit",
        title="notes.txt",
        tool_input={"path": "notes.txt", "old_string": "one", "new_string": "two"},
        timestamp=1000.0,
        deadline=1060.0,
    )


@pytest.mark.parametrize(
    ("name", "size"),
    [("work", (80, 24)), ("ask", (120, 36)), ("work", (200, 50))],
)
def test_the_picture_is_as_it_was(name: str, size: tuple[int, int], tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        app, pane = flight.app, flight.pane
        while not pane.has_class("introduced"):
            await flight.pilot.pause(0.02)
            app.beat()
        pane.talk.transcript.quote("What matters here?")
        for event in (work if name == "work" else ask)():
            pane.host.engine.emit(event)
        app.tick = 99
        for _ in range(10):
            app.beat()
            await flight.pilot.pause(0.02)
        app.tick = 109
        app.beat()
        await flight.pilot.pause(0.1)
        compare(f"{name}-{size[0]}x{size[1]}.txt", flight.screen())

    flown(tmp_path, fly, size=size, clock=lambda: 1000.0)


def compare(name: str, screen: str) -> None:
    file = FOLDER / name
    if os.environ.get("PICTURES") == "write":
        file.write_text(f"{screen}\n", "utf-8")
    assert f"{screen}\n" == file.read_text("utf-8")
