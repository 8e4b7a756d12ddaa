"""What a silence means."""

from avatar_actors.avatar.state.activities import Stall, judge
from avatar_actors.model.values import StallVerdict
from avatar_actors.processes import Vitals


def vitals(cpu: float, processes: int = 1, **states: int) -> Vitals:
    return Vitals(cpu_seconds=cpu, processes=processes, states=states or {"S": processes})


def stall(
    before: Vitals | None, after: Vitals | None, *tools: str, waits_for_host: bool = False
) -> Stall:
    return Stall(
        silence=31.4, waits_for_host=waits_for_host, tools=tools, before=before, after=after
    )


def test_an_open_question_waits_on_you_whatever_else_is_seen() -> None:
    verdict, evidence = judge(stall(vitals(1), vitals(9), "Bash", waits_for_host=True))
    assert verdict is StallVerdict.WAITING_ON_YOU
    assert evidence == "no output for 31 s; a question is open"


def test_one_that_burns_cpu_works() -> None:
    verdict, evidence = judge(stall(vitals(1), vitals(3.5)))
    assert verdict is StallVerdict.WORKING
    assert "2.50 s of CPU in 1 processes" in evidence


def test_one_that_waits_for_its_tool_works_and_the_tool_is_named() -> None:
    verdict, evidence = judge(stall(vitals(1), vitals(1), "Bash", "Read"))
    assert verdict is StallVerdict.WORKING
    assert evidence.endswith("waiting for Bash, Read")


def test_an_idle_one_without_a_tool_is_wedged() -> None:
    assert judge(stall(vitals(1), vitals(1.01)))[0] is StallVerdict.WEDGED


def test_a_stopped_one_is_wedged_even_with_a_tool_open() -> None:
    verdict, evidence = judge(stall(vitals(1, 2, T=2), vitals(1, 2, T=2), "Bash"))
    assert verdict is StallVerdict.WEDGED
    assert "2 processes are stopped (SIGSTOP)" in evidence


def test_one_that_cannot_be_seen_is_wedged() -> None:
    assert judge(stall(None, vitals(1)))[0] is StallVerdict.WEDGED
    assert judge(stall(vitals(1), None))[0] is StallVerdict.WEDGED


def test_nobody_is_said_to_be_stopped_when_nobody_is_there() -> None:
    verdict, evidence = judge(stall(vitals(1), vitals(0, 0)))
    assert verdict is StallVerdict.WEDGED
    assert "SIGSTOP" not in evidence
