"""Finds a provider by its name, and checks the options that it is given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Final

from avatar_actors.model.checks import checked
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import AvatarSettings
from avatar_actors.model.words import suggestion
from avatar_actors.providers.provider import Provider

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints


GROUP: Final = "avatar_actors.providers"

# Where each stands; imported when it is asked for, since an avatar needs only one.
BUILT_IN: Final = {
    "acp": "avatar_actors.providers.acp:any_acp_provider",
    "claude": "avatar_actors.providers.claude:claude_provider",
    "codex": "avatar_actors.providers.codex:codex_provider",
    "embedded": "avatar_actors.providers.embedded:embedded_provider",
    "gemini": "avatar_actors.providers.gemini:gemini_provider",
}
# Known too, but without a section of their own in a configuration: `providers:` may have an entry
# of the same name, with settings for it or with another command.
FURTHER: Final = {
    "claude-agent-acp": "avatar_actors.providers.claude_agent_acp:claude_agent_acp_provider",
    "opencode": "avatar_actors.providers.opencode:opencode_provider",
    "qwen": "avatar_actors.providers.qwen:qwen_provider",
}


@checked
def provider_named(name: str) -> Provider:
    """The provider of this name; SettingsError lists the names there are.

    An entry point of the group `avatar_actors.providers` is a Provider, or a function without
    arguments that makes one.
    """
    if where := {**BUILT_IN, **FURTHER}.get(name):
        module, _, function = where.partition(":")
        return _made(name, getattr(import_module(module), function))
    for each in _announced().select(name=name):
        return _made(name, each.load())
    names = provider_names()
    there_are = f"there are: {', '.join(names)}"
    raise SettingsError(f"no provider {name!r}; {there_are}{suggestion(name, names)}")


def provider_names() -> list[str]:
    """Every name that can be asked for."""
    return sorted({*BUILT_IN, *FURTHER, *_announced().names})


def _made(name: str, found: object) -> Provider:
    provider = found() if callable(found) else found
    if not isinstance(provider, Provider):
        raise SettingsError(f"the entry point {name!r} of {GROUP} is no provider: {provider!r}")
    return provider


def _announced() -> EntryPoints:
    # A tenth of a trio's import: only who asks for a provider of another package pays for it.
    from importlib.metadata import entry_points  # noqa: PLC0415

    return entry_points(group=GROUP)


def check_options(provider: str, settings: AvatarSettings, known: Iterable[str]) -> None:
    """Raises SettingsError for an option that the provider does not have."""
    known = sorted(known)
    for option in settings.options:
        if option not in known:
            raise SettingsError(
                f"{provider} has no option {option!r}; there are: {', '.join(known)}"
            )


def choice(settings: AvatarSettings, option: str, words: Iterable[str], default: str) -> str:
    """The option's value, one of the words."""
    words = tuple(words)
    value = settings.options.get(option, default)
    if value not in words:
        raise SettingsError(f"option {option!r} is one of {', '.join(words)}; got {value!r}")
    return value


def number(options: Mapping[str, str], option: str) -> float | int | None:
    """The option's value as a number; None when it is not given."""
    text = options.get(option)
    if text is None:
        return None
    try:
        return int(text) if text.lstrip("-").isdecimal() else float(text)
    except ValueError:
        raise SettingsError(f"option {option!r} is a number; got {text!r}") from None
