"""Puts the environment's values before the file's: `AVATAR_MODEL`, `AVATAR__CLAUDE__MODEL`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import structs

from avatar_actors.config.keys import Key, Named, Section
from avatar_actors.config.nodes import MappingNode, Node, Position, Scalar, Source
from avatar_actors.config.reading import Environ
from avatar_actors.config.sections import ROOT
from avatar_actors.model.settings import absolute_path
from avatar_actors.providers.registry import BUILT_IN, provider_names

Parse: TypeAlias = Callable[[str, Source], Node | None]
Way: TypeAlias = tuple[str, ...]

PREFIX: Final = "AVATAR__"
# Of the chosen provider's section, whichever that is.
OF_PROVIDER: Final = {
    "AVATAR_MODEL": "model",
    "AVATAR_WORKING_DIR": "working_dir",
    "AVATAR_TIMEOUT": "timeout",
}
OF_ALL: Final = {"AVATAR_PROVIDER": ("provider",), "AVATAR_LOG_LEVEL": ("logging", "level")}


def overlaid(root: MappingNode, environ: Environ, parse: Parse) -> MappingNode:
    """The configuration with what the environment says instead."""
    for variable, way in _wishes(root, environ):
        at = Position(Source(variable, absolute_path("")))
        keys, kind = _located(ROOT, way, root, at)
        root = _put(root, keys, _node(environ[variable], kind, at, parse))
    return root


def _wishes(root: MappingNode, environ: Environ) -> Iterator[tuple[str, Way]]:
    """The variables that are set, the general ones first, and where in the table they lead."""
    yield from ((variable, way) for variable, way in OF_ALL.items() if environ.get(variable))
    chosen = environ.get(f"{PREFIX}PROVIDER") or environ.get("AVATAR_PROVIDER") or _named(root)
    section = (chosen,) if chosen in BUILT_IN else ("providers", chosen)
    for variable, key in OF_PROVIDER.items():
        if environ.get(variable) and _is_there(chosen, root):
            yield variable, (*section, key)
    for variable in sorted(environ):
        if variable.startswith(PREFIX):
            yield variable, tuple(variable.removeprefix(PREFIX).split("__"))


def _named(root: MappingNode) -> str:
    node = root.nodes.get("provider")
    return node.text if isinstance(node, Scalar) else "embedded"


def _is_there(provider: str, root: MappingNode) -> bool:
    """If it is not, that is the error to be told, not what would be set for it."""
    own = root.nodes.get("providers")
    return provider in provider_names() or (isinstance(own, MappingNode) and provider in own.nodes)


def _located(
    kind: object, words: Sequence[str], node: Node | None, at: Position
) -> tuple[Way, object]:
    """The keys that the words of a variable mean, and what the last one may be."""
    if not words:
        return (), kind
    word, *rest = words
    inner: object
    if isinstance(kind, Key) and isinstance(kind.kind, Section | Named):
        kind = kind.kind
    match kind:
        case Section():
            inner = kind.keys.get(word.lower())
            if inner is None:
                at.refuse(f"{word.lower()}: {kind.unknown(word.lower())}")
            name = inner.name
        case Named(each):
            name, inner = _own_name(word, node), each
        case Key() if kind.kind == dict[str, str]:
            name, inner = word, str
        case _:
            at.refuse(f"there is no key {word.lower()!r}: what stands above it is no section")
    below = node.nodes.get(name) if isinstance(node, MappingNode) else None
    way, last = _located(inner, rest, below, at)
    return (name, *way), last


def _own_name(word: str, node: Node | None) -> str:
    """A name of the user's own, in whose variable neither small letters nor dashes may stand."""
    names = node.nodes if isinstance(node, MappingNode) else {}
    spelt = {name.replace("-", "_").lower(): name for name in names}
    return spelt.get(word.replace("-", "_").lower(), word if word in names else word.lower())


def _node(text: str, kind: object, at: Position, parse: Parse) -> Node:
    is_text = isinstance(kind, Key) and kind.kind in (str, Path) and not kind.choices()
    if is_text or kind is str:
        return Scalar(at, text, is_quoted=True)
    node = parse(text, at.source)
    return Scalar(at, "") if node is None else structs.replace(node, spot=at)


def _put(block: MappingNode, way: Way, node: Node) -> MappingNode:
    name, *rest = way
    if rest:
        below = block.nodes.get(name, MappingNode(node.spot, {}))
        if isinstance(below, Scalar) and below.value() is None:
            below = MappingNode(node.spot, {})
        # What is no section stays and gets its error when it is read.
        node = _put(below, tuple(rest), node) if isinstance(below, MappingNode) else below
    return structs.replace(block, nodes={**block.nodes, name: node})
