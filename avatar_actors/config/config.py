"""The configuration of a program with avatars: from a YAML file and the environment to settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from avatar_actors.config.environment import overlaid
from avatar_actors.config.loading import load
from avatar_actors.config.nodes import MappingNode, Node, Position, Scalar, Source, Trust, shown
from avatar_actors.config.search import read_text, search, users_own
from avatar_actors.config.sections import ROOT
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import AvatarOptions, RuntimeOptions, absolute_path
from avatar_actors.model.values import JsonObject, suggestion
from avatar_actors.providers.provider import Provider

__all__ = ["AvatarConfig", "config_schema", "find_config"]


class AvatarConfig(Struct, frozen=True, kw_only=True):
    """What a configuration says: the chosen provider, and settings for each that there is.

    `source` is the file, or both of them, empty if none was found; `names_provider`: it, or the
    environment, chose the provider, which is the embedded one otherwise. `providers` are the agents
    of one's own. `sections` has, for every provider, the keyword arguments of `open_avatar`;
    `runtime` is those of `open_runtime`.
    """

    source: str
    provider: str
    names_provider: bool
    providers: tuple[Provider, ...]
    sections: dict[str, AvatarOptions]
    runtime: RuntimeOptions

    @classmethod
    def load(
        cls, path: str | Path | None = None, environ: Mapping[str, str] | None = None
    ) -> AvatarConfig:
        """Read the file of this path, or the first that is found; raises ConfigError.

        A file that merely lies in the current directory may say less than one that was named, and
        the user's own file is read beside it: give None here, not what `find_config` found.
        """
        environ = os.environ if environ is None else environ
        found = search(path, environ)
        if found is None:
            return _made("", Source("", absolute_path("")), environ)
        text, source = read_text(found)
        if found.trust is Trust.NAMED:
            return _made(text, source, environ)
        users = users_own(environ)
        own_text, own = read_text(users) if users else ("", Source("", Path.cwd()))
        return _made(own_text, own, environ, _root(text, source))

    @classmethod
    def parse(
        cls, text: str, source: str = "<text>", environ: Mapping[str, str] | None = None
    ) -> AvatarConfig:
        """Read a text; relative paths begin in the current directory."""
        environ = os.environ if environ is None else environ
        return _made(text, Source(source, absolute_path("")), environ)

    def chosen(self, provider: str = "") -> tuple[str | Provider, AvatarOptions]:
        """What to give to `runtime.start`, for this provider or the configured one."""
        name = provider or self.provider
        if name not in self.sections:
            there = f"there are: {', '.join(self.sections)}{suggestion(name, self.sections)}"
            raise SettingsError(f"no provider {name!r}; {there}")
        own = {each.name: each for each in self.providers}
        return own.get(name, name), self.sections[name].copy()

    def shown(self, environ: Mapping[str, str] | None = None) -> JsonObject:
        """All of it as JSON, to be looked at; in place of each secret there is a mark.

        `environment` has the names of the variables that went before the file.
        """
        from avatar_actors.config import show  # noqa: PLC0415 - only who looks pays

        environ = os.environ if environ is None else environ
        sections = {name: options for name, options in self.sections.items() if options}
        return {
            "source": self.source,
            "environment": show.from_environment(environ),
            "provider": self.provider,
            "names_provider": self.names_provider,
            "providers": [each.name for each in self.providers],
            "sections": show.shown_values(sections, environ),
            "runtime": show.shown_values(self.runtime, environ),
        }

    def __repr__(self) -> str:
        # The sections hold keys and tokens.
        return f"AvatarConfig(source={self.source!r}, provider={self.provider!r}, …)"


def find_config(
    explicit: str | Path | None = None, environ: Mapping[str, str] | None = None
) -> Path | None:
    """Which file `AvatarConfig.load` would read first, to show it; None if there is none."""
    found = search(explicit, os.environ if environ is None else environ)
    return found.path if found else None


def config_schema() -> JsonObject:
    """A JSON Schema (2020-12) of the configuration file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Configuration of avatar-actors",
        **ROOT.schema(),
    }


def _made(
    text: str, source: Source, environ: Mapping[str, str], found: MappingNode | None = None
) -> AvatarConfig:
    loaded = load(overlaid(_root(text, source), environ, _parsed), environ, found)
    read = [source.name, found.spot.source.name if found else ""]
    return AvatarConfig(
        source=" and ".join(filter(None, read)),
        provider=loaded.provider,
        names_provider=loaded.names_provider,
        providers=tuple(loaded.custom.values()),
        sections=loaded.sections,
        runtime=loaded.runtime,
    )


def _root(text: str, source: Source) -> MappingNode:
    root = _parsed(text, source)
    if root is None or (isinstance(root, Scalar) and root.value() is None):
        return MappingNode(Position(source), {})
    if not isinstance(root, MappingNode):
        root.spot.refuse(f"a configuration is a section of keys; got {shown(root)}")
    return root


def _parsed(text: str, source: Source) -> Node | None:
    if not text.strip():
        return None
    # Only who reads a configuration pays for yaml.
    from avatar_actors.config.yaml_text import parse_yaml  # noqa: PLC0415

    return parse_yaml(text, source)
