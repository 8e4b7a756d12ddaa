"""What events and notices change in the figures."""

from collections import Counter

from avatar_actors.avatar.messages import SlowReaders
from avatar_actors.model.events import (
    CostEvent,
    OrphansReapedEvent,
    QueueEvent,
    StallEvent,
    SupervisionEvent,
    TextEvent,
    TurnEndedEvent,
    TurnStartedEvent,
)
from avatar_actors.model.values import CostSource, Outcome, StallVerdict, Usage
from avatar_actors.observe.metrics.account import COUNTED, MetricsAccount
from avatar_actors.observe.metrics.catalogue import METRICS, Metric, MetricBehaviour
from supervisors import Crashed, Restarting

USAGE = Usage(cost_usd=0.5, input_tokens=10, output_tokens=20)


class Slate:
    """Meters that are simply written down."""

    def __init__(self) -> None:
        self.sums: Counter[str] = Counter()
        self.observed: list[float] = []
        self.gauges: dict[str, float] = {}

    def add(self, metric: Metric, amount: float, **labels: str) -> None:
        assert metric.kind is MetricBehaviour.COUNTER
        assert set(labels) == set(metric.labels)
        words = [metric.name, *(labels[name] for name in metric.labels)]
        self.sums[" ".join(words)] += amount  # type: ignore[assignment]

    def observe(self, metric: Metric, value: float, **labels: str) -> None:
        assert metric.kind is MetricBehaviour.HISTOGRAM
        assert set(labels) == set(metric.labels)
        self.observed.append(value)

    def set(self, metric: Metric, value: float) -> None:
        assert metric.kind is MetricBehaviour.GAUGE
        self.gauges[metric.name] = value


def started(turn_id: int, avatar: str = "aria") -> TurnStartedEvent:
    return TurnStartedEvent(provider="p", avatar=avatar, turn_id=turn_id)


def ended(
    turn_id: int, usage: Usage = USAGE, outcome: Outcome = Outcome.COMPLETED
) -> TurnEndedEvent:
    return TurnEndedEvent(
        provider="p", avatar="aria", turn_id=turn_id, outcome=outcome, usage=usage, duration=2.0
    )


def cost(turn_id: int, usd: float, tokens: int = 0) -> CostEvent:
    return CostEvent(
        provider="p",
        avatar="aria",
        turn_id=turn_id,
        cost_usd=usd,
        input_tokens=tokens,
        source=CostSource.REPORTED,
    )


def test_a_turn_is_counted_once_by_its_outcome() -> None:
    slate = Slate()
    tally = MetricsAccount(slate)
    for event in (started(1), ended(1), started(2), ended(2, outcome=Outcome.CRASHED)):
        tally.event(event)
    assert slate.sums["avatar_requests_total p completed"] == 1
    assert slate.sums["avatar_requests_total p crashed"] == 1
    assert slate.observed == [2.0, 2.0]


def test_a_prompt_that_never_got_its_turn_has_an_outcome_and_no_duration() -> None:
    slate = Slate()
    MetricsAccount(slate).event(
        TurnEndedEvent(provider="p", avatar="aria", outcome=Outcome.REJECTED)
    )
    assert slate.sums["avatar_requests_total p rejected"] == 1
    assert slate.observed == []


def test_reports_of_one_turn_replace_each_other() -> None:
    slate = Slate()
    tally = MetricsAccount(slate)
    final = Usage(cost_usd=0.75, input_tokens=30)
    for event in (started(1), cost(1, 0.25, 10), cost(1, 0.5, 20), ended(1, final)):
        tally.event(event)
    assert slate.sums["avatar_cost_usd_total p reported"] == 0.75
    assert slate.sums["avatar_tokens_total p input"] == 30


def test_each_turn_begins_its_account_anew() -> None:
    slate = Slate()
    tally = MetricsAccount(slate)
    for turn in (1, 2):
        for event in (started(turn), cost(turn, 0.25), ended(turn, Usage(cost_usd=0.25))):
            tally.event(event)
    assert slate.sums["avatar_cost_usd_total p reported"] == 0.5


def test_reports_outside_of_turns_add_up() -> None:
    slate = Slate()
    tally = MetricsAccount(slate)
    for _ in range(3):
        tally.event(cost(0, 0.25))
    assert slate.sums["avatar_cost_usd_total p reported"] == 0.75


def test_turns_in_flight_are_those_that_began_and_did_not_end() -> None:
    slate = Slate()
    tally = MetricsAccount(slate)
    tally.event(started(1))
    tally.event(started(1, "bert"))
    assert slate.gauges["avatar_turns_in_flight"] == 2
    tally.event(ended(1))
    assert slate.gauges["avatar_turns_in_flight"] == 1


def test_of_an_avatar_that_is_gone_nothing_is_open() -> None:
    slate = Slate()
    tally = MetricsAccount(slate)
    tally.event(started(1))
    tally.event(QueueEvent(avatar="aria", waiting=3))
    tally.event(QueueEvent(avatar="bert", waiting=1))
    assert slate.gauges["avatar_queue_waiting"] == 4
    tally.notice(Crashed("runtime/avatars/aria/session", 0.0, 1, None))
    assert slate.gauges["avatar_turns_in_flight"] == 1
    tally.notice(Crashed("runtime/avatars/aria", 0.0, 1, None))
    assert slate.gauges == {"avatar_turns_in_flight": 0, "avatar_queue_waiting": 1}


def test_a_restart_is_counted_once_wherever_it_happens() -> None:
    slate = Slate()
    tally = MetricsAccount(slate)
    inside, outside = "runtime/avatars/aria/session", "runtime/warden"
    tally.notice(Restarting(inside, 0.0, 0.1))
    tally.event(SupervisionEvent(provider="p", avatar="aria", notice="restarting", path=inside))
    tally.event(SupervisionEvent(provider="p", avatar="aria", notice="crashed", path=inside))
    tally.notice(Restarting(outside, 0.0, 0.1))
    assert slate.sums == {
        "avatar_restarts_total p session": 1,
        "avatar_restarts_total  warden": 1,
    }


def test_stalls_orphans_and_slow_readers_are_counted() -> None:
    slate = Slate()
    tally = MetricsAccount(slate)
    tally.event(StallEvent(provider="p", verdict=StallVerdict.WEDGED))
    tally.event(OrphansReapedEvent(provider="p", count=4))
    tally.slow(SlowReaders("p", merged=7, dropped=2))
    assert slate.sums == {
        "avatar_stalls_total p wedged": 1,
        "avatar_orphans_reaped_total p": 4,
        "avatar_events_merged_total p": 7,
        "avatar_events_dropped_total p": 2,
    }


def test_text_is_not_asked_for() -> None:
    assert not issubclass(TextEvent, COUNTED)


def test_no_label_is_without_bound() -> None:
    labels = {label for metric in METRICS for label in metric.labels}
    assert labels == {"provider", "status", "source", "kind", "part", "verdict"}
