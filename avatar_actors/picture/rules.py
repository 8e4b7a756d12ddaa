"""The specification of the picture as data: what decides the mood, the headline and the counts.

A screen works out the facts that hold now and takes the first row of a table that names one of
them. A screen in another language can follow the same tables.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from avatar_actors import (
    ActivityStatus,
    Continuity,
    EngineState,
    Level,
    Outcome,
    StallVerdict,
    ThinkingPhase,
)


class Mood(Enum):
    """What the figure shows. The value is the word below it."""

    IDLE = "idle"
    STARTING = "starting"
    LOADING = "loading"
    THINKING = "thinking"
    ANALYZING = "analyzing"
    PLANNING = "planning"
    CODING = "coding"
    REVIEWING = "reviewing"
    TALKING = "talking"
    WORKING = "working"
    APPROVAL = "asks you"
    STALLED = "stalled"
    ERROR = "error"
    RESTARTING = "restarting"
    OVER_BUDGET = "over budget"


class Fact(Enum):
    """Something that holds of an avatar now. The value says when."""

    GAVE_UP = "the avatar gave up: an ErrorEvent that is not recoverable"
    DOWN = "the agent is gone and is being replaced: EngineState.ERROR"
    ASKS = "a permission request is open"
    STARTING = "BridgeState.WARMING_UP, or nothing was heard of the agent yet"
    STUCK = "the last StallEvent of this silence says WEDGED"
    RUNS_MANY = "more than one tool runs"
    RUNS_ONE = "one tool runs"
    USES_TOOLS = "EngineState.TOOL_EXECUTING"
    TALKS = "EngineState.RESPONDING"
    PHASE_ANALYZING = "a thought that looks into something is open"
    PHASE_PLANNING = "a thought of PLANNING or TOOL_PLANNING is open"
    PHASE_CODING = "a thought about writing code is open"
    PHASE_REVIEWING = "a thought that checks the work is open"
    HAS_SUBJECT = "the open thought has a subject"
    THINKS = "a thought is open"
    SILENT = "a turn runs and nothing of it was heard yet"
    BUSY = "a turn runs, and the engine is not idle"
    WAS_OVER_BUDGET = "the last turn ended as OVER_BUDGET"
    HAS_FAILED = "the last turn ended as FAILED, CRASHED, TIMED_OUT or REFUSED"


MOODS: Final = (
    (Fact.GAVE_UP, Mood.ERROR),
    (Fact.DOWN, Mood.RESTARTING),
    (Fact.ASKS, Mood.APPROVAL),
    (Fact.STARTING, Mood.STARTING),
    (Fact.STUCK, Mood.STALLED),
    (Fact.USES_TOOLS, Mood.WORKING),
    (Fact.TALKS, Mood.TALKING),
    (Fact.PHASE_ANALYZING, Mood.ANALYZING),
    (Fact.PHASE_PLANNING, Mood.PLANNING),
    (Fact.PHASE_CODING, Mood.CODING),
    (Fact.PHASE_REVIEWING, Mood.REVIEWING),
    (Fact.THINKS, Mood.THINKING),
    (Fact.SILENT, Mood.LOADING),
    (Fact.BUSY, Mood.THINKING),
    (Fact.WAS_OVER_BUDGET, Mood.OVER_BUDGET),
    (Fact.HAS_FAILED, Mood.ERROR),
)
"""The most important first; without any of these facts, the mood is IDLE."""

HEADLINES: Final = (
    (Fact.GAVE_UP, "No agent now: the next prompt starts a new conversation"),
    (Fact.DOWN, "The agent is gone; it comes back"),
    (Fact.STARTING, "Starting the agent"),
    (Fact.STUCK, "Silent for {silent}: it seems stuck"),
    (Fact.RUNS_MANY, "{running} tools side by side"),
    (Fact.RUNS_ONE, "{tool}"),
    (Fact.ASKS, "May it? {ask}"),
    (Fact.HAS_SUBJECT, "{subject}"),
    (Fact.TALKS, "Responding"),
    (Fact.THINKS, "Thinking"),
    (Fact.SILENT, "Thinking"),
    (Fact.BUSY, "Working"),
    (Fact.WAS_OVER_BUDGET, "Over budget: raise it to go on"),
    (Fact.HAS_FAILED, "The last turn did not finish"),
)
"""What runs comes before what waits for a person, that before a thought, and that before "Working":
the headline is the most important thing, not the last event. Without any fact it is empty."""

PHASES: Final = {
    ThinkingPhase.ANALYZING: Fact.PHASE_ANALYZING,
    ThinkingPhase.PLANNING: Fact.PHASE_PLANNING,
    ThinkingPhase.TOOL_PLANNING: Fact.PHASE_PLANNING,
    ThinkingPhase.CODING: Fact.PHASE_CODING,
    ThinkingPhase.REVIEWING: Fact.PHASE_REVIEWING,
}
ENGINE: Final = {
    EngineState.ERROR: Fact.DOWN,
    EngineState.TOOL_EXECUTING: Fact.USES_TOOLS,
    EngineState.RESPONDING: Fact.TALKS,
}
OUTCOMES: Final = {
    Outcome.OVER_BUDGET: Fact.WAS_OVER_BUDGET,
    Outcome.FAILED: Fact.HAS_FAILED,
    Outcome.CRASHED: Fact.HAS_FAILED,
    Outcome.TIMED_OUT: Fact.HAS_FAILED,
    Outcome.REFUSED: Fact.HAS_FAILED,
}
STALLS: Final = {StallVerdict.WEDGED: Fact.STUCK}

COUNTS: Final = {
    ActivityStatus.RUNNING: "running",
    ActivityStatus.COMPLETED: "done",
    ActivityStatus.PENDING: "waits",
    ActivityStatus.FAILED: "failed",
    ActivityStatus.UNKNOWN: "failed",
    ActivityStatus.CANCELLED: "cancelled",
}
"""The word that counts a job. The first four are always shown, in the order of ALWAYS_COUNTED."""
ALWAYS_COUNTED: Final = ("running", "done", "waits", "failed")

NEEDS_YOU: Final = frozenset({Mood.APPROVAL, Mood.STALLED, Mood.ERROR, Mood.OVER_BUDGET})
"""The moods in which a person has to do something."""


class Age(Enum):
    """How long a running job has been silent."""

    FRESH = "fresh"
    SLOW = "slow"
    STUCK = "stuck"


AGES: Final = ((60.0, Age.STUCK), (30.0, Age.SLOW), (0.0, Age.FRESH))
"""Seconds without news of a job, and what it is called from then on."""

COLLAPSE_ABOVE: Final = 10
"""With more jobs running than this, the tree becomes one line per agent."""
EXPAND_BELOW: Final = 5
"""With fewer than this, it becomes a tree again."""
FOLD_AFTER: Final = 2.0
"""Seconds after its end, a finished job hides its children."""
FLASH: Final = 0.2
"""Seconds that the row of a job is lit after its end."""

DIAGNOSTIC_TOASTS: Final = frozenset({Level.WARNING, Level.ERROR})
CONTINUITY_TOASTS: Final = {Continuity.RESUMED: Level.INFO, Continuity.FRESH: Level.WARNING}
BACKGROUND: Final = frozenset({"agent", "background_task"})
"""The kinds of jobs whose end is told by a toast, and which have a colour of their own."""
