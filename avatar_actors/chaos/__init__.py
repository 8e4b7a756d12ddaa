"""Makes faults on purpose, by a seed, on avatars under load, and checks every promise."""

from avatar_actors.chaos.campaign import ChaosAgents, plan_of
from avatar_actors.chaos.faults.kinds import KINDS, FaultKind
from avatar_actors.chaos.faults.schedule import ChaosOptions, FaultOrder, PlannedFault, digest
from avatar_actors.chaos.report.page import html_page
from avatar_actors.chaos.report.report import (
    ChaosReport,
    Promise,
    report_from_json,
    report_to_json,
)
from avatar_actors.chaos.report.summary import duration, share, text_summary, verdict
from avatar_actors.chaos.run import RunProgress, run_chaos

__all__ = [
    "ChaosAgents",
    "ChaosOptions",
    "ChaosReport",
    "FaultKind",
    "FaultOrder",
    "KINDS",
    "PlannedFault",
    "Promise",
    "RunProgress",
    "digest",
    "duration",
    "html_page",
    "plan_of",
    "report_from_json",
    "report_to_json",
    "run_chaos",
    "share",
    "text_summary",
    "verdict",
]
