"""`avatar chaos` as people start it: what it says, writes and ends with."""

import io
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from avatar_actors.chaos import ChaosOptions, FaultKind, RunProgress, report_from_json
from avatar_actors.cli.chaos import picture
from avatar_actors.cli.commands import run
from avatar_actors.programs.warden.process_tree import descendants
from tests.thorough import for_conformance

LIMIT = 180


def program(*arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "bench.chaos", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--faults", "earthquake"], "earthquake"),
        (["--avatars", "0"], "--avatars"),
        (["--json", "/no/such/directory/x.json"], "is not a directory"),
        (["--replay", "/no/such/report.json"], "is no report of chaos"),
        (["--provider", "claud"], "claud"),
        (["--provider", "claude", "--faults", "hang"], "claude plays no scripts"),
    ],
)
def test_what_cannot_work_is_one_line_before_anything_is_started(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["chaos", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert words in said.err
    assert said.err.count("\n") == 1


def test_an_agent_that_is_not_there_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "avatar.yaml"
    config.write_text("providers:\n  ghost:\n    command: no-such-agent\n")
    assert run(["chaos", "--provider", "ghost", "--config", str(config)]) == 3
    said = capsys.readouterr()
    assert said.out == ""
    assert "'no-such-agent' was not found" in said.err.splitlines()[-1]


# An ACP agent that starts, and answers every prompt as one whose user is not signed in.
SIGNED_OUT = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answers = {"initialize": {"protocolVersion": 1}, "session/new": {"sessionId": "s"}}
    if asked["method"] in answers:
        said = {"result": answers[asked["method"]]}
    else:
        said = {"error": {"code": -32603, "message": "Please run /login"}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}), flush=True)
"""


def test_an_agent_that_answers_no_question_is_one_line_before_any_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent, config, report = (tmp_path / name for name in ("agent.py", "avatar.yaml", "report.json"))
    agent.write_text(SIGNED_OUT)
    config.write_text(f"providers:\n  out:\n    command: {sys.executable}\n    args: [{agent}]\n")
    named = ["--provider", "out", "--config", str(config), "--json", str(report)]
    assert run(["chaos", *named]) == 3
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines()[-1] == (
        "avatar: a first question was not answered: Please run /login"
    )
    assert "faults:" not in said.err
    assert not report.exists()


@for_conformance
def test_ctrl_c_leaves_a_partial_report_and_nobody(tmp_path: Path) -> None:
    file, html = tmp_path / "report.json", tmp_path / "report.html"
    options = ("--avatars", "2", "--seconds", "120", "--every", "0.3", "--seed", "5")
    with program(*options, "--json", str(file), "--html", str(html)) as chaos:
        assert chaos.stderr is not None
        line = ""
        while not re.match(r"faults: .*, [1-9]\d* of \d+ faults", line):
            line = chaos.stderr.readline()
            assert line
        below = descendants(chaos.pid)
        chaos.send_signal(signal.SIGINT)
        out, err = chaos.communicate(timeout=LIMIT)
    assert chaos.returncode == 130, (out, err)
    assert below
    report = report_from_json(file)
    assert not report.is_complete
    assert all(promise.is_kept for promise in report.promises), out
    assert 0 < len(report.faults) < len(report.schedule)
    assert "interrupted" in out
    assert html.read_text().startswith("<!doctype html>")


def test_what_a_person_watches_fits_a_narrow_terminal() -> None:
    screen = io.StringIO()
    console = Console(file=screen, width=60, height=20, color_system=None)
    progress = RunProgress(
        phase="faults",
        seconds=5,
        total=60,
        faults=7,
        planned=90,
        missed=1,
        last="\x1b[2Jtool " * 20,
    )
    console.print(picture(ChaosOptions(), progress))
    shown = screen.getvalue()
    assert "7 of 90" in shown
    assert "1 did not land" in shown
    assert "\x1b[2J" not in shown


@for_conformance
def test_every_kind_lands_and_a_replay_comes_to_the_same(tmp_path: Path) -> None:
    file, html = tmp_path / "report.json", tmp_path / "report.html"
    with program("--quick", "--json", str(file), "--html", str(html)) as chaos:
        out, err = chaos.communicate(timeout=600)
    assert chaos.returncode == 0, (out, err)
    report = report_from_json(file)
    assert {fault.kind for fault in report.faults} == set(FaultKind)
    assert all(fault.is_landed for fault in report.faults)
    with program("--replay", str(file)) as chaos:
        out, err = chaos.communicate(timeout=600)
    assert chaos.returncode == 0, (out, err)
    assert "the same verdict on every promise" in out
