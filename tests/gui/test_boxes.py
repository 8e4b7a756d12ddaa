"""What the app must have besides the scenarios: permissions, copying, tabs, themes, bad windows."""

from functools import partial
from pathlib import Path

import pytest
from rich.cells import cell_len

from avatar_actors import Avatar, AvatarEngine, PermissionMode
from avatar_actors.gui.dialogs import Reader
from avatar_actors.gui.figure import FACES, FADE, art
from avatar_actors.gui.strips import LinePane
from avatar_actors.picture import Mood
from tests.gui.flight import Flight, flown

WRITE = {"ask": "Write", "input": {"path": "notes.txt", "content": "hello"}}


def is_read(reader: Reader, words: str) -> bool:
    return any(words in row.strip.text for row in reader.talk.rows)


@pytest.mark.parametrize("mood", Mood)
def test_the_figure_has_nine_rows_of_17_cells_in_every_mood(mood: Mood) -> None:
    face = FACES[mood]
    for tick in range(80):
        rows = art(face, tick)
        assert [cell_len(row) for row in rows] == [17] * 9, (mood, tick)
    assert cell_len(face.small) <= 6


def test_a_mood_fades_into_the_next_one(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        figure, look = flight.pane.side.figure, flight.app.look
        tick = flight.app.tick + 1000
        figure.beat(Mood.IDLE, tick, look)
        colours: list[str] = []
        for beat in range(1, len(FADE) + 2):
            figure.beat(Mood.ERROR, tick + beat, look)
            colours.append(figure.colour)
        assert "×" in figure.shown
        assert colours == [look.colour("error", strength) for strength in (*FADE, 1.0)]

    flown(tmp_path, fly, clock=lambda: 0.0)


def test_a_permission_is_asked_with_its_diff_and_answered_by_a_key(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        await flight.send(WRITE)
        await flight.until(lambda: flight.mood is Mood.APPROVAL)
        await flight.until(lambda: "Allow Write" in flight.shown("ask"))
        assert "+hello" in flight.shown("ask")
        assert "[y]es  [n]o  [a]lways" in flight.shown("ask")
        await flight.pilot.press("x", "y")
        assert flight.pane.prompt.text == "xy"
        flight.pane.prompt.text = ""
        await flight.until(lambda: flight.pane.answer_keys.request(flight.now()))
        await flight.pilot.press("y")
        await flight.sees("[allowed]")
        await flight.over()
        await flight.send(WRITE)
        await flight.until(lambda: flight.pane.answer_keys.request(flight.now()))
        await flight.pilot.press("n")
        await flight.sees("[denied]")
        await flight.sees("✗ denied: Write")

    flown(tmp_path, fly, permissions=PermissionMode.ASK)


def test_always_answers_the_next_request_by_itself(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        await flight.send(WRITE, {"say": " first"}, WRITE, {"say": " second"})
        await flight.until(lambda: flight.pane.answer_keys.request(flight.now()))
        await flight.pilot.press("a")
        await flight.sees("second")
        assert flight.said.count("[allowed]") == 2

    flown(tmp_path, fly)


def test_a_tool_is_shown_whole_with_input_and_output(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        edit = {"path": "a.txt", "old_string": "one", "new_string": "two"}
        await flight.send({"tool": "Edit", "input": edit, "result": "line\n" * 40 + "the end"})
        await flight.over()
        await flight.until(lambda: "✓ Edit" in flight.tree)
        await flight.pilot.click("#activities", offset=(3, 0))
        await flight.until(lambda: isinstance(flight.app.screen, Reader))
        reader = flight.app.screen
        assert isinstance(reader, Reader)
        await flight.until(lambda: reader.talk.rows)
        text = "\n".join(row.strip.text for row in reader.talk.rows)
        assert "-one" in text
        assert "+two" in text
        assert "the end" in text
        await flight.pilot.press("escape")
        await flight.until(lambda: len(flight.app.screen_stack) == 1)

    flown(tmp_path, fly)


def test_a_block_is_chosen_and_copied_and_so_is_what_the_mouse_selects(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        await flight.send({"say": "**bold** words"})
        await flight.over()
        await flight.sees("bold words")
        await flight.pilot.press("ctrl+y")
        await flight.until(lambda: flight.app.clipboard)
        assert flight.app.clipboard == "**bold** words"
        await flight.pilot.press("alt+up", "alt+up", "alt+up", "ctrl+y")
        await flight.until(lambda: flight.app.clipboard.startswith("SCRIPT:"))
        await flight.pilot.press("escape")
        talk = flight.pane.talk
        row = next(y for y, each in enumerate(talk.rows) if each.strip.text == "bold words")
        await flight.pilot.mouse_down(talk, offset=(3, row))
        await flight.pilot.hover(talk, offset=(6, row))
        await flight.pilot.mouse_up(talk, offset=(6, row))
        assert flight.app.screen.get_selected_text() == "bold"

    flown(tmp_path, fly)


def test_the_wheel_leaves_the_end_and_a_growing_answer_does_not_pull_back(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        lines = "".join(f"- item {number}\n" for number in range(200))
        await flight.send({"say": lines}, flight.go("a"), {"say": "- the last\n"})
        await flight.until(lambda: "• item 199" in flight.screen())
        await flight.pilot.press("pageup")
        before = flight.pane.talk.top
        flight.goes("a")
        await flight.sees("the last")
        assert flight.pane.talk.top == before
        flight.pane.talk.action_to_end()
        await flight.over()
        await flight.until(lambda: "the last" in flight.screen())

    flown(tmp_path, fly)


def test_avatars_in_tabs_and_the_strip_says_who_needs_you(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        first, second = flight.app.panes
        await flight.send({"say": "of the first"}, WRITE)
        await flight.pilot.press("ctrl+n")
        assert flight.pane is second
        await flight.until(lambda: first.picture.needs_you)
        strip = flight.app.query_one("#tabs", LinePane)
        await flight.until(lambda: "aria-1 needs you" in strip.shown)
        await flight.send({"say": "of the second"})
        await flight.sees("of the second")
        await flight.pilot.press("ctrl+n")
        assert flight.pane is first
        await flight.sees("of the first")

    flown(tmp_path, fly, avatars=2)


def test_keys_debug_themes_and_the_palette(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        for key, words in (("f1", "stop the turn and"), ("f12", "cancellable")):
            await flight.pilot.press(key)
            await flight.until(lambda: isinstance(flight.app.screen, Reader))
            reader = flight.app.screen
            assert isinstance(reader, Reader)
            await flight.until(partial(is_read, reader, words))
            await flight.pilot.press("escape")
        before = flight.app.look
        await flight.pilot.press("ctrl+t")
        await flight.until(lambda: flight.app.look is not before)
        titles = {command.title for command in flight.app.get_system_commands(flight.app.screen)}
        assert {"Provider…", "Sessions…", "Model or mode…", "Debug"} <= titles

    flown(tmp_path, fly)


def test_a_window_that_is_too_small_says_so_and_comes_back(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        await flight.send({"say": "many words " * 40})
        await flight.over()
        await flight.pilot.resize_terminal(30, 8)
        await flight.until(lambda: "40x10 at least" in flight.screen())
        await flight.pilot.resize_terminal(100, 30)
        await flight.until(lambda: "many words" in flight.screen())
        assert "40x10" not in flight.screen()

    flown(tmp_path, fly)


def test_nothing_is_laid_out_while_an_answer_grows(tmp_path: Path) -> None:
    async def fly(flight: Flight) -> None:
        pulse = {"every": 0.005, "count": 100_000, "text": "- an item of a list\n"}
        await flight.send({"tool": "Read", "result": "x"}, {"pulse": pulse})
        await flight.until(lambda: flight.pane.talk.top > 20)
        before = flight.layouts()
        top = flight.pane.talk.top
        await flight.until(lambda: flight.pane.talk.top > top + 60)
        assert flight.layouts() == before
        await flight.pilot.press("escape")
        await flight.over()

    flown(tmp_path, fly)


def test_one_agent_for_all_the_life_of_the_app(tmp_path: Path) -> None:
    """The engine that the app hands out is the one that runs; leaving stops it."""
    engines: list[AvatarEngine] = []

    async def fly(flight: Flight) -> None:
        engines.append(flight.pane.host.engine)
        await flight.send({"say": "x"})
        await flight.over()
        assert (await flight.pane.host.engine.run(Avatar.health)).is_healthy

    flown(tmp_path, fly)
    assert not engines[0].is_healthy()
