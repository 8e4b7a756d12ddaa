"""Whether a model's API refused a prompt only for now, by the words an agent passes on. Pure.

Agents tell the HTTP status in words if they tell it at all: "API Error: 529 Overloaded" (Claude
Code 2.1.325), "… (HTTP 429)" (what our wires make of Gemini's error codes), "exceeded retry limit,
last status: 429 Too Many Requests" (codex-acp 2.6.0). So words are what is looked at.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

_STATUS: Final = r"(?:HTTP|status|code|error|rejected)\W{0,6}(?:429|503|529)\b"
_WORDS: Final = (
    r"overloaded|too many requests|rate.?limit|resource_exhausted|\bunavailable\b|high demand"
)
FOR_NOW: Final = re.compile(rf"{_STATUS}|{_WORDS}", re.IGNORECASE)
# These come with the same statuses, and waiting does not help.
FOR_GOOD: Final = re.compile(r"insufficient.quota|billing|credit balance", re.IGNORECASE)
# As in: please retry in 34.07s; try again in 500ms; Retry-After: 5.
PAUSE: Final = re.compile(
    r"(?:retry|try again)[- ](?:after|in)\W{0,3}(\d+(?:\.\d+)?) ?(ms|s|min)?", re.IGNORECASE
)
_SECONDS: Final = {"ms": 0.001, "s": 1.0, "min": 60.0, "": 1.0}


class Refusal(Struct, frozen=True):
    """Whether trying again may help, and how many seconds the agent asks to wait."""

    is_recoverable: bool = False
    retry_after: float = 0.0


def refusal_in(words: str) -> Refusal:
    """What these words of a failed turn say."""
    if not FOR_NOW.search(words) or FOR_GOOD.search(words):
        return Refusal()
    pause = PAUSE.search(words)
    if pause is None:
        return Refusal(is_recoverable=True)
    return Refusal(
        is_recoverable=True, retry_after=float(pause[1]) * _SECONDS[(pause[2] or "").lower()]
    )
