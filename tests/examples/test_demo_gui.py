"""The small app of the examples, by Textual's pilot and in a real terminal."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from examples.demo_gui.demo_gui import DemoApp
from tests.examples.programs import run, script
from tests.examples.terminal import PATIENCE, demo_in_terminal

CONFIG = Path(__file__).resolve().parents[2] / "examples/demo_gui/demo_gui_config.yaml"
LONG = script({"say": "[b]one"}, {"wait": 600})


@pytest.fixture(autouse=True)
def keep_conversations_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def piloted(fly: Callable[[DemoApp, Pilot[None]], Awaitable[None]]) -> None:
    async def main() -> None:
        app = DemoApp(CONFIG)
        async with asyncio.timeout(PATIENCE), app.run_test(size=(80, 24)) as pilot:
            await fly(app, pilot)

    asyncio.run(main())


async def until(pilot: Pilot[None], is_so: Callable[[], bool]) -> None:
    while not is_so():
        await pilot.pause(0.02)


def talk(app: DemoApp) -> list[str]:
    return [str(each.render()) for each in app.chat.query(Static).results(Static)]


async def send(app: DemoApp, pilot: Pilot[None], prompt: str) -> None:
    app.query_one(Input).value = prompt
    await pilot.press("enter")


def test_what_is_typed_is_answered_in_a_bubble() -> None:
    async def fly(app: DemoApp, pilot: Pilot[None]) -> None:
        await pilot.press(*"6*7", "enter")
        await until(pilot, lambda: talk(app) == ["> 6*7", "42"])
        assert app.query_one(Input).value == ""

    piloted(fly)


def test_the_figure_follows_and_escape_cancels_the_turn() -> None:
    async def fly(app: DemoApp, pilot: Pilot[None]) -> None:
        await send(app, pilot, LONG)
        await until(pilot, lambda: "[b]one" in talk(app))
        assert str(app.figure.render()) == "(◕o◕)\nresponding"
        await pilot.press("escape")
        await until(pilot, lambda: "[cancelled] interrupted" in talk(app))
        await until(pilot, lambda: str(app.figure.render()) == "(◕‿◕)\nidle")

    piloted(fly)


def test_a_key_answers_a_permission_and_the_tool_is_listed() -> None:
    async def fly(app: DemoApp, pilot: Pilot[None]) -> None:
        await send(app, pilot, script({"ask": "Write", "input": {"path": "a.txt"}}))
        await until(pilot, lambda: bool(app.ask.display))
        await pilot.press("y")
        await until(pilot, lambda: "[allowed]" in talk(app))
        await until(pilot, lambda: "✓ Write" in str(app.activities.render()))

    piloted(fly)


def test_in_a_terminal_it_answers_and_leaves_by_ctrl_q() -> None:
    with demo_in_terminal(program="examples.demo_gui") as app:
        app.read_until("Say something")
        app.press("6*7\r")
        app.read_until("42")
        app.press("\x11")
        assert app.read_to_end() == 0


def test_without_a_terminal_it_says_that_it_needs_one(tmp_path: Path) -> None:
    done = run(tmp_path, "demo_gui")
    assert done.stderr == "it draws on a terminal: run it in one\n"
    assert (done.stdout, done.returncode) == ("", 1)
