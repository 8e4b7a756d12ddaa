"""What is planted where; that the tests find it is the business of `make mutants`."""

import pytest

from tests.mutants.planting import faults_of, sample

KINDS = [
    ("if a < b:\n        pass", "if a <= b:"),
    ("if not a:\n        pass", "if a:"),
    ("if a:\n        pass", "if not a:"),
    ("x = a and b", "x = a or b"),
    ("x = a + 1", "x = a - 1"),
    ("x = a + 1", "x = a + 2"),
    ("return a", "return None"),
    ("a.x = 1", "pass"),
    ("a.x += 1", "a.x -= 1"),
    ("while a:\n        break", "continue"),
    ("await a.close()", "pass"),
    ("x = await a", "x = a"),
    ("with suppress(KeyError):\n        pass", "with suppress():"),
    ("try:\n        pass\n    except KeyError:\n        raise", "pass"),
    ("return x is None", "return x is not None"),
    ("x = True", "x = False"),
]


def function(body: str) -> str:
    return f"async def f(a, b, x):\n    {body}\n"


@pytest.mark.parametrize(("body", "after"), KINDS)
def test_fault_of_each_kind_is_planted(body: str, after: str) -> None:
    source = function(body)
    faults = {fault.after.strip(): fault for fault in faults_of("f.py", source)}
    assert after in faults
    planted = faults[after].planted_in(source)
    assert planted != source
    assert after in planted


@pytest.mark.parametrize(
    "source",
    [
        '"""Words."""\nLIMIT = 60\n',
        function('"""Words."""'),
        function('log.warning("words")'),
        function('raise ValueError(f"{a + 1} is too much")'),
        function('return ""'),
        "def f(a: int = 1) -> 'int | None': ...\n",
    ],
)
def test_declarations_words_and_log_lines_are_left_alone(source: str) -> None:
    assert faults_of("f.py", source) == []


def test_sample_is_the_same_for_the_same_seed_and_has_one_fault_per_line() -> None:
    source = "".join(f"def f{n}(a, b):\n    return a + {n} < b and not a\n" for n in range(50))
    faults = faults_of("f.py", source)
    chosen = sample(faults, seed=7, count=40)
    assert chosen == sample(faults, seed=7, count=40)
    assert chosen != sample(faults, seed=8, count=40)
    assert len({fault.line for fault in chosen}) == 40
