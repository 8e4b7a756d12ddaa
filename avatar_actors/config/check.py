"""Finds all mistakes of a configuration at once, and what it names that is not there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias, TypeGuard

from msgspec import Struct, structs

from avatar_actors.config.loading import load, parts_in
from avatar_actors.config.nodes import Items, MappingNode, Node
from avatar_actors.config.reading import Effect, Environ
from avatar_actors.model.errors import ConfigError
from avatar_actors.model.values import McpServer

# More would be another file altogether.
MOST: Final = 100

Overlay: TypeAlias = Callable[[MappingNode, Environ], MappingNode]


class ConfigCheck(Struct, frozen=True):
    """What is wrong with a configuration, and what may be: programs that are not on the PATH."""

    mistakes: tuple[ConfigError, ...]
    warnings: tuple[ConfigError, ...] = ()


class _Sources(NamedTuple):
    """A file, one that was only found, and the environment, without what was found to be wrong."""

    root: MappingNode
    found: MappingNode | None
    environ: Mapping[str, str]


def check(
    root: MappingNode, found: MappingNode | None, environ: Environ, overlay: Overlay
) -> ConfigCheck:
    """Load it again and again, each time without the mistake of the last time."""
    mistakes: list[ConfigError] = []
    files: _Sources | None = _Sources(root, found, environ)
    while files is not None and len(mistakes) < MOST:
        try:
            whole = overlay(files.root, files.environ)
            load(whole, files.environ, files.found)
        except ConfigError as error:
            if not _is_consequence(error, mistakes):
                mistakes.append(error)
            files = _without(files, error)
        else:
            effects = [*_effects(whole, files.environ), *_effects(files.found, files.environ)]
            problems = list(_missing(effects, files.environ))
            mistakes += [error for error, is_mistake in problems if is_mistake]
            warnings = tuple(error for error, is_mistake in problems if not is_mistake)
            return ConfigCheck(_in_order(mistakes), _in_order(warnings))
    return ConfigCheck(_in_order(mistakes))


def _is_consequence(error: ConfigError, mistakes: list[ConfigError]) -> bool:
    """Whether it is about a section out of which a mistake was taken."""
    above = f"{error.key}." if error.key else ""
    return any(each.file == error.file and each.key.startswith(above) for each in mistakes)


def _in_order(errors: Iterable[ConfigError]) -> tuple[ConfigError, ...]:
    return tuple(sorted(errors, key=lambda error: (error.file, error.line, error.key)))


def _without(files: _Sources, error: ConfigError) -> _Sources | None:
    """The files without the place of this error; None if it is not known."""
    if error.file in files.environ and not error.line:
        rest = {name: text for name, text in files.environ.items() if name != error.file}
        return files._replace(environ=rest)
    if not error.key:
        return None
    root = _pruned(files.root, error, "")
    found = _pruned(files.found, error, "") if files.found is not None else None
    return _Sources(root, found, files.environ) if (root, found) != files[:2] else None


def _pruned(block: MappingNode, error: ConfigError, above: str) -> MappingNode:
    nodes: dict[str, Node] = {}
    if block.spot.source.name != error.file:
        return block
    for name, node in block.nodes.items():
        key = f"{above}{name}"
        if isinstance(node, MappingNode) and error.key.startswith(f"{key}."):
            nodes[name] = _pruned(node, error, f"{key}.")
        elif key != error.key:
            nodes[name] = node
        elif isinstance(node, Items) and error.line != node.spot.line:
            kept = tuple(each for each in node.nodes if each.spot.line != error.line)
            nodes[name] = structs.replace(node, nodes=kept)
    return structs.replace(block, nodes=nodes)


def _effects(root: MappingNode | None, environ: Environ) -> Iterator[Effect]:
    if root is not None:
        parts, entries = parts_in(root, environ)
        for part in (*parts.values(), *entries.values()):
            yield from part.effects


def _missing(effects: list[Effect], environ: Environ) -> Iterator[tuple[ConfigError, bool]]:
    """What is not there, and whether that is a mistake: a program may be elsewhere installed."""
    for effect in effects:
        problem, is_mistake = "", True
        match effect.target, effect.value:
            case "working_dir", Path() as path if not path.is_dir():
                problem = f"there is no directory {path}"
            case "log.file", Path() as path if not os.access(path.parent, os.W_OK | os.X_OK):
                there = "cannot be written" if path.parent.is_dir() else "does not exist"
                problem = f"the log cannot be written: {path.parent} {there}"
            case (("executable" | "custom.command"), str(word)) if word:
                problem, is_mistake = _program(word, environ), "/" in word
            case "mcp_servers", servers if _are_servers(servers):
                yield from _of_servers(servers, effect, environ)
            case _:
                pass
        if problem:
            yield _error(problem, effect), is_mistake


def _are_servers(value: object) -> TypeGuard[tuple[McpServer, ...]]:
    return isinstance(value, tuple)


def _of_servers(
    servers: tuple[McpServer, ...], effect: Effect, environ: Environ
) -> Iterator[tuple[ConfigError, bool]]:
    for server in servers:
        if server.command and (problem := _program(server.command, environ)):
            yield _error(f"{server.name}: {problem}", effect), "/" in server.command


def _program(word: str, environ: Environ) -> str:
    if shutil.which(word, path=environ.get("PATH")) is not None:
        return ""
    return f"there is no program {word}" if "/" in word else f"{word} is not on the PATH"


def _error(problem: str, effect: Effect) -> ConfigError:
    at = effect.at
    return ConfigError(problem, at.source.name, at.line, at.key)
