"""Turns the sections of a configuration into the settings of every provider and of the runtime."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeAlias, TypeGuard, TypeVar

import msgspec
from msgspec import Struct

from avatar_actors.config.keys import Named
from avatar_actors.config.nodes import MappingNode, Position
from avatar_actors.config.reading import (
    Effect,
    Environ,
    effects_of,
    effects_of_section,
    named_nodes,
    parts_of,
)
from avatar_actors.config.search import refuse_powers
from avatar_actors.config.sections import HOST_SECTIONS, ROOT
from avatar_actors.model.errors import ConfigError, SettingsError
from avatar_actors.model.settings import AvatarOptions, AvatarSettings, RuntimeOptions
from avatar_actors.model.words import suggestion
from avatar_actors.providers.acp import acp_provider
from avatar_actors.providers.provider import Place, Provider
from avatar_actors.providers.registry import BUILT_IN, provider_named, provider_names

T = TypeVar("T")
Fields: TypeAlias = dict[str, object]

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_PATH: Final = re.compile(r"`\$\.(\w+)")
_TRUTHS: Final = {True: "true", False: "false"}


class Loaded(Struct, frozen=True):
    """What a configuration says, as settings."""

    provider: str
    names_provider: bool
    custom: dict[str, Provider]
    sections: dict[str, AvatarOptions]
    runtime: RuntimeOptions


class _Part(Struct, frozen=True):
    """One section of the file."""

    at: Position
    effects: list[Effect]


class _CustomAgent(Struct, frozen=True):
    """What an entry of `providers:` says about the agent itself."""

    command: str = ""
    args: tuple[str, ...] = ()
    install: str = ""
    passes: tuple[str, ...] = ()


def load(root: MappingNode, environ: Environ, found: MappingNode | None = None) -> Loaded:
    """All settings, checked; raises ConfigError.

    `found` is a file that nobody named: everything that `root` says counts before it.
    """
    parts, entries = parts_in(root, environ)
    lesser, foreign = parts_in(found, environ) if found else ({}, {})
    refuse_powers(Effect("providers", None, each.at) for each in foreign.values())
    known = provider_names()
    custom: dict[str, Provider] = {}
    for name, entry in entries.items():
        if provider := _custom_provider(name, entry, known):
            custom[name] = provider
    given = {**{name: part for name, part in parts.items() if name in known}, **entries}
    sections = {
        name: _avatar_options(
            [
                *_effects(lesser, "engine", "rate_limit", *([name] if name in known else [])),
                *_effects(parts, "engine", "rate_limit"),
                *_effects(given, name),
            ]
        )
        for name in sorted({*known, *custom})
    }
    chosen = _chosen(parts, list(sections))
    for name in {chosen: 0, **dict.fromkeys(given)}:
        at = given[name].at if name in given else root.spot
        _check_plan(custom.get(name) or name, sections[name], at)
    host = [*_effects(lesser, *HOST_SECTIONS), *_effects(parts, *HOST_SECTIONS)]
    runtime = _converted(_tree(host), RuntimeOptions, host)
    return Loaded(chosen, "provider" in parts, custom, sections, runtime)


def parts_in(root: MappingNode, environ: Environ) -> tuple[dict[str, _Part], dict[str, _Part]]:
    """The sections by name, and the entries of `providers:`."""
    parts: dict[str, _Part] = {}
    entries: dict[str, _Part] = {}
    for name, (key, node) in parts_of(ROOT, root, root.spot).items():
        at = root.spot.below(name, node)
        if isinstance(key.kind, Named):
            for entry, each in named_nodes(node, at, key.words()).items():
                spot = at.below(entry, each)
                effects = effects_of_section(key.kind.each, each, spot, environ)
                entries[entry] = _Part(spot, effects)
        else:
            parts[name] = _Part(at, effects_of(key, node, at, environ))
    for part in (*parts.values(), *entries.values()):
        refuse_powers(part.effects)
    return parts, entries


def _effects(parts: dict[str, _Part], *names: str) -> list[Effect]:
    return [each for name in names if name in parts for each in parts[name].effects]


def _custom_provider(name: str, entry: _Part, known: list[str]) -> Provider | None:
    """The provider that the entry describes; None if another package has one of this name."""
    if name in BUILT_IN:
        entry.at.refuse(f"{name} is known already and has a section of its own: {name}")
    if not _NAME.fullmatch(name):
        entry.at.refuse("a provider's name consists of letters, digits, dashes and underscores")
    fields = _tree(entry.effects)
    custom = msgspec.convert(fields.get("custom", {}), _CustomAgent)
    if bool(custom.command) and bool(fields.get("url")):
        entry.at.refuse("an agent has a command or a url, one of them")
    if custom.command or fields.get("url"):
        command = (custom.command, *custom.args) if custom.command else ()
        return acp_provider(name, command, passes=custom.passes, install=custom.install)
    if name not in known:
        there = ", ".join(known)
        entry.at.refuse(f"an agent of your own needs a command or a url; installed are {there}")
    return None


def _chosen(parts: dict[str, _Part], names: list[str]) -> str:
    for effect in _effects(parts, "provider"):
        name = str(effect.value)
        if name not in names:
            there = f"there are {', '.join(names)}{suggestion(name, names)}"
            effect.at.refuse(f"no provider {name!r}; {there}")
        return name
    return "embedded"


def _avatar_options(effects: list[Effect]) -> AvatarOptions:
    """The keyword arguments of `open_avatar`; of two effects on one setting the later wins."""
    made = _tree(effects)
    made.pop("custom", None)
    if made.get("working_dir", "") is None:
        del made["working_dir"]
    if made.get("continue_last") and made.get("resume"):
        _last(effects, "resume").refuse("contradicts continue_last; keep one of them")
    _join_options(made)
    _join_output_schema(made, effects)
    settings = _converted(made, AvatarSettings, effects)
    options: Fields = {name: getattr(settings, name) for name in made}
    if not _are_avatar_options(options):
        raise SettingsError(f"no such settings: {sorted(options)}")
    return options


def _tree(effects: Iterable[Effect]) -> Fields:
    """The values by the paths of their settings; a group that is switched off is None."""
    made: Fields = {}
    groups: dict[str, Fields] = {}
    for effect in effects:
        head, dot, field = effect.target.partition(".")
        if dot:
            made[head] = groups.setdefault(head, {})
            groups[head][field] = effect.value
        else:
            made[head] = effect.value
    for head in ("rate_limit", "metrics", "log"):
        if head in groups and groups[head].pop("enabled", True) is False:
            made[head] = None
    if made.get("rate_limit") is not None:
        groups["rate_limit"].setdefault("per_minute", 60.0)
    return made


def _join_options(made: Fields) -> None:
    """Bring the provider's options and its arguments together from the keys that set them."""
    if debug := made.pop("debug_args", ()):
        made["args"] = msgspec.convert(made.get("args", ()), tuple[str, ...]) + msgspec.convert(
            debug, tuple[str, ...]
        )
    if "options" in made:
        fields = msgspec.convert(made["options"], dict[str, object])
        given = msgspec.convert(fields.pop("*", {}), dict[str, object])
        words = {name: value for name, value in fields.items() if value != ""}
        made["options"] = {
            name: _TRUTHS[value] if isinstance(value, bool) else str(value)
            for name, value in {**given, **words}.items()
        }


def _join_output_schema(made: Fields, effects: list[Effect]) -> None:
    if "output_schema" not in made:
        return
    fields = msgspec.convert(made["output_schema"], dict[str, object])
    enabled, schema = fields.get("enabled"), fields.get("schema")
    if enabled is True and schema is None:
        at = _last(effects, "output_schema")
        at.refuse("is enabled without a schema; give structured_output.schema")
    made["output_schema"] = None if enabled is False else schema


def _converted(made: Fields, kind: type[T], effects: list[Effect]) -> T:
    """The settings; what they refuse is told with the line of the last effect on that setting."""
    try:
        return msgspec.convert(made, kind)
    except msgspec.ValidationError as error:
        where = _PATH.search(str(error))
        at = _last(effects, where[1] if where else "")
        key = at.key if where else ""
        problem = str(error.__cause__ or error)
        raise ConfigError(problem, at.source.name, at.line, key) from None


def _last(effects: list[Effect], head: str) -> Position:
    """Where the setting, or one of the group, was given last."""
    own = [each.at for each in effects if each.target.partition(".")[0] == head]
    return (own or [each.at for each in effects])[-1]


def _are_avatar_options(made: Fields) -> TypeGuard[AvatarOptions]:
    return set(made) <= set(AvatarOptions.__annotations__)


def _check_plan(provider: str | Provider, options: AvatarOptions, at: Position) -> None:
    """Have the provider check its settings now; what the host can still add counts as given."""
    try:
        kind = provider_named(provider) if isinstance(provider, str) else provider
        settings = msgspec.structs.replace(AvatarSettings(), **options)
        if settings.url:
            return
        place = Place(private_dir=Path("private"), session_id="check")
        bare = msgspec.structs.replace(settings, executable=settings.executable or "some")
        with suppress(SettingsError):  # a model may be what is missing
            kind.plan(bare, place)
            return
        kind.plan(msgspec.structs.replace(bare, model=settings.model or "some"), place)
    except SettingsError as error:
        raise ConfigError(str(error), at.source.name, at.line, at.key) from None
