"""The ledger: what counts, what is reserved, what is refused, and that a total stays in bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from avatar_actors.avatar.state.limits import Ledger
from avatar_actors.model.settings import Budget
from avatar_actors.model.values import CostSource, Usage


def used(cost: float | None = None, tokens: int = 0) -> Usage:
    return Usage(cost_usd=cost, output_tokens=tokens)


def ledger_of(budget: Budget) -> Ledger[int]:
    return Ledger(budget, "avatar")


def test_reports_of_one_turn_replace_each_other_and_turns_add_up() -> None:
    ledger = ledger_of(Budget())
    ledger.open(1)
    ledger.report(1, used(0.1, 10))
    ledger.report(1, used(0.25, 30))
    ledger.settle(1)
    ledger.open(2)
    ledger.report(2, used(0.5, 5))
    assert ledger.total() == used(0.75, 35)


def test_a_late_report_of_a_settled_turn_replaces_what_it_repeats() -> None:
    ledger = ledger_of(Budget())
    ledger.open(1)
    ledger.report(1, used(0.25))
    ledger.settle(1)
    ledger.report(1, used(0.5))
    assert ledger.total().cost_usd == 0.5


def test_nothing_is_forgotten_after_many_turns() -> None:
    ledger = ledger_of(Budget())
    for turn in range(1, 301):
        ledger.open(turn)
        ledger.report(turn, used(0.5, 2))
        ledger.settle(turn)
    assert ledger.total() == used(150.0, 600)


def test_another_attempt_at_the_same_turn_adds_to_the_one_before() -> None:
    ledger = ledger_of(Budget(turns=2))
    for _ in range(2):
        ledger.open(1)
        ledger.report(1, used(0.25))
    assert ledger.total().cost_usd == 0.5
    assert "2 turn(s) is used up" in ledger.refusal()


def test_what_comes_outside_of_a_turn_adds_up() -> None:
    ledger = ledger_of(Budget())
    ledger.report(0, used(0.25))
    ledger.report(0, used(0.25))
    ledger.open(1)
    ledger.report(1, used(0.5))
    ledger.report(0, used(0.25))
    assert ledger.total().cost_usd == 1.25


def test_a_cost_that_nobody_said_stays_unknown_and_is_spoken_of() -> None:
    ledger = ledger_of(Budget(cost_usd=1))
    ledger.open(1)
    ledger.report(1, used(None, 10))
    assert ledger.total().cost_usd is None
    assert ledger.refusal() == ""
    assert "cannot stop this agent" in ledger.blind_spot(used(None, 10))
    assert ledger.blind_spot(used(0.0)) == ""
    assert ledger_of(Budget(tokens=5)).blind_spot(used(None, 10)) == ""


def test_tokens_that_nobody_said_are_spoken_of_and_turns_are_advised() -> None:
    ledger = ledger_of(Budget(tokens=5))
    mute = "budget of 5 tokens cannot stop this agent: it tells no tokens. Limit turns"
    assert mute in ledger.blind_spot(used(None))
    assert mute in ledger.blind_spot(used(0.5))
    assert ledger.blind_spot(Usage(cached_tokens=5)) == ""
    # The agent answered by itself.
    assert ledger.blind_spot(used(0.0)) == ""
    advice = ledger_of(Budget(cost_usd=1)).blind_spot(used(None))
    assert "it tells neither money nor tokens. Limit turns" in advice
    assert ledger_of(Budget(turns=1)).blind_spot(used(None)) == ""


def test_a_sum_is_as_sure_as_its_least_sure_part() -> None:
    reported = Usage(cost_usd=1.0, cost_source=CostSource.REPORTED)
    computed = Usage(cost_usd=1.0, cost_source=CostSource.COMPUTED)
    assert (reported + computed).cost_source is CostSource.COMPUTED
    assert (reported + Usage(input_tokens=5)).cost_source is CostSource.REPORTED
    assert (Usage() + Usage()).cost_source is CostSource.UNKNOWN


@pytest.mark.parametrize(
    ("budget", "words", "advice"),
    [
        (Budget(cost_usd=1), "1 USD", "Budget(cost_usd=…)"),
        (Budget(tokens=100), "100 tokens", "Budget(tokens=…)"),
        (Budget(turns=1), "1 turn(s)", "Budget(turns=…)"),
        (Budget(cost_usd=0), "0 USD", "Budget(cost_usd=…)"),
        (Budget(tokens=0), "0 tokens", "Budget(tokens=…)"),
        (Budget(turns=0), "0 turn(s)", "Budget(turns=…)"),
        (Budget(cost_usd=1000, tokens=100), "100 tokens", "Budget(tokens=…)"),
    ],
)
def test_a_limit_that_is_reached_refuses_the_next_turn_and_says_how_to_raise_it(
    budget: Budget, words: str, advice: str
) -> None:
    ledger = ledger_of(budget)
    ledger.open(1)
    ledger.report(1, used(1.0, 100))
    refusal = f"the avatar's budget of {words} is used up; raise it with avatar.raise_budget"
    assert ledger.refusal() == f"{refusal}({advice}) (of an AvatarEngine: in its run_sync)"


@pytest.mark.parametrize(
    "more",
    [Usage(input_tokens=40), Usage(output_tokens=40), Usage(cached_tokens=40)],
    ids=["input", "output", "cached"],
)
def test_a_budget_of_tokens_counts_all_that_the_model_was_given_or_gave(more: Usage) -> None:
    ledger = ledger_of(Budget(tokens=100))
    some = Usage(input_tokens=20, output_tokens=20, cached_tokens=20)
    ledger.open(1)
    ledger.report(1, some)
    assert ledger.overrun() == ""
    ledger.report(1, some + more)
    assert "100 tokens is used up" in ledger.overrun()


def test_thoughts_are_a_part_of_the_output_and_count_once() -> None:
    assert Usage(output_tokens=50, reasoning_tokens=30).tokens == 50


def test_a_raised_budget_lets_through_what_a_used_up_one_refused() -> None:
    ledger = ledger_of(Budget(cost_usd=1))
    ledger.report(0, used(1.0))
    assert ledger.refusal() != ""
    ledger.raise_to(Budget(cost_usd=2))
    assert (ledger.refusal(), ledger.overrun()) == ("", "")
    assert ledger.total().cost_usd == 1.0


def test_without_limits_nothing_is_refused() -> None:
    ledger = ledger_of(Budget())
    for turn in range(1, 100):
        ledger.open(turn)
        ledger.report(turn, used(1e9, 10**12))
    assert (ledger.refusal(), ledger.overrun(), ledger.warnings()) == ("", "", [])


def test_each_limit_warns_once_and_again_only_after_it_was_raised() -> None:
    ledger = ledger_of(Budget(cost_usd=1, tokens=10, turns=5))
    ledger.open(1)
    ledger.report(1, used(0.5, 8))
    assert ledger.warnings() == ["80% of the avatar's budget of 10 tokens is used"]
    ledger.report(1, used(0.9, 9))
    assert ledger.warnings() == ["90% of the avatar's budget of 1 USD is used"]
    ledger.report(1, used(1.5, 20))
    assert ledger.warnings() == []
    ledger.raise_to(Budget(cost_usd=1.6))
    assert ledger.warnings() == ["94% of the avatar's budget of 1.6 USD is used"]


def test_a_turn_in_flight_reserves_what_the_dearest_before_it_cost() -> None:
    ledger = ledger_of(Budget(cost_usd=1))
    ledger.open(1)
    ledger.report(1, used(0.6))
    ledger.settle(1)
    ledger.open(2)
    assert ledger.refusal() == (
        "what is left of the avatar's budget of 1 USD is reserved for 1 turn(s) in flight; raise "
        "it with avatar.raise_budget(Budget(cost_usd=…)) (of an AvatarEngine: in its run_sync), "
        "or try again when they have ended"
    )
    ledger.settle(2)
    assert ledger.refusal() == ""


def test_a_configured_reserve_holds_from_the_first_turn_on() -> None:
    ledger = ledger_of(Budget(cost_usd=1, reserve_usd=0.5))
    ledger.open(1)
    assert ledger.refusal() == ""
    ledger.open(2)
    assert "reserved for 2 turn(s)" in ledger.refusal()


def test_a_call_that_is_forgotten_stays_in_the_total() -> None:
    ledger = ledger_of(Budget(cost_usd=1))
    for turn in (1, 2):
        ledger.open(turn)
        ledger.report(turn, used(0.25))
        ledger.settle(turn)
    ledger.forget(lambda call: call == 1)
    assert ledger.total().cost_usd == 0.5
    ledger.report(1, used(0.25))
    assert ledger.total().cost_usd == 0.75


@given(st.lists(st.sampled_from([0.01, 0.1, 0.3]), max_size=40))
def test_alone_a_turn_may_start_while_anything_is_left(costs: list[float]) -> None:
    ledger = ledger_of(Budget(cost_usd=1))
    for turn, cost in enumerate(costs):
        spent = ledger.total().cost_usd or 0.0
        assert (ledger.refusal() == "") == (spent < 1)
        if spent < 1:
            ledger.open(turn)
            ledger.report(turn, used(cost))
            ledger.settle(turn)


class ThreeAvatarsShareADollar(RuleBasedStateMachine):
    """Avatars prompt, spend and end in any order; an overrun ends the calls in flight."""

    def __init__(self) -> None:
        super().__init__()
        self.ledger = Ledger[tuple[int, int]](Budget(cost_usd=1), "runtime")
        self.running: dict[int, tuple[tuple[int, int], float]] = {}
        self.finished = 0.0
        self.turns = 0

    @rule(avatar=st.integers(1, 3))
    def prompt(self, avatar: int) -> None:
        if avatar in self.running or self.ledger.refusal():
            return
        assert self.finished + self.in_flight() < 1, "let through though it was used up"
        self.turns += 1
        call = (avatar, self.turns)
        self.ledger.open(call)
        self.running[avatar] = call, 0.0

    @precondition(lambda self: bool(self.running))
    @rule(data=st.data(), cost=st.floats(0.0, 0.4))
    def spend(self, data: st.DataObject, cost: float) -> None:
        avatar = data.draw(st.sampled_from(sorted(self.running)))
        call, spent = self.running[avatar]
        self.running[avatar] = call, spent + cost
        self.ledger.report(call, used(spent + cost))
        if self.ledger.overrun():
            # As the runtime budget does: all are told to end; one more call may be under way.
            for other in list(self.running):
                self.end(other, last_call=0.4)
            assert self.ledger.refusal() != ""

    @precondition(lambda self: bool(self.running))
    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        self.end(data.draw(st.sampled_from(sorted(self.running))), last_call=0.0)

    def end(self, avatar: int, last_call: float) -> None:
        call, spent = self.running.pop(avatar)
        self.ledger.report(call, used(spent + last_call))
        self.ledger.settle(call)
        self.finished += spent + last_call

    def in_flight(self) -> float:
        return sum(spent for _, spent in self.running.values())

    @invariant()
    def the_books_are_right(self) -> None:
        total = self.ledger.total().cost_usd or 0.0
        assert total == pytest.approx(self.finished + self.in_flight())

    @invariant()
    def the_limit_is_passed_by_no_more_than_the_calls_in_flight(self) -> None:
        # A report that crosses, and one more call of each of the three.
        assert (self.ledger.total().cost_usd or 0.0) <= 1 + 0.4 + 3 * 0.4 + 1e-9


TestThreeAvatarsShareADollar = ThreeAvatarsShareADollar.TestCase


@given(st.lists(st.tuples(st.integers(1, 3), st.floats(0.0, 0.3)), max_size=60))
def test_known_costs_pass_the_limit_by_no_more_than_one_turn(
    plans: list[tuple[int, float]],
) -> None:
    """If no turn is dearer than the reserve, the reserve keeps all but one within the limit."""
    ledger = Ledger[int](Budget(cost_usd=1, reserve_usd=0.3), "runtime")
    running: dict[int, float] = {}
    for turn, (avatar, cost) in enumerate(plans):
        if avatar in running:
            ledger.report(avatar, used(running.pop(avatar)))
            ledger.settle(avatar)
        elif not ledger.refusal():
            ledger.open(avatar)
            running[avatar] = cost
        assert (ledger.total().cost_usd or 0.0) < 1 + 0.3, turn
