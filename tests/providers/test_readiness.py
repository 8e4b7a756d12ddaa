"""Which agents could be used at once is seen without running any of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from avatar_actors import AvatarOptions, SettingsError, SignedIn, ready_agents, see_agent
from tests.providers.test_lookup import program
from tests.session.test_launch import environment


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A PATH of one folder, and a home, for this process."""
    folder = tmp_path / "bin"
    folder.mkdir()
    own = dict.fromkeys(("CODEX_HOME", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), "")
    with environment(PATH=str(folder), HOME=str(tmp_path), CLAUDE_CONFIG_DIR="", **own):
        yield folder


def log_in(folder: Path, file: str) -> None:
    path = folder.parent / file
    path.parent.mkdir()
    path.write_text('{"token": "x"}')


def test_those_that_are_there_and_signed_in_come_in_order(folder: Path, tmp_path: Path) -> None:
    for name in ("codex-acp", "gemini", "claude"):
        program(folder, name, f"touch {tmp_path}/was-run")
    assert list(ready_agents()) == []
    log_in(folder, ".codex/auth.json")
    log_in(folder, ".claude/.credentials.json")
    assert [each.name for each in ready_agents()] == ["claude", "codex"]
    (folder / "claude").unlink()
    assert [(each.name, each.path) for each in ready_agents()] == [
        ("codex", str(folder / "codex-acp"))
    ]
    assert not (tmp_path / "was-run").exists()


def test_settings_say_which_program_it_is_and_give_it_its_key(folder: Path) -> None:
    program(folder, "my-gemini")
    settings: dict[str, AvatarOptions] = {
        "gemini": {"executable": "my-gemini", "env": {"GEMINI_API_KEY": "k"}}
    }
    [found] = ready_agents(settings)
    assert (found.name, found.path) == ("gemini", str(folder / "my-gemini"))


def test_what_is_seen_of_an_agent_tells_what_to_do(folder: Path) -> None:
    missing = see_agent("claude")
    assert (missing.is_ready, missing.path) == (False, "")
    assert missing.advice == "Install it: npm install -g @anthropic-ai/claude-code@latest"
    program(folder, "claude")
    signed_out = see_agent("claude")
    assert (signed_out.is_ready, signed_out.advice) == (False, "")
    assert "log in, or set ANTHROPIC_API_KEY" in signed_out.sign_in.advice
    assert see_agent("claude", env={"ANTHROPIC_API_KEY": "k"}).is_ready


def test_of_an_agent_elsewhere_nothing_is_seen_but_its_address(folder: Path) -> None:
    found = see_agent("acp", url="wss://example.org/acp?token=secret")
    assert (found.executable, found.path) == ("wss://example.org/acp", "")
    assert found.sign_in.verdict is SignedIn.UNKNOWN
    with pytest.raises(SettingsError, match="needs a command or an address"):
        see_agent("acp")


def test_headless_gemini_is_looked_for_by_its_own_command(folder: Path) -> None:
    assert see_agent("gemini", options={"headless": "true"}).executable == "gemini"
