"""Which agents could be used at once: installed, and signed in as far as can be seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from avatar_actors.agent_lookup import AgentFound


def ready_agents(env: Mapping[str, str] | None = None) -> Iterator[AgentFound]:
    """Those that are ready, the first choice first; nothing is run to find out."""
    yield from ()
