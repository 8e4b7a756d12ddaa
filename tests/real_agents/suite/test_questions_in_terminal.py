"""Questions of the model to a person at a terminal: answered in `avatar chat` and in the REPL."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import trio

from tests.cli.terminal import ENTER, Terminal, avatar_in_terminal
from tests.conformance.remains import leaving_nothing
from tests.model_api.script import AskUser, Text, by_prompt
from tests.model_api.server import ModelApi, open_model_api
from tests.real_agents.ability import Ability, Found
from tests.real_agents.conftest import Finds
from tests.real_agents.subject import PATIENCE, Agent, lay_out, options_of
from tests.real_agents.suite.test_questions import ASK_THE_USER, QUESTION

HINT = "or your own words, then Enter; Esc declines"
SIZE = (100, 40)
CTRL_D = "\x04"


def configuration(agent: Agent, api: ModelApi, place: Path) -> str:
    """A file by which the command line runs this agent on the loopback model."""
    options = options_of(agent, api, place)
    section = {
        "executable": options.get("executable", ""),
        "args": options.get("args", ()),
        "env": options.get("env", {}),
        **{k: int(v) if v.isdigit() else v for k, v in options.get("options", {}).items()},
    }
    if agent.name == "codex-acp":  # else it asks only in its collaboration mode "plan"
        with (place / "home" / ".codex" / "config.toml").open("a") as settings:
            settings.write("\n[features]\ndefault_mode_request_user_input = true\n")
    path = place / "work" / "avatar.json"
    unhurried = {"priority": "normal", "timeouts": {"start": PATIENCE}}
    file = {"provider": agent.provider, "engine": unhurried, agent.provider: section}
    path.write_bytes(msgspec.json.encode(file))
    return path.name


def answer_on_the_line(terminal: Terminal, answer: str) -> None:
    terminal.wait_until(lambda: HINT in terminal.text and QUESTION in terminal.text, "question")
    terminal.press(answer)
    terminal.wait_until(
        lambda: f"{answer}_" in terminal.text or f"> {answer}" in terminal.lines, ""
    )
    terminal.press(ENTER)


def chat(place: Path, file: str) -> None:
    prompt = ("chat", "-c", file, "make it")
    with avatar_in_terminal(place / "work", *prompt, size=SIZE) as terminal:
        terminal.patience = PATIENCE
        answer_on_the_line(terminal, "2")
        assert terminal.wait() == 0
        assert "Well then." in terminal.text


def repl(place: Path, file: str) -> None:
    with avatar_in_terminal(place / "work", "repl", "-c", file, size=SIZE) as terminal:
        terminal.patience = PATIENCE
        terminal.wait_for("/help shows the commands")
        terminal.press(f"make it{ENTER}")
        answer_on_the_line(terminal, "2")
        terminal.wait_for("Well then.")
        terminal.press(CTRL_D)
        assert terminal.wait() == 0


@pytest.mark.ability(Ability.QUESTION_IN_TERMINAL)
async def test_a_person_answers_the_model_in_chat_and_in_the_repl(
    agent: Agent, finds: Finds, tmp_path: Path
) -> None:
    if agent.name not in ASK_THE_USER:
        finds(Found.NOT_OFFERED)  # asserted in test_questions
        return
    lay_out(tmp_path)
    plays: list[Callable[[Path, str], None]] = [chat, repl]
    for play in plays:
        script = by_prompt(
            {"make it": [[AskUser(QUESTION, ("red", "blue"))], [Text("Well then.")]]}
        )
        with trio.fail_after(PATIENCE), leaving_nothing():
            async with open_model_api(script) as api:
                file = configuration(agent, api, tmp_path)
                await trio.to_thread.run_sync(play, tmp_path, file)
                told = [result.text for result in api.main_requests[-1].tool_results]
        assert "blue" in told[-1]
    finds(Found.WORKS)
