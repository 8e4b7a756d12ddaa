"""The Textual app of the examples, by Textual's pilot and in a real terminal."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from examples.textual_app import AvatarApp
from tests.examples.programs import run, script
from tests.examples.terminal import PATIENCE, demo_in_terminal

LONG = script({"say": "[b]one"}, {"wait": 600})


@pytest.fixture(autouse=True)
def keep_conversations_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def piloted(fly: Callable[[AvatarApp, Pilot[None]], Awaitable[None]]) -> None:
    async def main() -> None:
        app = AvatarApp()
        async with asyncio.timeout(PATIENCE), app.run_test(size=(80, 24)) as pilot:
            await fly(app, pilot)

    asyncio.run(main())


async def until(pilot: Pilot[None], is_so: Callable[[], bool]) -> None:
    while not is_so():
        await pilot.pause()


def talk(app: AvatarApp) -> list[str]:
    return [str(each.render()) for each in app.query("#talk Static").results(Static)]


async def send(app: AvatarApp, pilot: Pilot[None], prompt: str) -> None:
    app.query_one(Input).value = prompt
    await pilot.press("enter")


def test_what_is_typed_is_answered_in_a_bubble() -> None:
    async def fly(app: AvatarApp, pilot: Pilot[None]) -> None:
        await pilot.press(*"6*7", "enter")
        await until(pilot, lambda: talk(app) == ["> 6*7", "42"])
        await until(pilot, lambda: app.sent is None)
        assert app.query_one(Input).value == ""

    piloted(fly)


def test_escape_cancels_the_turn_and_the_next_is_answered() -> None:
    async def fly(app: AvatarApp, pilot: Pilot[None]) -> None:
        await send(app, pilot, LONG)
        await until(pilot, lambda: app.said == "[b]one")
        await pilot.press("escape")
        await until(pilot, lambda: app.sent is None)
        assert talk(app)[1:] == ["[b]one", "[cancelled] cancelled"]
        await send(app, pilot, "1+1")
        await until(pilot, lambda: talk(app)[-1] == "2")

    piloted(fly)


def test_the_status_line_follows_the_avatar() -> None:
    async def fly(app: AvatarApp, pilot: Pilot[None]) -> None:
        status = app.query_one("#status", Static)
        assert str(status.render()) == "idle"
        await send(app, pilot, LONG)
        await until(pilot, lambda: str(status.render()) == "responding")
        await pilot.press("escape")
        await until(pilot, lambda: str(status.render()) == "idle")

    piloted(fly)


def test_a_closed_app_leaves_no_handler_that_the_engine_would_wait_for() -> None:
    apps: list[AvatarApp] = []

    async def fly(app: AvatarApp, pilot: Pilot[None]) -> None:
        apps.append(app)
        await send(app, pilot, script({"pulse": {"every": 0.01, "count": 100_000, "text": "x"}}))
        await until(pilot, lambda: "x" in app.said)

    piloted(fly)
    assert asyncio.run(apps[0].avatar.flush(0.1))
    assert not apps[0].avatar.is_healthy()


def test_in_a_terminal_it_answers_and_leaves_by_ctrl_q() -> None:
    with demo_in_terminal(program="examples.textual_app") as app:
        app.read_until("Say something")
        app.press("6*7\r")
        app.read_until("42")
        app.press("\x11")
        assert app.read_to_end() == 0


def test_without_a_terminal_it_says_that_it_needs_one(tmp_path: Path) -> None:
    done = run(tmp_path, "textual_app")
    assert done.stderr == "it draws on a terminal: run it in one\n"
    assert (done.stdout, done.returncode) == ("", 1)
