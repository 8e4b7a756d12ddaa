from avatar_actors import PermissionEvent
from avatar_actors.cli.repl.input_line import PAUSE, AnswerKeys

FIRST, SECOND = PermissionEvent(request_id="1"), PermissionEvent(request_id="2")


def test_a_key_answers_the_oldest_request_once_it_was_there_for_a_moment() -> None:
    keys = AnswerKeys()
    keys.look((FIRST, SECOND), now=10.0)
    assert keys.request(10.0) is None
    keys.look((FIRST, SECOND), now=10.1)
    assert keys.request(10.0 + PAUSE) == FIRST


def test_who_is_typing_does_not_answer() -> None:
    keys = AnswerKeys()
    keys.look((FIRST,), now=10.0)
    keys.typed(11.0)
    assert keys.request(11.0 + PAUSE / 2) is None
    assert keys.request(11.0 + PAUSE) == FIRST


def test_a_request_with_an_answer_under_way_takes_no_other_and_the_next_one_waits_its_moment() -> (
    None
):
    keys = AnswerKeys()
    keys.look((FIRST, SECOND), now=10.0)
    keys.take(FIRST)
    assert keys.request(20.0) is None
    keys.look((FIRST, SECOND), now=20.0)
    assert keys.request(20.0) is None
    assert keys.request(20.0 + PAUSE) == SECOND


def test_a_request_that_was_not_answered_after_all_can_be() -> None:
    keys = AnswerKeys()
    keys.look((FIRST,), now=10.0)
    keys.take(FIRST)
    keys.give_back()
    keys.look((FIRST,), now=20.0)
    assert keys.request(20.0 + PAUSE) == FIRST


def test_no_key_answers_when_nothing_is_asked_any_more() -> None:
    keys = AnswerKeys()
    keys.look((FIRST,), now=10.0)
    keys.look((), now=11.0)
    assert keys.request(20.0) is None
