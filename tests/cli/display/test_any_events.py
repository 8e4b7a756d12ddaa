"""Whatever an agent tells: the lines fit; in whatever pieces: what stays is the same."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from avatar_actors import (
    ActivityEvent,
    ActivityStatus,
    AvatarEvent,
    DiagnosticEvent,
    EngineState,
    EngineStateEvent,
    PermissionClosedEvent,
    PermissionEvent,
    PlanEntry,
    PlanEvent,
    QueueEvent,
    StallEvent,
    TextEvent,
    ThinkingEvent,
    ToolEvent,
    ToolStatus,
    TurnEndedEvent,
    TurnStartedEvent,
)
from avatar_actors.cli.display import Display, Style
from tests.cli.display.seen import NOW, assert_fits, plain

PIECES = (
    "word ", "longer", " ", "\n", "\n\n", "\n- item", "\n  - below", "\n1. ", "\n7) ", "# ",
    "\n## h\n", "**", "*", "`", "```", "\n```python\n", "\n```\n", "~~~", "|", "> ", "\\", "\t",
    "\n| a | b |\n|---|---|\n| 1 |\n", "\n---\n", "\n===\n", "[a](http://b.c)", "[x]: y\n",
    "<div>", "&amp;", "漢字", "🐎", "ů", "    indented\n", "\x1b[31m", "\x1b", "\r", "\u2060",
    "\u2028", "x" * 90, "![i](j)", "\ud800",
)  # fmt: skip
TEXT = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
IDS = st.sampled_from(["a", "b", "c", "turn-1"])
# JSON with half a character is refused by the wires.
GIVEN = TEXT.map(lambda text: text.replace("\ud800", ""))
INPUTS: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.fixed_dictionaries({"command": GIVEN}),
    st.fixed_dictionaries({"file_path": GIVEN, "old_string": GIVEN, "new_string": GIVEN}),
    st.fixed_dictionaries({"path": GIVEN, "edits": GIVEN, "content": GIVEN}),
)
OTHERS: st.SearchStrategy[AvatarEvent] = st.one_of(
    st.builds(ThinkingEvent, thought=TEXT, subject=TEXT, is_start=st.booleans(), block_id=IDS),
    st.builds(
        ToolEvent, tool_name=TEXT, tool_id=IDS, parameters=INPUTS, parent_id=IDS, result=TEXT,
        status=st.sampled_from(ToolStatus),
    ),
    st.builds(
        ActivityEvent, activity_id=IDS, parent_activity_id=IDS, name=TEXT, output=TEXT,
        activity_type=st.sampled_from(["agent", "tool_use", "background_task", "turn"]),
        status=st.sampled_from(ActivityStatus),
    ),
    st.builds(PermissionEvent, request_id=IDS, tool_name=TEXT, tool_input=INPUTS),
    st.builds(PermissionClosedEvent, request_id=IDS),
    st.builds(PlanEvent, entries=st.lists(st.builds(PlanEntry, TEXT), max_size=3).map(tuple)),
    st.builds(DiagnosticEvent, message=TEXT),
    st.builds(EngineStateEvent, new_state=st.sampled_from(EngineState)),
    st.builds(QueueEvent, waiting=st.integers(0, 3)),
    st.builds(StallEvent, evidence=TEXT),
    st.builds(TurnStartedEvent, prompt=TEXT),
    st.builds(TurnEndedEvent, reason=TEXT),
)  # fmt: skip
EVENTS = st.lists(st.one_of(TEXT.map(lambda text: TextEvent(text=text)), OTHERS), max_size=8)
STYLES = st.builds(
    Style, show_thinking=st.booleans(), verbose=st.integers(0, 2), unicode=st.booleans()
)


@settings(deadline=None, max_examples=30)
@given(EVENTS, STYLES, st.integers(1, 100), st.integers(0, 30))
def test_every_line_fits_the_width_and_the_frame_fits_the_height(
    events: list[AvatarEvent], style: Style, width: int, height: int
) -> None:
    display = Display(style)
    for event in events:
        display.tell(event, NOW)
        frame = display.frame(width, height, NOW + 1)
        assert len(frame) <= height
        assert_fits(frame, width)
        assert_fits(display.finished(width), width)


def pieces_of(text: str, sizes: list[int]) -> list[str]:
    pieces: list[str] = []
    for size in sizes:
        pieces.append(text[:size])
        text = text[size:]
    return [*pieces, text]


@settings(deadline=None, max_examples=30)
@given(EVENTS, STYLES, st.lists(st.integers(0, 40), max_size=12), st.sampled_from([20, 40, 80]))
def test_what_stays_does_not_depend_on_the_pieces_the_text_came_in(
    events: list[AvatarEvent], style: Style, sizes: list[int], width: int
) -> None:
    whole, sliced = Display(style), Display(style)
    shown: list[str] = []
    for event in events:
        whole.tell(event, NOW)
        parts = [event]
        if isinstance(event, TextEvent):
            parts = [TextEvent(text=piece) for piece in pieces_of(event.text, sizes)]
        for part in parts:
            sliced.tell(part, NOW)
            shown += sliced.finished(width)
            sliced.frame(width, 24, NOW)
    whole.flush()
    sliced.flush()
    assert plain(shown + sliced.finished(width)) == plain(whole.finished(width))
