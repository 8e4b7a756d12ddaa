"""A shell completes commands, providers and sessions, by what `avatar completion` prints."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.programs import avatar
from tests.providers.stores.stores import CLAUDE
from tests.thorough import for_conformance


def completed(home: Path, words: str) -> list[str]:
    """What bash would be told for these words, the last of which is not finished."""
    env = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
    done = avatar(home, env={**env, "_AVATAR_COMPLETE": "bash_complete"})
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


def test_commands_providers_and_sessions_are_completed(tmp_path: Path) -> None:
    CLAUDE.keep(tmp_path, tmp_path, "1111-aaaa", "hello")
    assert completed(tmp_path, "avatar se") == ["session"]
    commands = ["delete", "fork", "list", "prune", "resume", "show"]
    assert completed(tmp_path, "avatar session ") == commands
    assert completed(tmp_path, "avatar chat -p c") == ["claude", "claude-agent-acp", "codex"]
    assert completed(tmp_path, "avatar session show 1") == ["1111-aaaa"]
    assert completed(tmp_path, "avatar chat --resume 1") == ["1111-aaaa"]


def test_what_cannot_be_told_is_not_completed(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("provider: [")
    assert completed(tmp_path, "avatar chat -c a.yaml -p c") == []


@pytest.mark.parametrize(
    "shell",
    [
        "bash",
        pytest.param("zsh", marks=for_conformance),
        pytest.param("fish", marks=for_conformance),
    ],
)
def test_what_is_printed_is_the_shells_own_language(tmp_path: Path, shell: str) -> None:
    script = avatar(tmp_path, "completion", shell).stdout
    assert "_AVATAR_COMPLETE" in script
    if program := shutil.which(shell):
        subprocess.run([program, "-n"], input=script, text=True, check=True, timeout=60)


def test_another_shell_is_refused_with_those_there_are(tmp_path: Path) -> None:
    done = avatar(tmp_path, "completion", "tcsh")
    assert done.returncode == 2
    assert "'bash', 'zsh', 'fish'" in done.stderr
