"""Which of its modes an ACP agent is put into, so that it keeps to the host's permissions."""

from __future__ import annotations

from avatar_actors.model.events import DiagnosticEvent
from avatar_actors.model.values import Level, PermissionBasis
from avatar_actors.wire.acp.choices import Choices
from avatar_actors.wire.acp.profile import AcpProfile, HeldBy


def held_by(profile: AcpProfile, agent_name: str, modes: Choices) -> HeldBy:
    """By what the provider or the agent's name says; else in the first mode that promises to ask.

    The names of modes are only words: what they come to in an unknown agent stays on trust.
    """
    own = HeldBy(profile.mode, profile.permissions, profile.asks_after_start)
    told = profile.known_agents.get(agent_name, own)
    if modes.offers(told.mode) if told.mode else told.permissions is not PermissionBasis.ON_TRUST:
        return told
    offered = {_letters(mode): mode for mode in reversed(modes.ids())}
    mode = next((offered[name] for name in profile.asking_modes if name in offered), "")
    return HeldBy(mode, asks_after_start=told.asks_after_start)


def missing_mode(profile: AcpProfile, modes: Choices) -> list[DiagnosticEvent]:
    """What to say when the provider's mode is not among those that are offered."""
    if not profile.mode or not modes.all or modes.offers(profile.mode):
        return []
    message = f"the agent offers no mode {profile.mode!r}, only {modes.names()}"
    return [DiagnosticEvent(message=message, level=Level.WARNING, source="wire")]


def _letters(name: str) -> str:
    return "".join(filter(str.isalpha, name.lower()))
