"""From effects to settings: groups what belongs together, and checks that it can work."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeAlias, TypeGuard

import msgspec

from avatar_actors.config.keys import Effect
from avatar_actors.model.errors import ConfigError, SettingsError
from avatar_actors.model.settings import (
    AvatarOptions,
    AvatarSettings,
    Budget,
    LogSettings,
    MetricsSettings,
    RateLimit,
    Restarts,
    Retry,
    RuntimeOptions,
    Timeouts,
)
from avatar_actors.model.tool_policy import ToolPolicy
from avatar_actors.providers.provider import Place, Provider

Fields: TypeAlias = dict[str, object]
_TRUTHS: Final = {True: "true", False: "false"}


def avatar_options(effects: Iterable[Effect]) -> AvatarOptions:
    """The keyword arguments of `open_avatar`; where two effects have one target, the later wins."""
    by_target = {effect.target: effect for effect in effects}
    made = _grouped(by_target.values(), _AVATAR_GROUPS)
    if made.get("working_dir", "") is None:
        del made["working_dir"]
    if made.get("continue_last") and made.get("resume"):
        by_target["resume"].at.refuse("contradicts continue_last; keep one of them")
    try:
        msgspec.convert(made, AvatarSettings)  # their types, and what no agent can be given
    except msgspec.ValidationError as error:
        at = list(by_target.values())[-1].at
        raise ConfigError(str(error.__cause__ or error), at.source.name, at.line) from None
    if not _are_avatar_options(made):
        raise SettingsError(f"no such settings: {sorted(made)}")
    return made


def runtime_options(effects: Iterable[Effect]) -> RuntimeOptions:
    """The keyword arguments of `open_runtime`."""
    return msgspec.convert(_grouped(effects, _HOST_GROUPS), RuntimeOptions)


def check_plan(provider: Provider, options: AvatarOptions) -> None:
    """Have the provider look at its settings now; what the host can still add is taken as given."""
    settings = msgspec.structs.replace(AvatarSettings(), **options)
    if settings.url:
        return
    place = Place(private_dir=Path("private"), session_id="check")
    bare = msgspec.structs.replace(settings, executable=settings.executable or "some")
    with suppress(SettingsError):  # which a model may cure
        provider.plan(bare, place)
        return
    provider.plan(msgspec.structs.replace(bare, model=settings.model or "some"), place)


def _are_avatar_options(made: Fields) -> TypeGuard[AvatarOptions]:
    return set(made) <= set(AvatarOptions.__annotations__)


def _grouped(effects: Iterable[Effect], groups: dict[str, Callable[[Fields], object]]) -> Fields:
    made: Fields = {}
    parts: dict[str, dict[str, Effect]] = {}
    for effect in effects:
        head, dot, field = effect.target.partition(".")
        if dot:
            parts.setdefault(head, {})[field] = effect
        else:
            made[head] = effect.value
    for head, fields in parts.items():
        last = list(fields.values())[-1]
        try:
            made[head] = groups[head]({name: each.value for name, each in fields.items()})
        except SettingsError as error:
            at = last.at
            raise ConfigError(str(error), at.source.name, at.line, at.key) from None
    return made


def _rate_limit(fields: Fields) -> RateLimit | None:
    if fields.pop("enabled", True) is False:
        return None
    return msgspec.convert({"per_minute": 60.0, **fields}, RateLimit)


def _options(fields: Fields) -> dict[str, str]:
    given = fields.pop("*", {})
    words = {name: _word(value) for name, value in fields.items() if value != ""}
    return msgspec.convert({**msgspec.convert(given, dict[str, str]), **words}, dict[str, str])


def _word(value: object) -> str:
    return _TRUTHS[value] if isinstance(value, bool) else str(value)


def _args(fields: Fields) -> tuple[str, ...]:
    given, debug = fields.get("given", ()), fields.get("debug", ())
    return msgspec.convert(given, tuple[str, ...]) + msgspec.convert(debug, tuple[str, ...])


def _output_schema(fields: Fields) -> object:
    schema = fields.get("schema")
    if fields.get("enabled") is True and schema is None:
        raise SettingsError("is enabled without a schema; give structured_output.schema")
    return None if fields.get("enabled") is False else schema


def _log(fields: Fields) -> LogSettings:
    del fields["enabled"]
    return msgspec.convert(fields, LogSettings)


def _metrics(fields: Fields) -> MetricsSettings | None:
    if fields.pop("enabled", True) is False:
        return None
    return msgspec.convert(fields, MetricsSettings)


_AVATAR_GROUPS: Final[dict[str, Callable[[Fields], object]]] = {
    "args": _args,
    "budget": lambda fields: msgspec.convert(fields, Budget),
    "options": _options,
    "output_schema": _output_schema,
    "rate_limit": _rate_limit,
    "restarts": lambda fields: msgspec.convert(fields, Restarts),
    "retry": lambda fields: msgspec.convert(fields, Retry),
    "timeouts": lambda fields: msgspec.convert(fields, Timeouts),
    "tools": lambda fields: ToolPolicy(**msgspec.convert(fields, dict[str, tuple[str, ...]])),
}
_HOST_GROUPS: Final[dict[str, Callable[[Fields], object]]] = {
    "budget": _AVATAR_GROUPS["budget"],
    "log": _log,
    "metrics": _metrics,
}
