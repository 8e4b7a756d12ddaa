"""Checks the options of a provider: a key that nobody reads is a mistake of the host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import AvatarSettings


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
