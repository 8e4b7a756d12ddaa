"""Agents are looked for as a launch would, and are asked for their version."""

import os
import time
from pathlib import Path

import pytest

from avatar_actors import SettingsError, acp_provider, find_agent
from avatar_actors.providers.lookup import is_older, version_in
from avatar_actors.providers.registry import provider_named


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def program(folder: Path, name: str, *lines: str) -> Path:
    path = folder / name
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return path


def path_with(folder: Path) -> dict[str, str]:
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def test_a_version_that_is_new_enough_is_supported(folder: Path) -> None:
    path = program(folder, "claude", 'echo "2.1.325 (Claude Code)"')
    found = find_agent("claude", env=path_with(folder))
    assert (found.name, found.executable, found.path) == ("claude", "claude", str(path))
    assert (found.version, found.is_supported, found.advice) == ("2.1.325", True, "")


@pytest.mark.parametrize(
    ("provider", "command", "says", "least"),
    [
        ("claude", "claude", "2.0.99 (Claude Code)", "2.1.197"),
        ("gemini", "gemini", "0.9.0", "0.61.0"),
        ("codex", "codex-acp", "@agentclientprotocol/codex-acp 2.5.9", "2.6.0"),
        ("codex", "codex-acp", "codex-acp 0.15.0", "0.16.0"),
    ],
)
def test_a_version_that_is_too_old_is_not(
    folder: Path, provider: str, command: str, says: str, least: str
) -> None:
    program(folder, command, f'echo "{says}"')
    found = find_agent(provider, env=path_with(folder))
    assert not found.is_supported
    assert f"older than {least}" in found.advice
    assert found.install in found.advice


def test_a_missing_agent_comes_with_the_way_to_install_it(folder: Path) -> None:
    found = find_agent("gemini", executable="no-such-gemini", env={"PATH": str(folder)})
    assert (found.path, found.version, found.is_supported) == ("", "", False)
    assert found.advice == "Install it: npm install -g @google/gemini-cli"
    stranger = find_agent(acp_provider("stranger", ("no-such-stranger",)))
    assert stranger.advice == "'no-such-stranger' was not found"


def test_the_embedded_agent_is_always_there() -> None:
    found = find_agent("embedded")
    assert (found.is_supported, found.advice) == (True, "")
    assert found.version


@pytest.mark.parametrize(
    ("name", "meant"), [("cluade", "claude"), ("Gemini", "gemini"), ("codx", "codex")]
)
def test_a_misspelt_provider_is_answered_with_the_right_one(name: str, meant: str) -> None:
    with pytest.raises(SettingsError, match=f"did you mean '{meant}'"):
        find_agent(name)
    with pytest.raises(SettingsError, match=r"there are: acp, claude, claude-agent-acp, .+, qwen$"):
        provider_named("xyz")


def test_acp_needs_a_command() -> None:
    with pytest.raises(SettingsError, match="executable"):
        find_agent("acp")


def test_it_is_asked_in_a_home_of_its_own(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "env"
    program(
        folder, "claude", f"env > {out}", "pwd >> " + str(out), "touch $HOME/left", "echo 2.2.0"
    )
    env = {**path_with(folder), "ANTHROPIC_API_KEY": "secret", "HOME": str(tmp_path)}
    assert find_agent("claude", env=env).version == "2.2.0"
    seen = out.read_text()
    assert "secret" not in seen
    [home] = [line for line in seen.splitlines() if line.startswith("HOME=")]
    assert home != f"HOME={tmp_path}"
    assert not Path(home.removeprefix("HOME=")).exists()
    assert not (tmp_path / "left").exists()


@pytest.mark.parametrize(
    "lines", [("exit 3",), ("echo no version here",), ("echo 7.7 >&2",), ("kill -9 $$",)]
)
def test_who_tells_no_version_is_there_all_the_same(folder: Path, lines: tuple[str, ...]) -> None:
    program(folder, "claude", *lines)
    found = find_agent("claude", env=path_with(folder))
    assert (found.version, found.is_supported) == ("", True)
    assert found.advice == "It did not tell its version."


def test_a_file_that_is_no_program_tells_no_version(folder: Path) -> None:
    (folder / "claude").write_bytes(b"\x7fELF nonsense")
    (folder / "claude").chmod(0o755)
    assert find_agent("claude", env=path_with(folder)).version == ""


def test_who_never_ends_is_ended_with_all_that_it_started(folder: Path, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    flood = "while :; do echo 1234567890; done"
    program(folder, "claude", "sleep 600 &", f"echo $! > {pid}", "echo 2.2.0", flood)
    began = time.monotonic()
    assert find_agent("claude", env=path_with(folder)).version == "2.2.0"
    assert time.monotonic() - began < 15

    def is_gone() -> bool:
        state = Path(f"/proc/{pid.read_text().strip()}/stat")
        return not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"

    deadline = time.monotonic() + 30
    while not is_gone() and time.monotonic() < deadline:
        os.sched_yield()
    assert is_gone()


@pytest.mark.parametrize(
    ("version", "least", "expected"),
    [
        ("2.1.9", "2.1.10", "older"),
        ("2.1.10", "2.1.10", "new enough"),
        ("2.2", "2.1.10", "new enough"),
        ("2.1", "2.1.10", "older"),
        ("v10.0.0-beta.1", "9.9.9", "new enough"),
        ("unknown", "9.9.9", "new enough"),
        ("", "1.0", "new enough"),
    ],
)
def test_versions_are_compared_by_their_numbers(version: str, least: str, expected: str) -> None:
    assert ("older" if is_older(version, least) else "new enough") == expected


def test_a_version_is_found_in_words() -> None:
    assert version_in("codex-acp 2.6.0 (linux)") == "2.6.0"
    assert version_in("version 7") == ""
