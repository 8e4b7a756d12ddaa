"""Figures in the words of people: times, tokens, money."""

from __future__ import annotations

from avatar_actors import CostSource, Usage

_MINUTE, _HOUR = 60, 3600
_FEW_SECONDS = 10
_THOUSAND, _MILLION = 1000, 1_000_000
_CENT = 0.01


def seconds(duration: float) -> str:
    """How long something took."""
    if duration < _FEW_SECONDS:
        return f"{max(0.0, duration):.1f}s"
    return elapsed(duration)


def elapsed(duration: float) -> str:
    """How long something goes on: it changes once a second at most."""
    whole = max(0, int(duration))
    if whole < _MINUTE:
        return f"{whole}s"
    if whole < _HOUR:
        return f"{whole // _MINUTE}m {whole % _MINUTE:02}s"
    return f"{whole // _HOUR}h {whole % _HOUR // _MINUTE:02}m"


def count(number: int) -> str:
    """Tokens, in three digits or so."""
    if number < _THOUSAND:
        return str(number)
    if number < _MILLION:
        return f"{number / _THOUSAND:.1f}k"
    return f"{number / _MILLION:.1f}M"


def used(usage: Usage) -> list[str]:
    """Tokens and money, each if somebody told it; a tilde: nobody did, so it was guessed."""
    words = [f"{count(usage.tokens)} tokens"] if usage.tokens else []
    if usage.cost_usd:
        about = "~" if usage.cost_source is CostSource.ESTIMATED else ""
        digits = 2 if usage.cost_usd >= _CENT else 4
        words.append(f"{about}${usage.cost_usd:.{digits}f}")
    return words
