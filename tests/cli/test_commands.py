"""The command line as a whole: what it says of itself, and how every command ends."""

import os
import subprocess
from pathlib import Path

import pytest

from avatar_actors.cli.commands import COMMANDS
from tests.cli.programs import PATIENCE, avatar, command, environment


def test_help_names_every_command(tmp_path: Path) -> None:
    done = avatar(tmp_path, "--help")
    assert done.returncode == 0
    assert all(name in done.stdout for name in COMMANDS)


def test_an_unknown_command_is_answered_with_the_nearest(tmp_path: Path) -> None:
    done = avatar(tmp_path, "chta")
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean 'chat'?" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--bogus", "avatar: no option --bogus (see: avatar chat --help)\n"),
        (
            "--verbos",
            "avatar: no option --verbos; did you mean --verbose? (see: avatar chat --help)\n",
        ),
    ],
)
def test_an_unknown_option_is_answered_with_the_nearest_if_one_is_near(
    tmp_path: Path, option: str, message: str
) -> None:
    done = avatar(tmp_path, "chat", option, "hi")
    assert (done.returncode, done.stderr) == (2, message)


@pytest.mark.parametrize("words", [["--help"], ["version"]], ids=str)
def test_output_that_nobody_reads_ends_it_in_silence(tmp_path: Path, words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        command(*words),
        env=environment(tmp_path),
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=PATIENCE,
        check=False,
    )
    os.close(writer)
    assert done.returncode == 141
    assert done.stderr == b""
