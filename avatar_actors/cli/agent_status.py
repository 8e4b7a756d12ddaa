"""Every agent that can be asked for: what it is, and what is seen of it here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from msgspec import Struct

from avatar_actors import (
    AgentFound,
    AvatarConfig,
    AvatarOptions,
    Provider,
    SettingsError,
    SignedIn,
    config_schema,
    find_agent,
    see_agent,
)

_WITHOUT_A_SECTION: Final = {
    "claude-agent-acp": "Claude Code, by its ACP adapter",
    "opencode": "opencode",
    "qwen": "Qwen Code",
}

Look: TypeAlias = Callable[[str | Provider, AvatarOptions], AgentFound]


class AgentStatus(Struct, frozen=True):
    """An agent of this name; `problem` is why nothing could be looked for."""

    name: str
    about: str
    agent: AgentFound
    problem: str = ""

    @property
    def state(self) -> str:
        """Whether it can be used, in a few words."""
        if self.problem:
            return "not set up"
        if not self.agent.path:
            return "elsewhere" if "://" in self.agent.executable else "missing"
        if not self.agent.is_supported:
            return "too old"
        return {
            SignedIn.YES: "ready",
            SignedIn.NO: "not signed in",
            SignedIn.UNKNOWN: "perhaps",
        }[self.agent.sign_in.verdict]

    @property
    def advice(self) -> str:
        """What to do before it can be used, if anything."""
        return self.problem or self.agent.advice or self.agent.sign_in.advice

    @property
    def to_do(self) -> str:
        """The advice as a line of its own; empty if there is none."""
        is_named = not self.advice or self.advice.startswith(f"{self.name} ")
        return self.advice if is_named else f"{self.name}: {self.advice}"


def seen(config: AvatarConfig, name: str, look: Look) -> AgentStatus:
    """What is to be seen of this one, by this look."""
    provider, options = config.chosen(name)
    about = _about(config, name)
    try:
        return AgentStatus(name, about, look(provider, options))
    except SettingsError as error:
        return AgentStatus(name, about, AgentFound(name=name, executable=""), str(error))


def glance(provider: str | Provider, options: AvatarOptions) -> AgentFound:
    """Look without running anything."""
    return see_agent(provider, **options)


def inspect(provider: str | Provider, options: AvatarOptions) -> AgentFound:
    """Have it tell its version, too."""
    glanced = see_agent(provider, **options)
    # What stands before it would tell its own version: `npx`.
    if not glanced.path or options.get("args"):
        return glanced
    return find_agent(provider, options.get("executable", ""), options.get("env"))


def _about(config: AvatarConfig, name: str) -> str:
    if any(each.name == name for each in config.providers):
        return "your own"
    if name in _WITHOUT_A_SECTION:
        return _WITHOUT_A_SECTION[name]
    known = config_schema()["properties"].get(name, {"description": "of another package"})
    return str(known["description"]).rstrip(".")
