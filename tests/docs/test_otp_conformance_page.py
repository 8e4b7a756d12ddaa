"""The conformance page names each of OTP's 96 cases once, and the tests that exist, no others."""

import ast
import re
from collections.abc import Iterator

from tests.docs.test_snippets import ROOT

PAGE = ROOT / "docs" / "supervisors" / "otp-conformance.md"
ROW = re.compile(r"^\| (\d+) \| `(\w+)` \| ([^|]*) \| ([^|]*) \|$", re.MULTILINE)
TEST = re.compile(r"`(test_otp_\w+)`")


def rows() -> list[tuple[int, str, str, str]]:
    found = ROW.findall(PAGE.read_text("utf-8"))
    return [(int(number), case, tests, how) for number, case, tests, how in found]


def existing_tests() -> Iterator[str]:
    for path in (ROOT / "tests" / "supervisors" / "otp").glob("test_*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    if name.startswith("test_"):
                        yield name
                case _:
                    pass


def test_all_96_cases_are_named_once() -> None:
    assert [number for number, *_ in rows()] == list(range(1, 97))
    assert len({case for _, case, *_ in rows()}) == 96


def test_every_case_has_a_test_or_a_reason() -> None:
    bare = [case for _, case, tests, how in rows() if not (TEST.search(tests) or how.strip())]
    assert bare == []


def test_page_and_tests_name_each_other() -> None:
    named = {name for _, _, tests, _ in rows() for name in TEST.findall(tests)}
    existing = list(existing_tests())
    assert sorted(named - set(existing)) == []
    # test_otp_tree__more is a further test of the case that test_otp_tree stands for.
    assert sorted(name for name in existing if name.partition("__")[0] not in named) == []
    assert len(existing) == len(set(existing))


def test_at_least_80_cases_are_tested() -> None:
    assert sum(bool(TEST.search(tests)) for _, _, tests, _ in rows()) >= 80
