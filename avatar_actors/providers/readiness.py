"""Which agents could be used at once: installed, and signed in as far as can be seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final

from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import AvatarOptions
from avatar_actors.providers.lookup import AgentFound, see_agent
from avatar_actors.providers.registry import provider_names

# Before those of other packages. The embedded agent is no choice but what is left without one.
FIRST: Final = ("claude", "gemini", "codex")
NEVER: Final = ("embedded",)


def ready_agents(sections: Mapping[str, AvatarOptions] | None = None) -> Iterator[AgentFound]:
    """Those that are ready, the first choice first; nothing is run to find out.

    `sections` are the settings by provider, as those of an AvatarConfig. An agent of which nobody
    can say whether it is signed in is not among them.
    """
    given = sections or {}
    for name in chain(FIRST, _others()):
        try:
            found = see_agent(name, **given.get(name, {}))
        except SettingsError:
            continue  # it needs more than its name
        if found.is_ready:
            yield found


def _others() -> Iterator[str]:
    yield from (name for name in provider_names() if name not in {*FIRST, *NEVER})
