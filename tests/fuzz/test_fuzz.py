"""The fuzzer itself: the same seed gives the same cases, and what it finds is small."""

import pytest
from hypothesis import strategies as st

from avatar_actors.model.errors import SettingsError
from tests.fuzz import documents, wires
from tests.fuzz.javascript import heard
from tests.fuzz.wires import Case, Found, Generator, Step, as_test, check, failure_of, shrunk

TEXT = wires.DIALECTS["acp"].text
END = wires.DIALECTS["acp"].end(b'"x"', b"1")


def test_some_cases_over_the_wires_hold() -> None:
    assert wires.first_failure("make test", 300) is None


@pytest.mark.parametrize("name", documents.PROPERTIES)
def test_some_documents_and_arguments_hold(name: str) -> None:
    documents.examples(name, 30, 1)


def test_the_same_seed_gives_the_same_cases() -> None:
    first, second = Generator("7"), Generator("7")
    assert [first.case() for _ in range(50)] == [second.case() for _ in range(50)]


def test_a_text_that_is_lost_is_found_and_nothing_else_is_left_of_the_case() -> None:
    noise = [Step(b"noise"), Step(TEXT(b'"a"', b"0"), "a"), Step(b"null")]
    case = Case("acp", [*noise, Step(b"{}", "lost"), *noise], END, [3, 5])
    assert failure_of(case) == "Found"
    smallest = shrunk(case)
    assert smallest == Case("acp", [Step(b"{}", "lost")], END, [1 << 20])
    assert "def test_found_by_the_fuzzer" in as_test(smallest)


@pytest.mark.parametrize(
    "broken",
    [
        Case("acp", [], [b"{}"], [9]),
        Case("acp", [Step(b"{}", asks=5)], END, [9]),
    ],
)
def test_a_turn_without_end_and_a_request_without_answer_are_found(broken: Case) -> None:
    with pytest.raises(Found):
        check(broken)


def test_a_property_that_does_not_hold_is_shown_with_its_smallest_value() -> None:
    def no_long_text(value: str) -> None:
        if len(value) > 2:
            raise SettingsError(value)

    properties = documents.PROPERTIES
    properties["planted"] = no_long_text, st.text()
    try:
        with pytest.raises(documents.Falsified) as found:
            documents.examples("planted", 200, 1)
    finally:
        del properties["planted"]
    assert found.value.value == "000"


def test_halves_that_meet_are_one_sign() -> None:
    assert heard("a\ud83d" + "\ude00\ude00b\ud83d") == "a😀\ufffdb\ufffd"


def test_what_is_found_comes_with_a_test_to_paste() -> None:
    told = wires.report(Case("acp", [Step(b"{}", "lost")], END, [9]))
    assert "Found: said '' for 'lost'" in told
    assert "check(Case('acp', steps," in told
