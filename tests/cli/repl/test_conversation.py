import pytest

from avatar_actors import Outcome
from avatar_actors.cli.repl.conversation import (
    AGAIN,
    ClearInput,
    Conversation,
    InterruptTurn,
    Leave,
    Send,
    Stay,
)


@pytest.fixture
def conversation() -> Conversation:
    return Conversation()


@pytest.fixture
def busy(conversation: Conversation) -> Conversation:
    conversation.enter("first")
    return conversation


def test_a_prompt_is_sent_at_once_when_nothing_runs(conversation: Conversation) -> None:
    assert conversation.enter("hello") == Send("hello")
    assert conversation.is_running


def test_what_is_sent_during_a_turn_waits_and_goes_out_in_order(busy: Conversation) -> None:
    assert [busy.enter("second"), busy.enter("third")] == [Stay(), Stay()]
    assert busy.waiting == ("second", "third")
    assert [
        busy.ended(Outcome.COMPLETED),
        busy.ended(Outcome.COMPLETED),
        busy.ended(Outcome.COMPLETED),
    ] == [Send("second"), Send("third"), Stay()]
    assert not busy.is_running


def test_the_last_queued_prompt_is_taken_back_and_not_sent(busy: Conversation) -> None:
    busy.enter("second")
    busy.enter("third")
    assert busy.take_back() == "third"
    assert busy.ended(Outcome.COMPLETED) == Send("second")
    assert busy.take_back() == ""
    assert busy.ended(Outcome.COMPLETED) == Stay()


def test_an_empty_line_sends_nothing(conversation: Conversation) -> None:
    assert conversation.enter(" \n ") == Stay()
    assert not conversation.is_running


def test_ctrl_c_clears_what_is_typed_and_leaves_the_turn_alone(busy: Conversation) -> None:
    assert busy.ctrl_c("typed", now=1.0) == ClearInput()
    assert busy.ctrl_c("typed again", now=1.1) == ClearInput()
    assert busy.left is None


def test_ctrl_c_interrupts_and_a_second_one_leaves_with_130(busy: Conversation) -> None:
    assert busy.ctrl_c("", now=1.0) == InterruptTurn()
    assert "again" in busy.hint(1.0)
    assert busy.ctrl_c("", now=60.0) == Leave(130)


def test_two_fast_ctrl_c_leave_though_the_turn_has_ended_between_them(busy: Conversation) -> None:
    busy.ctrl_c("", now=1.0)
    busy.ended(Outcome.COMPLETED)
    assert busy.ctrl_c("", now=1.2) == Leave(130)


def test_a_slow_ctrl_c_after_an_interrupted_turn_asks_first(busy: Conversation) -> None:
    busy.ctrl_c("", now=1.0)
    busy.ended(Outcome.COMPLETED)
    assert busy.ctrl_c("", now=1.0 + AGAIN) == Stay()
    assert busy.hint(1.0 + AGAIN) == "(Ctrl-C again to leave)"
    assert busy.hint(1.0 + 2 * AGAIN) == ""


def test_ctrl_c_with_nothing_to_end_asks_and_the_second_leaves(conversation: Conversation) -> None:
    assert conversation.ctrl_c("", now=5.0) == Stay()
    assert conversation.hint(5.0) == "(Ctrl-C again to leave)"
    assert conversation.ctrl_c("", now=6.0) == Leave(130)


def test_a_prompt_in_between_makes_the_next_ctrl_c_an_interrupt_again(
    conversation: Conversation,
) -> None:
    conversation.ctrl_c("", now=5.0)
    conversation.enter("hello")
    assert conversation.ctrl_c("", now=5.1) == InterruptTurn()


def test_ctrl_d_leaves_on_an_empty_line_alone(conversation: Conversation) -> None:
    assert conversation.ctrl_d("typed") == Stay()
    assert conversation.ctrl_d("") == Leave(0)


def test_what_waits_is_held_after_an_interrupt_until_enter(busy: Conversation) -> None:
    busy.enter("second")
    busy.ctrl_c("", now=1.0)
    assert busy.ended(Outcome.CANCELLED) == Stay()
    assert busy.is_held
    assert "Enter" in busy.hint(1.0 + AGAIN)
    assert busy.enter("") == Send("second")
    assert not busy.is_held


@pytest.mark.parametrize("outcome", list(Outcome))
def test_what_waits_goes_on_by_itself_only_after_a_turn_that_ended_well(
    busy: Conversation, outcome: Outcome
) -> None:
    busy.enter("second")
    goes_on = outcome in {Outcome.COMPLETED, Outcome.REFUSED}
    assert busy.ended(outcome) == (Send("second") if goes_on else Stay())
    assert busy.waiting == (() if goes_on else ("second",))


def test_a_new_prompt_goes_before_what_is_held(busy: Conversation) -> None:
    busy.enter("second")
    busy.ctrl_c("", now=1.0)
    busy.ended(Outcome.COMPLETED)
    assert busy.enter("urgent") == Send("urgent")
    assert busy.ended(Outcome.COMPLETED) == Stay()
    assert busy.waiting == ("second",)


def test_queueing_more_lets_what_is_held_go_on(busy: Conversation) -> None:
    busy.enter("second")
    busy.interrupt()
    busy.enter("third")
    assert [busy.ended(Outcome.COMPLETED), busy.ended(Outcome.COMPLETED)] == [
        Send("second"),
        Send("third"),
    ]


def test_nothing_is_sent_any_more_once_it_is_over(busy: Conversation) -> None:
    busy.enter("second")
    assert busy.leave(143) == Leave(143)
    assert busy.leave(0) == Leave(143)
    assert busy.ended(Outcome.COMPLETED) == Stay()
    assert busy.enter("third") == Stay()


def test_an_interrupt_without_a_turn_is_nothing(conversation: Conversation) -> None:
    assert conversation.interrupt() == Stay()
    assert not conversation.is_held


def test_enter_while_an_interrupted_turn_still_ends_releases_what_is_held(
    busy: Conversation,
) -> None:
    busy.enter("second")
    assert busy.interrupt() == InterruptTurn()
    assert busy.is_held
    assert busy.enter("") == Stay()
    assert busy.ended(Outcome.CANCELLED) == Send("second")
    busy.enter("third")
    assert busy.ended(Outcome.CRASHED) == Stay()
    assert busy.is_held
