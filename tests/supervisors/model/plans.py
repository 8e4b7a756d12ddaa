"""What the machine invents, as data: a tree to begin with, and the steps that are done to it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TypeAlias

from supervisors import AutoShutdown, ExitKind, Restart, Strategy

BRUTAL = 0.0
INFINITE = math.inf


@dataclass(frozen=True)
class Worker:
    """A child that obeys: it needs `cleanup` seconds to stop and is given `patience` of them."""

    name: str
    restart: Restart = Restart.PERMANENT
    significant: bool = False
    cleanup: float = 0
    patience: float = INFINITE


@dataclass(frozen=True)
class Team:
    """A supervisor and the children it has from the start."""

    name: str
    strategy: Strategy = Strategy.ONE_FOR_ONE
    intensity: int = 1
    period: float = 5
    auto_shutdown: AutoShutdown = AutoShutdown.NEVER
    max_children: int | None = None
    restart: Restart = Restart.PERMANENT
    significant: bool = False
    children: tuple[Plan, ...] = ()


Plan: TypeAlias = Worker | Team


@dataclass(frozen=True)
class Finish:
    """A running worker crashes, returns or leaves in order by itself."""

    path: str
    how: ExitKind


@dataclass(frozen=True)
class CrashTeam:
    """A supervisor crashes itself: its own task raises."""

    path: str


@dataclass(frozen=True)
class NextStarts:
    """How the next starts of the worker at this path go; after these it starts well again."""

    path: str
    outcomes: tuple[ExitKind, ...]


@dataclass(frozen=True)
class Wait:
    """Time passes."""

    seconds: float


@dataclass(frozen=True)
class Freeze:
    """The supervisor handles nothing until the thaw: exits and requests queue up."""

    path: str


@dataclass(frozen=True)
class Thaw:
    """The frozen supervisor goes on with all that queued up."""


@dataclass(frozen=True)
class Start:
    """Ask the supervisor at `path` to add a child."""

    path: str
    plan: Plan


@dataclass(frozen=True)
class Terminate:
    """Ask the supervisor at `path` to stop a child."""

    path: str
    child: str


@dataclass(frozen=True)
class RestartChild:
    """Ask the supervisor at `path` to start a child that is not running."""

    path: str
    child: str


@dataclass(frozen=True)
class Delete:
    """Ask the supervisor at `path` to forget a child."""

    path: str
    child: str


@dataclass(frozen=True)
class Count:
    """Ask the supervisor at `path` for its numbers."""

    path: str


@dataclass(frozen=True)
class Describe:
    """Ask the supervisor at `path` for the list of its children."""

    path: str


Request: TypeAlias = Start | Terminate | RestartChild | Delete | Count | Describe
Step: TypeAlias = Finish | CrashTeam | NextStarts | Wait | Freeze | Thaw | Request


def spell(plan: Plan, indent: str = "") -> str:
    """The tree as a person would write it down, one child a line."""
    facts = [plan.restart.value]
    if plan.significant:
        facts.append("significant")
    if isinstance(plan, Worker):
        if plan.cleanup:
            facts.append(f"cleans up for {plan.cleanup:g} s of {plan.patience:g}")
        elif plan.patience == BRUTAL:
            facts.append("brutal")
        return f"{indent}{plan.name}: {', '.join(facts)}"
    facts.insert(0, plan.strategy.value)
    facts.append(f"{plan.intensity} in {plan.period:g} s")
    if plan.auto_shutdown is not AutoShutdown.NEVER:
        facts.append(plan.auto_shutdown.value)
    if plan.max_children is not None:
        facts.append(f"at most {plan.max_children}")
    lines = [f"{indent}{plan.name}: {', '.join(facts)}"]
    return "\n".join([*lines, *(spell(child, indent + "    ") for child in plan.children)])


def spell_step(step: Step | None) -> str:
    """The step in one short line; the last one is none."""
    return re.sub(r"<\w+\.(\w+): [^>]*>", r"\1", str(step)) if step else "(the host leaves)"
