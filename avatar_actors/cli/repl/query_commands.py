"""The slash commands that only show something: /tree, /cost, /tools, /sessions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from avatar_actors import Avatar, Budget, CostSource, Runtime, StoredSession, ToolStatus, Usage
from avatar_actors.cli.repl.context import ReplContext
from avatar_actors.cli.terminal.text import one_line

SIGNS: Final = {
    ToolStatus.COMPLETED: "✓",
    ToolStatus.FAILED: "✗",
    ToolStatus.CANCELLED: "⊘",
    ToolStatus.UNKNOWN: "?",
}
_SECONDS_SHOWN = 10
# More would push everything else off the screen.
_MOST_SESSIONS = 20


async def tree(context: ReplContext, _: str) -> list[str]:
    """The supervision tree as it is now."""
    return str(await context.runtime.tree()).splitlines()


async def tools(context: ReplContext, _: str) -> list[str]:
    """The tool calls of the current or last turn."""
    if not context.log.tools:
        return ["no tool was called in the last turn"]
    return [
        f"{SIGNS.get(tool.status, '…')} {one_line(tool.label)}"
        f"  {tool.status.value}{_time(tool.began, tool.ended)}"
        for tool in context.log.tools.values()
    ]


def _time(began: float, ended: float) -> str:
    seconds = ended - began
    if not ended:
        return ""
    return f" ({seconds:.1f}s)" if seconds < _SECONDS_SHOWN else f" ({seconds:.0f}s)"


async def cost(context: ReplContext, _: str) -> list[str]:
    """What this REPL used and cost, who says so, and what is left of the budget."""
    spent = await context.runtime.run(Runtime.spent)
    lines = [
        f"turns: {len(context.log.exchanges)}",
        f"tokens: {_tokens(spent)}",
        f"cost: {_money(spent)}",
    ]
    lines += _left("budget of the run", context.choice.runtime.get("budget", Budget()), spent)
    own = context.choice.options.get("budget", Budget())
    if own != Budget():
        health = await context.ask(Avatar.health)
        lines += _left("budget", own, health.total)
        lines += _turns_left(own, health.turns)
    return lines


def _tokens(usage: Usage) -> str:
    if not usage.tokens:
        return "unknown: the agent reported none"
    kinds = {"in": usage.input_tokens, "out": usage.output_tokens, "cached": usage.cached_tokens}
    return ", ".join(f"{count:,} {kind}" for kind, count in kinds.items() if count)


def _money(usage: Usage) -> str:
    if usage.cost_usd is None:
        return "unknown: the agent reported none"
    about = "~" if usage.cost_source is not CostSource.REPORTED else ""
    return f"{about}${usage.cost_usd:.4f} ({usage.cost_source.value})"


def _left(name: str, budget: Budget, used: Usage) -> Iterator[str]:
    if budget.cost_usd is not None:
        left = max(0.0, budget.cost_usd - (used.cost_usd or 0.0))
        yield f"{name}: ${left:.4f} of ${budget.cost_usd:.4f} left"
    if budget.tokens is not None:
        left = max(0, budget.tokens - used.tokens)
        yield f"{name}: {left:,} of {budget.tokens:,} tokens left"


def _turns_left(budget: Budget, turns: int) -> Iterator[str]:
    if budget.turns is not None:
        yield f"budget: {max(0, budget.turns - turns)} of {budget.turns} turns left"


async def sessions(context: ReplContext, _: str) -> list[str]:
    """The stored sessions, numbered for /resume; the current one is marked."""
    found = await context.ask(Avatar.sessions)
    present = (await context.ask(Avatar.health)).session_id
    if not found:
        return ["no stored sessions for this directory"]
    lines = [
        f"{'*' if one.session_id == present else ' '}{number:>3}  {_when(one)}  "
        f"{one_line(one.title) or '(no title)'}"
        for number, one in enumerate(found[:_MOST_SESSIONS], start=1)
    ]
    more = len(found) - _MOST_SESSIONS
    return [*lines, f"and {more} older ones"] if more > 0 else lines


def _when(session: StoredSession) -> str:
    """The time of its last use, in the local time zone."""
    try:
        moment = datetime.fromisoformat(session.updated_at or session.created_at)
    except ValueError:
        return "?".ljust(len("2026-11-16 10:51"))
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"
