import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from avatar_actors.model.values import ThinkingPhase
from avatar_actors.wire.shared_events import Thoughts, phase_of


def test_block_has_one_start_and_one_end() -> None:
    thoughts = Thoughts()
    events = [thoughts.chunk("I "), thoughts.chunk("think"), thoughts.close()]
    assert [event and (event.thought, event.is_start, event.is_complete) for event in events] == [
        ("I ", True, False),
        ("think", False, False),
        ("", False, True),
    ]
    assert {event.block_id for event in events if event} == {"thought-1"}


def test_closing_without_an_open_block_says_nothing() -> None:
    thoughts = Thoughts()
    assert thoughts.close() is None
    thoughts.chunk("x")
    thoughts.close()
    assert thoughts.close() is None


def test_next_block_has_another_id_and_forgets_the_subject() -> None:
    thoughts = Thoughts()
    thoughts.chunk("**First** x")
    thoughts.close()
    event = thoughts.chunk("second")
    assert (event.block_id, event.subject, event.is_start) == ("thought-2", "", True)


def test_agent_may_name_the_block() -> None:
    thoughts = Thoughts()
    thoughts.open("rs_1")
    assert thoughts.block_id == "rs_1"
    assert thoughts.chunk("x").block_id == "rs_1"


@pytest.mark.parametrize(
    ("pieces", "subject"),
    [
        (["**Considering**\nI think"], "Considering"),
        (["\n\n", "**Con", "sidering the", " options** and more"], "Considering the options"),
        (["I think of **bold** words"], ""),
        (["** **"], ""),
        (["**never closed"], ""),
    ],
)
def test_subject_is_the_leading_bold_text(pieces: list[str], subject: str) -> None:
    thoughts = Thoughts()
    assert [thoughts.chunk(piece) for piece in pieces][-1].subject == subject


@pytest.mark.parametrize(
    ("text", "phase"),
    [
        ("Let me analyze this", ThinkingPhase.ANALYZING),
        ("My plan is", ThinkingPhase.PLANNING),
        ("**Writing** it", ThinkingPhase.CODING),
        ("I verify it", ThinkingPhase.REVIEWING),
        ("I will use it", ThinkingPhase.TOOL_PLANNING),
        ("the user said so because", None),
        ("", None),
    ],
)
def test_phase_is_guessed_from_key_words(text: str, phase: ThinkingPhase | None) -> None:
    assert phase_of(text) is phase


def test_key_word_is_found_across_pieces_and_its_phase_lasts() -> None:
    thoughts = Thoughts()
    phases = [thoughts.chunk(piece).phase for piece in ("I pla", "n it", " so", " I ver", "ify")]
    general, planning, reviewing = (
        ThinkingPhase.GENERAL,
        ThinkingPhase.PLANNING,
        ThinkingPhase.REVIEWING,
    )
    assert phases == [general, planning, planning, planning, reviewing]


@given(st.lists(st.text(max_size=20), min_size=1))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_nothing_of_a_thought_is_lost(pieces: list[str]) -> None:
    thoughts = Thoughts()
    assert "".join(thoughts.chunk(piece).thought for piece in pieces) == "".join(pieces)
