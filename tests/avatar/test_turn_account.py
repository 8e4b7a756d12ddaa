"""What the account of a turn adds to the events of an agent."""

import pytest

from avatar_actors.avatar.messages import BeginTurn, EndTurn
from avatar_actors.avatar.state.activities import Activities
from avatar_actors.avatar.state.turn_account import Moment, TurnAccount
from avatar_actors.model.events import (
    AvatarEvent,
    CostEvent,
    PermissionEvent,
    PlanEvent,
    TextEvent,
    ThinkingEvent,
    ToolEvent,
)
from avatar_actors.model.values import Outcome
from avatar_actors.session.messages import TurnEnding

NOW = Moment(1.0, 1.0)
END = EndTurn(1, TurnEnding(outcome=Outcome.COMPLETED))


@pytest.fixture
def account() -> TurnAccount:
    account = TurnAccount(1000, Activities())
    account.begin(BeginTurn(1, "hello"), NOW)
    return account


def said(account: TurnAccount, *events: AvatarEvent) -> list[tuple[str, bool]]:
    """The pieces of text that are published for these."""
    published = account.fold(1, events, 1.0)
    return [(each.text, each.is_complete) for each in published if isinstance(each, TextEvent)]


@pytest.mark.parametrize("after", [ToolEvent, ThinkingEvent, PermissionEvent, PlanEvent])
def test_a_streamed_text_is_complete_once_something_else_follows(
    account: TurnAccount, after: type[AvatarEvent]
) -> None:
    assert said(account, TextEvent(text="Hel"), TextEvent(text="lo")) == [
        ("Hel", False),
        ("lo", False),
    ]
    assert said(account, CostEvent(output_tokens=1)) == []
    published = account.fold(1, [after()], 1.0)
    first = published[0]
    assert isinstance(first, TextEvent)
    assert (first.text, first.is_complete) == ("", True)
    assert said(account, after()) == []
    assert said(account, TextEvent(text="Bye"), after()) == [("Bye", False), ("", True)]
    assert account.said(1).text == "HelloBye"


def test_the_end_of_the_turn_completes_the_text_before_all_else(account: TurnAccount) -> None:
    said(account, TextEvent(text="Hello"))
    first, *rest = account.end(END, NOW)
    assert isinstance(first, TextEvent)
    assert first.is_complete
    assert not [event for event in rest if isinstance(event, TextEvent)]


def test_a_text_that_came_whole_is_completed_by_nothing_more(account: TurnAccount) -> None:
    assert said(account, TextEvent(text="Hello", is_complete=True), ToolEvent()) == [
        ("Hello", True)
    ]
    said(account, TextEvent(text="Bye", is_complete=True))
    assert not [event for event in account.end(END, NOW) if isinstance(event, TextEvent)]
