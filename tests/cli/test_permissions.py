from avatar_actors import PermissionEvent
from avatar_actors.cli.terminal.permissions import PAUSE, TYPING, AnswerKeys

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
    assert keys.request(11.0 + TYPING / 2) is None
    assert "stop typing" in keys.hint(11.0 + TYPING / 2)
    assert keys.request(11.0 + TYPING) == FIRST


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
    keys.give_back(20.0)
    keys.look((FIRST,), now=20.0)
    assert keys.request(20.0 + PAUSE) == FIRST


def test_no_key_answers_when_nothing_is_asked_any_more() -> None:
    keys = AnswerKeys()
    keys.look((FIRST,), now=10.0)
    keys.look((), now=11.0)
    assert keys.request(20.0) is None


def test_no_letter_of_a_command_answers_however_it_is_typed() -> None:
    keys = AnswerKeys()
    keys.look((FIRST,), now=0.0)
    assert keys.pressed("ls -la", 10.0) is None  # pasted
    for number, key in enumerate("ls -la"):
        assert keys.pressed(key, 20.0 + number * TYPING * 0.9) is None
    assert keys.pressed("a", 30.0) == FIRST


def test_what_is_typed_while_an_answer_is_under_way_does_not_answer_the_next_request() -> None:
    keys = AnswerKeys()
    keys.look((FIRST, SECOND), now=10.0)
    keys.take(FIRST)
    keys.look((FIRST, SECOND), now=11.0)
    keys.give_back(20.0)
    assert keys.pressed("a", 20.0) is None
    assert keys.pressed("a", 20.0 + TYPING) == SECOND


def test_e_answers_only_where_the_agent_takes_another_input() -> None:
    keys = AnswerKeys()
    keys.look((FIRST,), now=0.0)
    assert keys.hint(10.0) == "press y, n or a to answer"
    assert keys.pressed("e", 10.0) is None
    keys.can_edit = True
    assert keys.hint(20.0) == "press y, n, a or e to answer"
    assert keys.pressed("e", 20.0) == FIRST
