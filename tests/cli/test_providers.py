"""`avatar providers` tells which agents can be used, and which would be taken."""

import json
from pathlib import Path
from typing import Any

from tests.cli.agents import log_in, path_with
from tests.cli.programs import avatar
from tests.cli.terminal import avatar_in_terminal

OWN = """
providers:
  parrot: {command: no-such-parrot, install: pip install parrot}
  far: {url: "wss://example.org/acp?token=a-secret", headers: {Authorization: Bearer a-secret}}
"""


def listed(home: Path, *arguments: str, env: dict[str, str]) -> dict[str, dict[str, Any]]:
    done = avatar(home, "providers", "--json", *arguments, env=env)
    assert done.returncode == 0, done.stderr
    return {each["name"]: each for each in map(json.loads, done.stdout.splitlines())}


def test_the_first_that_is_ready_would_be_taken(tmp_path: Path) -> None:
    env = {**path_with(tmp_path, claude="2.2.0", gemini="0.61.0"), "GEMINI_API_KEY": "a-secret"}
    found = listed(tmp_path, env=env)
    assert {name: each["state"] for name, each in found.items()} == {
        "acp": "not set up",
        "claude": "not signed in",
        "claude-agent-acp": "missing",
        "codex": "missing",
        "embedded": "ready",
        "gemini": "ready",
        "opencode": "missing",
        "qwen": "missing",
    }
    assert [name for name, each in found.items() if each["is_chosen"]] == ["gemini"]
    assert found["gemini"]["sign_in"]["by"] == "GEMINI_API_KEY"
    assert found["codex"]["advice"].startswith("Install it: npm install")
    log_in(tmp_path)
    after = listed(tmp_path, env=env)
    assert [name for name, each in after.items() if each["is_chosen"]] == ["claude"]
    assert str(tmp_path / "bin" / "claude") in after["claude"]["why"]
    assert "a-secret" not in str(found) + str(after)


def test_agents_of_the_configuration_are_listed_too(tmp_path: Path) -> None:
    (tmp_path / "my.yaml").write_text(f"provider: parrot\n{OWN}")
    found = listed(tmp_path, "-c", "my.yaml", env={})
    assert (found["parrot"]["state"], found["far"]["state"]) == ("missing", "elsewhere")
    assert found["parrot"]["advice"] == "Install it: pip install parrot"
    assert found["far"]["executable"] == "wss://example.org/acp"
    assert (found["parrot"]["is_chosen"], found["parrot"]["why"]) == (True, "as my.yaml says")


def test_into_a_pipe_it_is_an_aligned_table_without_colours(tmp_path: Path) -> None:
    done = avatar(tmp_path, "providers", env=path_with(tmp_path))
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["NAME", "WHAT", "IT", "IS", "PROGRAM", "STATE"]
    assert all(line[lines[0].index("WHAT") - 1] == " " for line in lines[:9])
    assert lines[10].startswith("* avatar chat would use embedded: no other agent is ready")
    assert "\x1b" not in done.stdout


def test_in_a_narrow_terminal_it_stays_readable(tmp_path: Path) -> None:
    with avatar_in_terminal(tmp_path, "providers", size=(40, 60)) as terminal:
        assert terminal.wait() == 0
        lines = terminal.lines
    assert "  what it is  Codex, by an ACP adapter" in lines
    assert "claude: Install it: npm install -g" in lines


def test_a_configuration_with_a_mistake_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "my.yaml").write_text("provider: cluade\n")
    done = avatar(tmp_path, "providers", "-c", "my.yaml")
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert line.startswith("avatar: my.yaml:1: provider: no provider 'cluade'")
