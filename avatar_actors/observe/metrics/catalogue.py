"""The figures that there are: name, meaning, unit, labels. The table in docs/avatars/observing.md.

Labels have few values: neither avatars nor sessions nor prompts are among them.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class MetricBehaviour(Enum):
    """How a figure behaves."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Metric(Struct, frozen=True):
    """One figure, under its name in Prometheus."""

    name: str
    kind: MetricBehaviour
    meaning: str
    unit: str
    labels: tuple[str, ...] = ()


REQUESTS = Metric(
    "avatar_requests_total",
    MetricBehaviour.COUNTER,
    "Prompts that came to their outcome",
    "requests",
    ("provider", "status"),
)
DURATION = Metric(
    "avatar_request_duration_seconds",
    MetricBehaviour.HISTOGRAM,
    "Time from the beginning of a turn to its outcome",
    "seconds",
    ("provider",),
)
SESSIONS = Metric(
    "avatar_active_sessions",
    MetricBehaviour.GAUGE,
    "Agents that are up and take prompts",
    "sessions",
)
TURNS = Metric(
    "avatar_turns_in_flight", MetricBehaviour.GAUGE, "Turns that have begun and not ended", "turns"
)
WAITING = Metric(
    "avatar_queue_waiting", MetricBehaviour.GAUGE, "Prompts that wait behind a turn", "prompts"
)
COST = Metric(
    "avatar_cost_usd_total",
    MetricBehaviour.COUNTER,
    "What turns cost, by where the figure comes from",
    "usd",
    ("provider", "source"),
)
TOKENS = Metric(
    "avatar_tokens_total",
    MetricBehaviour.COUNTER,
    "Tokens used: input, output, cached, reasoning",
    "tokens",
    ("provider", "kind"),
)
RESTARTS = Metric(
    "avatar_restarts_total",
    MetricBehaviour.COUNTER,
    "Restarts by a supervisor; without a provider: of the runtime's own parts",
    "restarts",
    ("provider", "part"),
)
STALLS = Metric(
    "avatar_stalls_total",
    MetricBehaviour.COUNTER,
    "Silences of an agent that were judged",
    "stalls",
    ("provider", "verdict"),
)
DEPTH = Metric(
    "avatar_mailbox_depth",
    MetricBehaviour.GAUGE,
    "What waits in the mailboxes of all actors of one kind",
    "messages",
    ("part",),
)
ORPHANS = Metric(
    "avatar_orphans_reaped_total",
    MetricBehaviour.COUNTER,
    "Processes that agents left behind and that the warden reaped",
    "processes",
    ("provider",),
)
MERGED = Metric(
    "avatar_events_merged_total",
    MetricBehaviour.COUNTER,
    "Pieces of text that were merged for a slow subscriber; none is lost",
    "events",
    ("provider",),
)
DROPPED = Metric(
    "avatar_events_dropped_total",
    MetricBehaviour.COUNTER,
    "Events that a subscriber was too slow for",
    "events",
    ("provider",),
)

METRICS = (
    *(REQUESTS, DURATION, SESSIONS, TURNS, WAITING, COST, TOKENS, RESTARTS, STALLS),
    *(DEPTH, ORPHANS, MERGED, DROPPED),
)
# Read off the tree at the moment of a scrape; all others are kept up to date by the collector.
OF_THE_TREE = (SESSIONS, DEPTH)

# Seconds. A tool-free answer takes a few, a long piece of work an hour.
BUCKETS = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)
