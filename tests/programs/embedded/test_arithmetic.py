"""Arithmetic calculates numbers and nothing else, and never for long."""

import pytest

from avatar_actors.programs.embedded.assistant.arithmetic import NoArithmetic, calculate


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("1+1", 2), ("12*(3+4)", 84), ("-3", -3), ("+3", 3), ("7//2", 3), ("7%4", 3)),
        *(("1/4", 0.25), ("2**10", 1024), ("2^3", 8), ("2**-1", 0.5), ("1.5*2", 3.0)),
    ],
)
def test_expressions_have_values(text: str, value: float) -> None:
    assert calculate(text) == value


@pytest.mark.parametrize(
    "text",
    [
        *("", "hello", "1+", "True", "'a'", "a", "f(1)", "[1]", "1 if 1 else 2", "1;2", "1==1"),
        *("__import__('os')", "(1).real", "1/0", "9**9**9", "10**101", "1e200*1e200", "0**-1"),
        *("(-8)**0.5", "2**0.5j", "1" * 300, "(" * 150 + "1" + ")" * 150, "1" * 150 + "**9"),
    ],
)
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(NoArithmetic):
        calculate(text)
