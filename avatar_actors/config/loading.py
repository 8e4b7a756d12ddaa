"""From the nodes of a configuration to the settings of every provider, custom ones included."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import Struct

from avatar_actors.config.assembling import avatar_options, check_plan, runtime_options
from avatar_actors.config.keys import Effect, effects_of
from avatar_actors.config.kinds import Environ, nearest
from avatar_actors.config.nodes import MappingNode, Position
from avatar_actors.config.provider_sections import OWN
from avatar_actors.config.schema import HOST_SECTIONS, ROOT
from avatar_actors.config.search import refuse_powers
from avatar_actors.model.errors import ConfigError, SettingsError
from avatar_actors.model.settings import AvatarOptions, RuntimeOptions
from avatar_actors.providers.acp import acp_provider
from avatar_actors.providers.provider import Provider
from avatar_actors.providers.registry import BUILT_IN, provider_named, provider_names

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class _Own(Struct, frozen=True):
    command: str = ""
    args: tuple[str, ...] = ()
    install: str = ""
    passes: tuple[str, ...] = ()


def custom_provider(
    name: str, effects: list[Effect], at: Position, known: list[str]
) -> Provider | None:
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


class Loaded(Struct, frozen=True):
    """What a configuration says, translated."""

    provider: str
    names_provider: bool
    own: dict[str, Provider]
    sections: dict[str, AvatarOptions]
    runtime: RuntimeOptions


class _Part(Struct, frozen=True):
    at: Position
    effects: list[Effect]


def translated(root: MappingNode, environ: Environ, found: MappingNode | None = None) -> Loaded:
    """All of it, checked; raises ConfigError.

    `found` is a file that merely lay there: what `root` says counts before all of it.
    """
    parts, entries = _parts(root, environ)
    lesser, strangers = _parts(found, environ) if found else ({}, {})
    refuse_powers(Effect("providers", None, stranger.at) for stranger in strangers.values())
    known = provider_names()
    own: dict[str, Provider] = {}
    for name, entry in entries.items():
        if agent := custom_provider(name, entry.effects, entry.at, known):
            own[name] = agent
    given = {**{name: part for name, part in parts.items() if name in known}, **entries}
    shared, less_shared = (_shared(each) for each in (parts, lesser))
    sections = {
        name: avatar_options(
            [
                *less_shared,
                *(_effects(lesser, name) if name in known else []),
                *shared,
                *_settings_of(given, name),
            ]
        )
        for name in sorted({*known, *own})
    }
    chosen = _chosen(parts, list(sections))
    for name in {chosen: 0, **dict.fromkeys(given)}:
        _check(own.get(name) or name, sections[name], given.get(name, _Part(root.spot, [])).at)
    host = [each for by in (lesser, parts) for name in HOST_SECTIONS for each in _effects(by, name)]
    return Loaded(chosen, "provider" in parts, own, sections, runtime_options(host))


def _parts(root: MappingNode, environ: Environ) -> tuple[dict[str, _Part], dict[str, _Part]]:
    """The sections by name, and the entries of `providers:`."""
    parts: dict[str, _Part] = {}
    entries: dict[str, _Part] = {}
    for name, (key, node) in ROOT.parts(root, root.spot).items():
        at = root.spot.below(name, node)
        if key.kind is OWN:
            for entry, (each, spot) in OWN.parts(node, at).items():
                entries[entry] = _Part(spot, OWN.each.effects(each, spot, environ))
        else:
            parts[name] = _Part(at, effects_of(key, node, at, environ))
    for part in (*parts.values(), *entries.values()):
        refuse_powers(part.effects)
    return parts, entries


def _effects(parts: dict[str, _Part], name: str) -> list[Effect]:
    return parts[name].effects if name in parts else []


def _shared(parts: dict[str, _Part]) -> list[Effect]:
    return [*_effects(parts, "engine"), *_effects(parts, "rate_limit")]


def _settings_of(parts: dict[str, _Part], name: str) -> Iterator[Effect]:
    return (each for each in _effects(parts, name) if not each.target.startswith("own."))


def _chosen(parts: dict[str, _Part], names: list[str]) -> str:
    for effect in _effects(parts, "provider"):
        name = str(effect.value)
        if name not in names:
            there = f"there are {', '.join(names)}{nearest(name, names)}"
            effect.at.refuse(f"no provider {name!r}; {there}")
        return name
    return "embedded"


def _check(provider: str | Provider, options: AvatarOptions, at: Position) -> None:
    try:
        kind = provider_named(provider) if isinstance(provider, str) else provider
        check_plan(kind, options)
    except SettingsError as error:
        raise ConfigError(str(error), at.source.name, at.line, at.key) from None
