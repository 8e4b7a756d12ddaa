"""Gemini's headless mode: one prompt, one turn, an exit code."""

import json
import subprocess
from dataclasses import dataclass

import pytest
import trio

from avatar_actors.programs.embedded.json_lines import Record, record_in, text_in
from tests.programs.embedded.driver import (
    GEMINI,
    Claude,
    Place,
    Steps,
    is_type,
    open_process,
    script,
)


@dataclass
class Run:
    code: int
    events: list[Record]

    @property
    def text(self) -> str:
        said = [event for event in self.events if event.get("role") == "assistant"]
        return "".join(text_in(event, "content") for event in said)


async def run(
    place: Place, prompt: str | Steps, *flags: str, env: dict[str, str] | None = None
) -> Run:
    text = prompt if isinstance(prompt, str) else script(prompt)
    done = await trio.run_process(
        [*GEMINI, *flags, "-p", text],
        stdin=subprocess.DEVNULL,
        capture_stdout=True,
        check=False,
        cwd=place.cwd,
        env=place.environment(env or {}),
    )
    return Run(done.returncode, [json.loads(line) for line in done.stdout.splitlines()])


async def test_a_turn_is_told_and_the_program_ends(place: Place) -> None:
    steps: Steps = [{"think": "dropped"}, {"say": "hi", "chunks": 2}, {"tool": "X", "result": "r"}]
    done = await run(place, steps)
    kinds = [event["type"] for event in done.events]
    assert kinds == [
        *("init", "message", "message", "message", "tool_use", "tool_result", "result"),
    ]
    assert (done.code, done.text) == (0, "hi")


@pytest.mark.parametrize(("code", "exit_code"), [(400, 144), (401, 145), (-32602, 1)])
async def test_an_error_has_the_exit_code_of_its_status(
    place: Place, code: int, exit_code: int
) -> None:
    done = await run(place, [{"error": {"code": code, "message": "no"}}])
    assert done.code == exit_code
    assert done.events[-1]["status"] == "error"


async def test_a_bad_script_is_an_error(place: Place) -> None:
    done = await run(place, [{"nope": 1}])
    assert "unknown step" in text_in(record_in(done.events[-1], "error"), "message")


@pytest.mark.parametrize(
    ("flags", "said"),
    [([], "[denied]"), (["--yolo"], "[allowed]"), (["--approval-mode", "yolo"], "[allowed]")],
)
async def test_nobody_is_asked(place: Place, flags: list[str], said: str) -> None:
    assert (await run(place, [{"ask": "run_shell_command"}], *flags)).text == said


@pytest.mark.parametrize("which", ["abc-1", "latest", "1"])
async def test_a_session_is_resumed(place: Place, which: str) -> None:
    await run(place, [{"say": "remember"}], "--session-id", "abc-1")
    done = await run(place, [{"echo": "history"}], "--resume", which)
    assert "remember" in done.text
    assert done.events[0]["session_id"] == "abc-1"


@pytest.mark.parametrize("env", [{}, {"AVATAR_EMBEDDED_START": '[{"lose_sessions": true}]'}])
async def test_an_unknown_session_is_refused(place: Place, env: dict[str, str]) -> None:
    if env:
        await run(place, [{"say": "x"}], "--session-id", "nope")
    done = await run(place, "x", "--resume", "nope", env=env)
    assert (done.code, done.events) == (42, [])


async def test_a_missing_login_ends_with_41(place: Place) -> None:
    done = await run(place, "x", env={"AVATAR_EMBEDDED_START": '[{"auth": true}]'})
    assert (done.code, done.events) == (41, [])


async def test_sigterm_ends_it_with_0_and_without_a_result(place: Place) -> None:
    flags = [*GEMINI, "-p", script([{"say": "go"}, {"tool": "Bash", "seconds": 60}])]
    async with open_process(place, flags) as process:
        agent = Claude(process, place)
        await agent.until(is_type("tool_use"))
        process.terminate()
        assert await process.wait() == 0
        assert await agent.line() is None


async def test_the_model_and_the_system_prompt_arrive(place: Place) -> None:
    system = place.folder / "system.md"
    system.write_text("Be brief.")
    env = {"GEMINI_SYSTEM_MD": str(system)}
    done = await run(place, [{"echo": "system"}, {"echo": "model"}], "-m", "gem-9", env=env)
    assert done.text == "Be brief.gem-9"
    assert done.events[0]["model"] == "gem-9"


async def test_late_steps_are_played_before_the_end(place: Place) -> None:
    done = await run(place, [{"say": "a"}, {"late": [{"say": "b"}]}])
    assert [event["type"] for event in done.events[-2:]] == ["result", "message"]
