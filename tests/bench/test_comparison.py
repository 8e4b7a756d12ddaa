"""The comparison: how rounds become cells, cells a table, and that real processes are found."""

import asyncio
import json
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from bench.comparison.contestants import ACP_SDK, AVATAR_ACTORS, AVATAR_ENGINE, WIRES, Contestant
from bench.comparison.installed import NotInstalled, cache_root, python_for
from bench.comparison.remains import end, everybody, settled, watch
from bench.comparison.rounds import PLANS, Entrant, Results, contest
from bench.comparison.rows import Cell, lines
from bench.comparison.table import (
    BEGIN,
    END,
    NoMarkers,
    between_markers,
    json_lines,
    markdown,
    text_table,
)
from bench.comparison.work.interface import Came
from bench.comparison.work.on_asyncio import OnAsyncio
from bench.comparison.work.playbook import Stage, answers
from bench.comparison.worker import Failed, Found, Work
from bench.contest import Scale
from bench.measure import Spread
from tests.thorough import for_conformance

ENTRANTS = [Entrant(AVATAR_ACTORS, "python"), Entrant(ACP_SDK, "python")]
STREAM = {"start": 300.0, "first_event": 2.0, "throughput": 50_000.0, "cpu": 5.0, "arrived": 100.0}
CRASHED = {"told": "crashed", "outcome": 3.0, "recovery": 90.0, "why": ""}
FOUND: dict[str, Found] = {
    "stream": STREAM,
    "memory": {"start_more": 80.0, "memory_host": 100.0, "memory_all": 1400.0},
    "kill": CRASHED,
    "calls": {"right": 8, "mixed": 0, "incomplete": 0, "errors": 0},
    "host_killed": {"left": 0, "were": 8, "gone": 19.0},
    "closed": {"close": 50.0, "left": 0, "were": 8},
}


def results(theirs: Mapping[str, Found | Failed]) -> Results:
    """Ours as above; theirs the same but for what is given."""

    def play(work: Work) -> Found | Failed:
        is_ours = work.contestant is AVATAR_ACTORS
        return FOUND[work.task] if is_ours else theirs.get(work.task, FOUND[work.task])

    return contest("acp", ENTRANTS, Scale.QUICK, play, lambda _: None)


def cell(made: Results, title: str, name: str = "ACP SDK") -> Cell:
    return next(line for line in lines(made) if line.row.title.startswith(title)).cells[name]


def test_rounds_alternate_and_each_begins_with_another_contestant() -> None:
    played: list[str] = []

    def play(work: Work) -> Found:
        if work.task == "stream":
            played.append(work.contestant.name)
        return FOUND[work.task]

    contest("acp", ENTRANTS, Scale.QUICK, play, lambda _: None)
    ours, theirs = "avatar-actors", "ACP SDK"
    assert played == [ours, theirs, theirs, ours, ours, theirs]


def test_who_never_tells_is_asked_twice_and_no_more() -> None:
    asked: list[str] = []

    def play(work: Work) -> Found:
        if work.task != "kill" or work.contestant is AVATAR_ACTORS:
            return FOUND[work.task]
        asked.append(work.contestant.name)
        return {"told": "never", "outcome": 10_000.0, "recovery": None, "why": "no answer"}

    made = contest("acp", ENTRANTS, Scale.FULL, play, lambda _: None)
    assert len(asked) == 2
    assert cell(made, "agent killed: the caller").text == "never (> 10 s)"
    assert cell(made, "agent killed: the caller").ratio is None
    assert cell(made, "agent killed: next").text == "no: no answer"


def test_contestant_that_is_not_installed_has_the_reason_in_every_cell() -> None:
    absent = Entrant(AVATAR_ENGINE, "", "could not be installed: ERROR: no network")
    entrants = [ENTRANTS[0], absent]
    made = contest("acp", entrants, Scale.QUICK, lambda work: FOUND[work.task], lambda _: None)
    texts = {line.cells["avatar-engine"].text for line in lines(made)}
    assert texts == {"n/a: could not be installed: ERROR: no network"}


def test_figure_is_the_median_and_its_ratio_is_taken_within_each_round() -> None:
    made = results({})
    for number, (ours, theirs) in enumerate([(1.0, 10.0), (20.0, 20.0), (3.0, 1.0)]):
        made.add("stream", "avatar-actors", number, {**STREAM, "cpu": ours})
        made.add("stream", "ACP SDK", number, {**STREAM, "cpu": theirs})
    found = cell(made, "CPU of the host")
    assert found == Cell("10.0 µs", 10.0, Spread(1.0, 0.1, 3.0))
    assert cell(made, "CPU of the host", "avatar-actors").is_best


def test_no_figure_of_a_contestant_is_best_when_all_are_the_same() -> None:
    assert not any(each.is_best for line in lines(results({})) for each in line.cells.values())


def test_failed_work_gives_the_reason_and_no_number() -> None:
    found = cell(results({"memory": Failed("OSError: too many")}), "memory of the host")
    assert found == Cell("n/a: OSError: too many")


def test_recovery_in_some_rounds_says_in_how_many_and_what_else_came() -> None:
    made = results({})
    lost = {**CRASHED, "recovery": None, "why": "answered ''"}
    for number, found in enumerate([CRASHED, lost, lost]):
        made.add("kill", "ACP SDK", number, found)
    text = cell(made, "agent killed: next").text
    assert text == "90.0 ms in 1 of 3 rounds, else no: answered ''"


@pytest.mark.parametrize(
    ("told", "text"),
    [
        ("ConnectionError: closed", "3.00 ms, ConnectionError: closed"),
        ("", "3.00 ms, as if it were complete"),
    ],
)
def test_outcome_says_how_the_caller_heard_of_it(told: str, text: str) -> None:
    made = results({"kill": {**CRASHED, "told": told}})
    assert cell(made, "agent killed: the caller").text == text


def test_turn_that_ends_as_if_complete_is_never_the_best() -> None:
    made = results({"kill": {**CRASHED, "told": "", "outcome": 0.1}})
    found = cell(made, "agent killed: the caller")
    assert (found.value, found.ratio, found.is_best) == (None, None, False)


def test_calls_are_counted_by_what_became_of_them() -> None:
    wrong = {"right": 1, "mixed": 5, "incomplete": 2, "errors": 0, "apart": 8}
    found = cell(results({"calls": wrong}), "calls at once")
    assert found.text == "1 of 8 right, 5 mixed, 2 incomplete; with a session each 8 right"
    assert cell(results({"calls": wrong}), "calls at once", "avatar-actors").is_best


def test_processes_that_are_left_are_counted() -> None:
    made = results({"host_killed": {"left": 3, "were": 5, "gone": 20.0}})
    assert cell(made, "processes left after kill -9").text == "3 of 5"
    assert (
        cell(made, "processes left after kill -9", "avatar-actors").text
        == "0 of 8, gone in 19.0 ms"
    )


def test_text_that_was_lost_or_doubled_is_told_with_its_range() -> None:
    made = results({})
    for number, percent in enumerate([64.8, 97.3, 200.0]):
        made.add("stream", "ACP SDK", number, {**STREAM, "arrived": percent})
    assert cell(made, "text that had come").text == "64.8–200 %"


def test_json_has_the_keys_of_the_other_programs_and_both_cells() -> None:
    objects = [json.loads(line) for line in json_lines(results({"memory": Failed("why")}))]
    assert all(
        list(each)
        == [
            *("bench", "value", "unit", "ratio", "against", "n", "rounds"),
            *("theirs", "ours_said", "theirs_said"),
        ]
        for each in objects
    )
    assert len({each["bench"] for each in objects}) == len(objects) == 14
    start = next(each for each in objects if each["bench"] == "compare.acp_memory_start_more")
    assert (start["value"], start["ratio"], start["theirs_said"]) == (80.0, None, "n/a: why")


def test_table_for_a_terminal_fits_100_columns() -> None:
    kill = {**CRASHED, "told": "ProcessError: Command failed with exit code -9 (exit code: -9)"}
    names = [each.name for each in WIRES["claude"]]
    entrants = [Entrant(each, "python") for each in WIRES["claude"]]
    made = contest(
        "claude", entrants, Scale.QUICK, lambda work: {**FOUND, "kill": kill}[work.task], print
    )
    shown = text_table(made).splitlines()
    assert max(map(len, shown)) <= 100
    assert shown[2].split() == names


def test_page_keeps_everything_but_what_stands_between_the_markers() -> None:
    page = f"above\n{BEGIN}\nold\n{END}\nbelow\n"
    made = between_markers(page, "new")
    assert made == f"above\n{BEGIN}\n\nnew\n\n{END}\nbelow\n"
    assert between_markers(made, "new") == made


@pytest.mark.parametrize("page", ["", BEGIN, f"{END}\n{BEGIN}"])
def test_page_without_markers_is_refused(page: str) -> None:
    with pytest.raises(NoMarkers, match="needs the lines"):
        between_markers(page, "new")


def test_markdown_has_a_row_per_figure_and_no_cell_breaks_it() -> None:
    made = markdown([results({"memory": Failed("a | b <c>")})], ["Made by hand."])
    rows = [line for line in made.splitlines() if line.startswith("|")]
    assert len(rows) == 14 + 2
    assert {row.replace("\\|", "").count("|") for row in rows} == {5}
    assert "a \\| b &lt;c>" in made


def test_pinned_versions_are_those_of_the_locks() -> None:
    assert AVATAR_ENGINE.versions == "avatar-engine 1.3.0, agent-client-protocol 0.8.0"


def test_every_task_of_the_plan_is_in_a_row() -> None:
    assert {line.row.task for line in lines(results({}))} == set(PLANS)


class Said:
    """A client whose answers are known."""

    def __init__(self, *said: str) -> None:
        self._said = iter(said)

    async def call(self, prompt: str) -> str:
        said = next(self._said)
        if said == "raise":
            raise ConnectionError
        return said

    async def stream(self, prompt: str) -> AsyncIterator[str]:
        yield await self.call(prompt)

    async def count(self, prompt: str) -> Came:
        return Came(1, len(await self.call(prompt)))

    async def open(self) -> "Said":
        return self

    async def apart(self, count: int) -> list["Said"]:
        return []

    async def close(self) -> None:
        pass


def test_answers_are_right_mixed_incomplete_or_errors() -> None:
    client = Said("<00>", "<1", "", "<3<44>", "raise")
    stage = Stage(client, OnAsyncio(), 5, "")
    tally = asyncio.run(answers(stage, [client] * 5))
    assert tally == {"right": 1, "mixed": 1, "incomplete": 2, "errors": 1}


def test_daemon_is_found_by_its_sign_watched_and_ended() -> None:
    sign = f"sign-{uuid.uuid4().hex}"
    daemonise = "import os, time; os.fork() and os._exit(0); os.setsid(); time.sleep(120)"
    with subprocess.Popen(["sleep", "120"]) as host:
        subprocess.run([sys.executable, "-c", daemonise, sign], check=True)
        found = settled(host.pid, sign)
        assert len(found) == 1
        end(found)
        left = watch(found, time.perf_counter())
        assert (left.were, left.left) == (1, 0)
        assert not everybody(host.pid, sign)
        host.kill()


def test_cache_follows_the_users_choice_of_place() -> None:
    named = cache_root({"XDG_CACHE_HOME": "/somewhere"})
    assert named == Path("/somewhere/avatar-actors/bench")
    for environ in ({}, {"XDG_CACHE_HOME": "relative"}):
        assert cache_root(environ) == Path.home() / ".cache/avatar-actors/bench"


def test_library_of_the_project_needs_no_environment_of_its_own(tmp_path: Path) -> None:
    assert python_for(ACP_SDK, print, tmp_path) == sys.executable
    assert not list(tmp_path.iterdir())


@for_conformance
def test_lock_that_cannot_be_installed_is_told_in_one_line(tmp_path: Path) -> None:
    lock = tmp_path / "broken.txt"
    lock.write_text("this is no requirement\n", "utf-8")
    broken = Contestant("broken", "with_acp_sdk", ("broken",), lock)
    with pytest.raises(NotInstalled) as caught:
        python_for(broken, lambda _: None, tmp_path / "cache")
    assert str(caught.value).startswith("could not be installed: ERROR")
    assert len(str(caught.value).splitlines()) == 1


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "bench.compare", *arguments],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )


def test_help_says_what_it_does() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert "beside what people use today" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [("--quick", "--wire", "claude"), ("--markdown", "--quick"), ("--markdown", "--wire", "acp")],
)
def test_options_that_contradict_each_other_are_refused(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "leave out" in done.stderr


@for_conformance
def test_quick_comparison_measures_every_cell_of_ours_and_keeps_its_promises() -> None:
    done = run("--quick", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = {each["bench"]: each for each in map(json.loads, done.stdout.splitlines())}
    assert len(found) == 14
    assert not [each for each in found.values() if "n/a" in each["ours_said"]]
    assert found["compare.acp_calls_right"]["ours_said"] == "4 of 4 right"
    assert found["compare.acp_host_killed_left"]["value"] == 0
    assert found["compare.acp_closed_left"]["value"] == 0
    assert found["compare.acp_kill_outcome"]["ours_said"].endswith(" ms, crashed")
    assert found["compare.acp_kill_recovery"]["theirs"] is None


@for_conformance
def test_ctrl_c_ends_it_with_a_word_and_130_and_leaves_nobody() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "bench.compare", "--quick"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        deadline = time.monotonic() + 60
        while len(family := everybody(process.pid, "no sign")) < 2:
            assert time.monotonic() < deadline
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said.strip()) == (130, "interrupted")
    assert watch(family, time.perf_counter()).left == 0
