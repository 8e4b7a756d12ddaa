"""`avatar gui` on a real agent: started, asked, answered and left, as a person does it."""

from pathlib import Path

import trio

from tests.cli.terminal import ENTER, avatar_in_terminal
from tests.conformance.remains import leaving_nothing
from tests.model_api.script import Script, Text, Thinking
from tests.model_api.server import open_model_api
from tests.real_agents.subject import PATIENCE, Agent, lay_out
from tests.real_agents.suite.test_questions_in_terminal import configuration

CTRL_Q = "\x11"
SIZE = (120, 36)


def talk(place: Path, file: str) -> None:
    with avatar_in_terminal(place / "work", "gui", "-c", file, size=SIZE) as app:
        app.patience = PATIENCE
        app.wait_for("Say something")
        app.press(f"think{ENTER}")
        app.wait_for("▌ Decided.")
        app.wait_until(lambda: app.lines[0].endswith(("idle", "…")), "rest")
        app.press(CTRL_Q)
        assert app.wait() == 0
        assert app.is_as_before


async def test_a_person_talks_with_it_in_the_app(agent: Agent, tmp_path: Path) -> None:
    script: Script = [[Thinking("**Weighing** this and that"), Text("Decided.")]]
    lay_out(tmp_path)
    with trio.fail_after(PATIENCE), leaving_nothing():
        async with open_model_api(script) as api:
            await trio.to_thread.run_sync(talk, tmp_path, configuration(agent, api, tmp_path))
