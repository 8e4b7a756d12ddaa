"""Which versions of an agent are too old, from what it says of itself. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from avatar_actors.model.values import ProviderCapabilities

_NUMBERS = re.compile(r"\d+(?:\.\d+)+")


def version_in(text: str) -> str:
    """The first version in these words; empty if there is none."""
    found = _NUMBERS.search(text)
    return found.group() if found else ""


def is_older(version: str, minimum: str) -> bool:
    """Whether it is; a version that is none is not."""
    return bool(version_in(version)) and _numbers(version) < _numbers(minimum)


def too_old(agent: ProviderCapabilities, minimum: Mapping[str, str]) -> str:
    """The warning about an agent that is older than what is supported; else nothing."""
    least = minimum.get(agent.agent, "")
    if not least or not is_older(agent.version, least):
        return ""
    name, version = agent.agent, agent.version
    return f"{name} {version} is older than {least}, the oldest that is supported; update it"


def _numbers(version: str) -> list[int]:
    return [int(number) for number in version_in(version).split(".")]
