"""AvatarConfig: the settings that a YAML file and the environment come to.

Finding the file is left to `search`, its keys to `sections`, reading them to `reading`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from avatar_actors.config.environment import overlaid
from avatar_actors.config.loading import load
from avatar_actors.config.nodes import MappingNode, Node, Position, Scalar, Source, Trust, shown
from avatar_actors.config.search import read_text, search, users_own, write_new
from avatar_actors.config.sections import ROOT
from avatar_actors.model.checks import checked
from avatar_actors.model.errors import ConfigError, SettingsError
from avatar_actors.model.settings import AvatarOptions, RuntimeOptions, absolute_path
from avatar_actors.model.values import JsonObject
from avatar_actors.model.words import suggestion
from avatar_actors.providers.provider import Provider

if TYPE_CHECKING:
    from avatar_actors.config.check import ConfigCheck

__all__ = ["AvatarConfig", "config_schema", "find_config"]


class AvatarConfig(Struct, frozen=True, kw_only=True):
    """A configuration: the chosen provider, and the settings of every provider."""

    source: str
    """The file, or both files; empty if none was found."""
    provider: str
    names_provider: bool
    """Whether the file or the environment chose the provider; else it is the embedded one."""
    providers: tuple[Provider, ...]
    """The agents that the file defines itself."""
    sections: dict[str, AvatarOptions]
    """The keyword arguments of `open_avatar`, for every provider."""
    runtime: RuntimeOptions
    """The keyword arguments of `open_runtime`."""

    @classmethod
    @checked
    def load(
        cls, path: str | Path | None = None, environ: Mapping[str, str] | None = None
    ) -> AvatarConfig:
        """Read the file of this path, or the first that is found; raises ConfigError.

        A file that was only found in the current directory may set less than one that was named,
        and the user's own file is read with it: give None here, not what `find_config` found.
        """
        environ = os.environ if environ is None else environ
        return _made(*_files(path, environ), environ)

    @staticmethod
    @checked
    def check(
        path: str | Path | None = None, environ: Mapping[str, str] | None = None
    ) -> ConfigCheck:
        """All mistakes of the file that `load` would read, paths included; raises nothing."""
        from avatar_actors.config.check import ConfigCheck, check  # noqa: PLC0415 - only to check

        environ = os.environ if environ is None else environ
        try:
            root, found = _files(path, environ)
        except ConfigError as error:
            return ConfigCheck((error,))
        return check(root, found, environ, _overlaid)

    @staticmethod
    @checked
    def text(path: str | Path | None = None, environ: Mapping[str, str] | None = None) -> str:
        """What holds, in the form of a file: each value with its place, defaults as comments.

        A mark stands in the place of each secret. Raises ConfigError.
        """
        from avatar_actors.config.file_form import settings_text  # noqa: PLC0415 - only to show it

        environ = os.environ if environ is None else environ
        root, found = _files(path, environ)
        _made(root, found, environ)
        whole = _overlaid(root, environ)
        return settings_text(_merged(found, whole) if found else whole, environ)

    @staticmethod
    @checked
    def init(path: str | Path | None = None, environ: Mapping[str, str] | None = None) -> Path:
        """Write a file to start from: every line a comment. ConfigError: there is one already.

        Without a path it is the user's own file, in the directory of configurations.
        """
        from avatar_actors.config.file_form import template  # noqa: PLC0415 - only to write it

        return write_new(path, template(), os.environ if environ is None else environ)

    @classmethod
    @checked
    def parse(
        cls, text: str, source: str = "<text>", environ: Mapping[str, str] | None = None
    ) -> AvatarConfig:
        """Read a text; relative paths begin in the current directory."""
        environ = os.environ if environ is None else environ
        return _made(_root(text, Source(source, absolute_path(""))), None, environ)

    @checked
    def chosen(self, provider: str = "") -> tuple[str | Provider, AvatarOptions]:
        """The arguments for `runtime.start`, for this provider or the configured one."""
        name = provider or self.provider
        if name not in self.sections:
            there = f"there are: {', '.join(self.sections)}{suggestion(name, self.sections)}"
            raise SettingsError(f"no provider {name!r}; {there}")
        own = {each.name: each for each in self.providers}
        return own.get(name, name), self.sections[name].copy()

    @checked
    def shown(self, environ: Mapping[str, str] | None = None) -> JsonObject:
        """All of it as JSON, with a mark in place of each secret.

        `environment` lists the variables that took precedence over the file.
        """
        from avatar_actors.config import show  # noqa: PLC0415 - only needed to show it

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


@checked
def find_config(
    explicit: str | Path | None = None, environ: Mapping[str, str] | None = None
) -> Path | None:
    """The file that `AvatarConfig.load` would read first; None if there is none."""
    found = search(explicit, os.environ if environ is None else environ)
    return found.path if found else None


def config_schema() -> JsonObject:
    """A JSON Schema (2020-12) of the configuration file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Configuration of avatar-actors",
        **ROOT.schema(),
    }


def _files(
    path: str | Path | None, environ: Mapping[str, str]
) -> tuple[MappingNode, MappingNode | None]:
    """The file that counts, and one that was only found in the current directory."""
    first = search(path, environ)
    if first is None:
        return _root("", Source("", absolute_path(""))), None
    text, source = read_text(first)
    if first.trust is Trust.NAMED:
        return _root(text, source), None
    users = users_own(environ)
    own_text, own = read_text(users) if users else ("", Source("", Path.cwd()))
    return _root(own_text, own), _root(text, source)


def _overlaid(root: MappingNode, environ: Mapping[str, str]) -> MappingNode:
    return overlaid(root, environ, _parsed)


def _merged(lesser: MappingNode, root: MappingNode) -> MappingNode:
    """Both, key by key; what `root` says counts."""
    nodes = dict(lesser.nodes)
    for name, node in root.nodes.items():
        below = nodes.get(name)
        if isinstance(below, MappingNode) and isinstance(node, MappingNode):
            nodes[name] = _merged(below, node)
        else:
            nodes[name] = node
    return MappingNode(root.spot, nodes)


def _made(root: MappingNode, found: MappingNode | None, environ: Mapping[str, str]) -> AvatarConfig:
    loaded = load(_overlaid(root, environ), environ, found)
    read = [root.spot.source.name, found.spot.source.name if found else ""]
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
    # Imported late: only reading a configuration needs yaml.
    from avatar_actors.config.yaml_text import parse_yaml  # noqa: PLC0415

    return parse_yaml(text, source)
