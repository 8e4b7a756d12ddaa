"""The examples that each show one ability, as people run them."""

import json
import signal
from pathlib import Path

import pytest

from tests.examples.programs import ended_by, lines_of, run, running, shown


def test_twenty_avatars_of_which_one_is_killed(tmp_path: Path) -> None:
    head, *rows = [line.split(maxsplit=3) for line in lines_of(tmp_path, "many_avatars")]
    assert head == ["avatar", "outcome", "restarts", "said"]
    crashed = [row for row in rows if row[1] == "crashed"]
    assert crashed == [["avatar-11", "crashed", "1", "I begin; then 6*7 = 42"]]
    others = [f"avatar-{number}" for number in range(1, 21) if number != 11]
    assert [row for row in rows if row not in crashed] == [
        [name, "completed", "0", f"[allowed] {name} is done"] for name in others
    ]


@pytest.mark.parametrize("number", ["0", "201", "many", "-1", ""])
def test_a_number_of_avatars_that_cannot_be_is_one_line(number: str, tmp_path: Path) -> None:
    done = run(tmp_path, "many_avatars", number)
    assert done.stderr == f"how many? a number from 1 to 200; got {number!r}\n"
    assert (done.stdout, done.returncode) == ("", 1)


def test_an_agent_of_ones_own_speaks_and_is_interrupted(tmp_path: Path) -> None:
    lines = lines_of(tmp_path, "custom_acp_agent", "good morning")
    assert lines[:2] == ["GOOD! MORNING! ", "[completed]"]
    assert lines[2].startswith("LA! LA! LA! ")
    assert lines[3:] == ["[cancelled]"]


def test_ctrl_c_ends_an_agent_of_ones_own(tmp_path: Path) -> None:
    with running(tmp_path, "custom_acp_agent", "la " * 5000) as program:
        assert shown(program, 3) == "LA!"
        assert ended_by(program, signal.SIGINT) == 130
        assert program.communicate()[1] == ""


def test_an_agent_of_ones_own_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    lines = ["what?", "[]", '{"id": 1, "method": "session/fork"}', '{"method": "session/nod"}']
    done = run(tmp_path, "shouting_agent", stdin="\n".join(lines))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(each["id"], each["error"]["code"]) for each in answers] == [
        (None, -32700),
        (1, -32601),
    ]
    assert (done.stderr, done.returncode) == ("", 0)


def test_structured_output_is_an_object_or_a_reason(tmp_path: Path) -> None:
    assert lines_of(tmp_path, "structured_output") == [
        "name: Ada Lovelace, born: 1815",
        "failed: the answer does not fit the schema: $.born: 'in December 1815' is not",
        "of type 'integer'",
    ]


def test_a_real_agent_wants_a_sentence_to_read(tmp_path: Path) -> None:
    done = run(tmp_path, "structured_output", "--provider", "claude")
    assert done.stderr.endswith("error: give a sentence for the agent to read\n")
    assert (done.stdout, done.returncode) == ("", 2)


def test_three_avatars_share_a_budget_that_warns_stops_and_is_raised(tmp_path: Path) -> None:
    lines = lines_of(tmp_path, "budgets")
    warning = "      warning: 90% of the runtime's budget of 1 USD is used"
    assert lines.count(warning) == 1
    refusal = [
        "      the runtime's budget of 1 USD is used up; raise it with",
        "      runtime.raise_budget(Budget(cost_usd=…)) (of a RuntimeThread: in its",
        "      run_sync)",
    ]
    assert [line for line in lines if line != warning] == [
        "who    cost  outcome       spent",
        "aria   0.30  completed      0.30",
        "bela   0.30  completed      0.60",
        "cleo   0.30  completed      0.90",
        "aria   0.30  over_budget    1.20",
        *refusal,
        "bela   0.30  over_budget    1.20",
        *refusal,
        "      the budget is 2 USD now",
        "bela   0.30  completed      1.50",
    ]


def test_supervisors_alone_keep_the_ledger_and_give_up_in_the_end(tmp_path: Path) -> None:
    crash = "  office/desk/reader crashed"
    assert lines_of(tmp_path, "supervision_only") == [
        crash,
        "'1 2 three 4' makes 7",
        *[crash] * 3,
        "  office/desk gave up",
        "'five six seven' makes 0",
        "office  running, one_for_one",
        "└─ desk  running, one_for_one, life 2",
        "   ├─ ledger  running",
        "   └─ reader  running",
    ]
