"""The programs as people and CI start them: smallest form, each in a process of its own."""

import json
import signal
import subprocess
import sys

import pytest

from bench import savina, supervision
from bench.contest import Bench
from bench.report import short_name
from tests.thorough import for_conformance

BENCHES = {"bench.savina": savina.BENCHES, "bench.supervision": supervision.BENCHES}
PROGRAMS = pytest.mark.parametrize("program", BENCHES)
KEYS = ["bench", "value", "unit", "ratio", "against", "n", "rounds"]


def run(program: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", program, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def opponents(benches: list[Bench]) -> set[tuple[str, str]]:
    return {(each.name, who) for each in benches for who in each.programs if who != "supervisors"}


@PROGRAMS
@for_conformance
def test_json_has_one_object_per_figure_and_nothing_else(program: str) -> None:
    done = run(program, "--quick", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    figures = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(list(figure) == KEYS for figure in figures)
    assert all(figure["value"] > 0 and figure["ratio"] > 0 for figure in figures)
    assert {(each["bench"], each["against"]) for each in figures} == opponents(BENCHES[program])
    assert len(figures) == len(opponents(BENCHES[program]))


@PROGRAMS
@for_conformance
def test_table_has_a_row_per_bench_and_fits_100_columns(program: str) -> None:
    wanted = [short_name(bench) for bench in BENCHES[program][:2]]
    done = run(program, "--quick", "--only", wanted[1], "--only", wanted[0])
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    rows = [line.split()[0] for line in lines if " us " in line]
    assert rows == wanted
    assert max(map(len, lines)) <= 100
    assert "All bounds are met" in done.stdout or "NOT met" in done.stdout


@PROGRAMS
def test_unknown_name_is_refused_with_the_list_of_those_there_are(program: str) -> None:
    done = run(program, "--only", "nonsense")
    assert (done.returncode, done.stdout) == (2, "")
    assert "invalid choice: 'nonsense'" in done.stderr
    assert all(short_name(bench) in done.stderr for bench in BENCHES[program])


@pytest.mark.parametrize("arguments", [["--quik"], ["--only"]])
def test_wrong_arguments_are_refused(arguments: list[str]) -> None:
    done = run("bench.savina", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage: python -m bench.savina" in done.stderr


@PROGRAMS
def test_help_says_what_each_bench_is(program: str) -> None:
    done = run(program, "--help")
    assert done.returncode == 0
    assert all(bench.about in done.stdout for bench in BENCHES[program])


@pytest.mark.parametrize("name", ["counting", "fork_join_create", "ask"])
def test_ctrl_c_ends_it_with_a_word_and_130(name: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "bench.savina", "--only", name],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("bench "):
                break
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert (process.returncode, said.strip()) == (130, "interrupted")
