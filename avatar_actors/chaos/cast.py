"""Whose agents are tried, which faults they can suffer, and so which are planned."""

from __future__ import annotations

from msgspec import Struct

from avatar_actors import AvatarOptions, Provider, SettingsError
from avatar_actors.chaos.faults.kinds import FaultKind, Needs, possible
from avatar_actors.chaos.faults.schedule import PlannedFault, ScheduleWish, schedule
from avatar_actors.chaos.report.report import ChaosOptions
from avatar_actors.providers.registry import provider_named

SCRIPTED = "embedded"


class Cast(Struct, frozen=True, kw_only=True):
    """Who is tried: a provider and the options for each of its avatars."""

    provider: str | Provider = SCRIPTED
    options: AvatarOptions = {}

    @property
    def kind(self) -> Provider:
        """The provider itself."""
        named = self.provider
        return provider_named(named) if isinstance(named, str) else named

    @property
    def needs(self) -> Needs:
        """What it can play."""
        return Needs.SCRIPT if self.kind.name == SCRIPTED else Needs.NOTHING


def plan_of(options: ChaosOptions, cast: Cast) -> tuple[PlannedFault, ...]:
    """The schedule of these options for this provider; a SettingsError if it can suffer none."""
    kinds = possible(options.kinds, cast.needs)
    if not kinds:
        names = ", ".join(kind.value for kind in options.kinds)
        raise SettingsError(f"{cast.kind.name} plays no scripts, without which there is no {names}")
    wish = ScheduleWish(
        seed=options.seed,
        seconds=options.seconds,
        every=options.every,
        avatars=options.avatars,
        kinds=kinds,
        order=options.order,
    )
    return schedule(wish)


def left_out(options: ChaosOptions, cast: Cast) -> tuple[FaultKind, ...]:
    """The kinds that were wished, or all, without those that it can play."""
    can = possible(options.kinds, cast.needs)
    return tuple(kind for kind in options.kinds or FaultKind if kind not in can)
