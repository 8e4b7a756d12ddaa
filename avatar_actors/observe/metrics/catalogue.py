"""All metrics: name, kind, meaning, unit, labels; docs/avatars/observing.md has the same table.

A label has few values: never the name of an avatar, a session or a prompt.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class MetricBehaviour(Enum):
    """How a metric behaves."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Metric(Struct, frozen=True):
    """One metric, under its name in Prometheus."""

    name: str
    kind: MetricBehaviour
    meaning: str
    unit: str
    label_names: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of its labels."""
        return tuple(self.label_names.split())


COUNTER, GAUGE, HISTOGRAM = MetricBehaviour
REQUESTS = Metric(
    "avatar_requests_total",
    COUNTER,
    "Prompts that came to their outcome",
    "requests",
    "provider status",
)
DURATION = Metric(
    "avatar_request_duration_seconds",
    HISTOGRAM,
    "Time from the beginning of a turn to its outcome; without prompts that the budget refused",
    "seconds",
    "provider",
)
SESSIONS = Metric(
    "avatar_active_sessions", GAUGE, "Agents that are up and take prompts", "sessions"
)
TURNS = Metric("avatar_turns_in_flight", GAUGE, "Turns that have begun and not ended", "turns")
WAITING = Metric("avatar_queue_waiting", GAUGE, "Prompts that wait behind a turn", "prompts")
COST = Metric(
    "avatar_cost_usd_total",
    COUNTER,
    "What turns cost, by where the figure comes from",
    "usd",
    "provider source",
)
TOKENS = Metric(
    "avatar_tokens_total",
    COUNTER,
    "Tokens used: input, output, cached, reasoning",
    "tokens",
    "provider kind",
)
RESTARTS = Metric(
    "avatar_restarts_total",
    COUNTER,
    "Restarts by a supervisor; without a provider: of the runtime's own parts",
    "restarts",
    "provider part",
)
STALLS = Metric(
    "avatar_stalls_total",
    COUNTER,
    "Silences of an agent that were judged",
    "stalls",
    "provider verdict",
)
DEPTH = Metric(
    "avatar_mailbox_depth",
    GAUGE,
    "What waits in the mailboxes of all actors of one kind",
    "messages",
    "part",
)
ORPHANS = Metric(
    "avatar_orphans_reaped_total",
    COUNTER,
    "Processes that agents left behind and that the warden reaped",
    "processes",
    "provider",
)
MERGED = Metric(
    "avatar_events_merged_total",
    COUNTER,
    "Pieces of text that were merged for a slow subscriber; none is lost",
    "events",
    "provider",
)
DROPPED = Metric(
    "avatar_events_dropped_total",
    COUNTER,
    "Events that a subscriber was too slow for",
    "events",
    "provider",
)

METRICS = (
    *(REQUESTS, DURATION, SESSIONS, TURNS, WAITING, COST, TOKENS, RESTARTS, STALLS),
    *(DEPTH, ORPHANS, MERGED, DROPPED),
)
# Read from the tree when they are asked for; the collector keeps all others up to date.
OF_THE_TREE = (SESSIONS, DEPTH)

# Seconds: an answer without tools takes a few, long work an hour.
BUCKETS = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)
