"""Chooses the provider and its settings from the options, the configuration and PATH."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from avatar_actors import (
    AvatarConfig,
    AvatarOptions,
    Budget,
    PermissionBasis,
    PermissionMode,
    Provider,
    ProviderCapabilities,
    RuntimeOptions,
    Timeouts,
    ready_agents,
)
from avatar_actors.cli.options import CommandOptions
from avatar_actors.cli.session.finder import SessionFinder
from avatar_actors.cli.terminal.output import StderrNotes

_UNASKED: Final = {
    PermissionMode.SAFE: "ends the turn, but may have done its work by then",
    PermissionMode.ASK: "is only reported",
}


class AgentChoice(Struct, frozen=True, kw_only=True):
    """The arguments of `runtime.start` and `open_runtime`, and why this provider was chosen."""

    provider: str | Provider
    options: AvatarOptions
    runtime: RuntimeOptions
    why: str
    is_automatic: bool = False
    """Whether neither the person nor the configuration named it."""

    @property
    def name(self) -> str:
        """The provider's name."""
        return self.provider if isinstance(self.provider, str) else self.provider.name

    def announce(self, notes: StderrNotes) -> None:
        """Say on stderr who answers: in any case if nobody named the agent, else to a person."""
        if self.is_automatic:
            notes.warn(f"{self.name} answers: {self.why}")
        else:
            notes.say(f"{self.name}: {self.why}")

    def caution(self, can: ProviderCapabilities) -> str:
        """A warning for the person if nothing but trust holds the agent back; else empty."""
        mode = self.options.get("permissions", PermissionMode.ASK)
        is_own = mode is PermissionMode.ASK and bool(self.options.get("mode"))
        is_trusted = can.permissions is PermissionBasis.ON_TRUST and not is_own
        if not is_trusted or not isinstance(mode, PermissionMode) or mode not in _UNASKED:
            return ""
        who = can.agent or self.name
        return (
            f"{who} is on trust: it may change things without asking. "
            f"With permission {mode.value}, a tool that runs unasked {_UNASKED[mode]}"
        )


def choose_agent(wanted: CommandOptions) -> AgentChoice:
    """Choose; ConfigError or SettingsError says in one line what is wrong."""
    config = AvatarConfig.load(wanted.config)
    name, why = _chosen(wanted, config)
    is_automatic = not wanted.provider and not config.names_provider
    provider, options = config.chosen(name)
    # So that `avatar tree` can watch it, unless the configuration says no.
    runtime: RuntimeOptions = {"observable": True, **config.runtime}
    options = _with(options, wanted)
    sessions = SessionFinder(config, (name,), wanted.cwd)
    if wanted.resume:
        options["resume"] = sessions.whole_id(wanted.resume)
    if wanted.fork:
        options["fork"] = sessions.whole_id(wanted.fork)
    return AgentChoice(
        provider=provider,
        options=options,
        runtime=runtime,
        why=why,
        is_automatic=is_automatic,
    )


def _chosen(wanted: CommandOptions, config: AvatarConfig) -> tuple[str, str]:
    if wanted.provider:
        return wanted.provider, "as you asked"
    if config.names_provider:
        return config.provider, f"as {config.source or '$AVATAR_PROVIDER'} says"
    for agent in ready_agents(config.sections):
        return agent.name, f"the first agent that is ready: {agent.path}"
    return "embedded", "no other agent is ready; see: avatar health --check-cli"


def _with(options: AvatarOptions, wanted: CommandOptions) -> AvatarOptions:
    options = options.copy()
    if wanted.model:
        options["model"] = wanted.model
    if wanted.cwd is not None or "working_dir" not in options:
        options["working_dir"] = wanted.cwd or Path()
    if wanted.permission is not None:
        options["permissions"] = wanted.permission
    if wanted.timeout is not None:
        timeouts = options.get("timeouts") or Timeouts()
        options["timeouts"] = msgspec.structs.replace(timeouts, turn=wanted.timeout)
    if wanted.budget is not None:
        budget = options.get("budget") or Budget()
        options["budget"] = msgspec.structs.replace(budget, cost_usd=wanted.budget)
    if wanted.continue_last:
        options["continue_last"] = True
    return options
