"""The entries of `providers:`, each an ACP agent that works under its name."""

from __future__ import annotations

import re
from typing import Final

import msgspec
from msgspec import Struct

from avatar_actors.config.keys import Effect
from avatar_actors.config.nodes import Spot
from avatar_actors.providers.acp import acp_provider
from avatar_actors.providers.provider import Provider
from avatar_actors.providers.registry import BUILT_IN

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class _Own(Struct, frozen=True):
    command: str = ""
    args: tuple[str, ...] = ()
    install: str = ""
    passes: tuple[str, ...] = ()


def own_agent(name: str, effects: list[Effect], at: Spot, known: list[str]) -> Provider | None:
    """The provider that the entry describes; None if another package has one of this name."""
    if name in BUILT_IN:
        at.refuse(f"{name} is known already and has a section of its own: {name}")
    if not _NAME.fullmatch(name):
        at.refuse("a provider's name is of letters, digits, dashes and underscores")
    fields = {each.target: each.value for each in effects}
    own = msgspec.convert(
        {target.removeprefix("own."): v for target, v in fields.items() if target[:4] == "own."},
        _Own,
    )
    if bool(own.command) and bool(fields.get("url")):
        at.refuse("an agent has a command or a url, one of them")
    if own.command or fields.get("url"):
        command = (own.command, *own.args) if own.command else ()
        return acp_provider(name, command, passes=own.passes, install=own.install)
    if name not in known:
        at.refuse(
            f"an agent of your own needs a command or a url; installed are {', '.join(known)}"
        )
    return None
