"""Parses YAML text into nodes with their lines, within limits on depth and size.

It reads PyYAML's events, not its composed nodes: those have lost explicit tags and the lines of
aliases, and are built by recursion before anything can be counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import yaml
from msgspec import structs

from avatar_actors.config.nodes import Items, MappingNode, Node, Position, Scalar, Source

MOST_VALUES: Final = 10_000
DEEPEST: Final = 24

_UNPRINTABLE: Final = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
# An escape can make them: "\\0", "\\ud83d".
_UNTEXT: Final = re.compile("[\0\ud800-\udfff]")
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse_yaml(text: str, source: Source) -> Node | None:
    """The document of the text; None if there are only comments."""
    if found := _UNPRINTABLE.search(text):
        line = text.count("\n", 0, found.start()) + 1
        Position(source, line).refuse(f"not a text: it holds the character {found[0]!r}")
    try:
        return _Composer(text, source).document()
    except yaml.MarkedYAMLError as error:
        line = _line(error, text)
        Position(source, line).refuse(_problem(error, text, line))


def _line(error: yaml.MarkedYAMLError, text: str) -> int:
    """The line of the problem; for what never ends, the line where it begins."""
    last = len(text.splitlines())
    lines = [mark.line + 1 for mark in (error.problem_mark, error.context_mark) if mark]
    return next((line for line in lines if line <= last), last)


def _problem(error: yaml.MarkedYAMLError, text: str, line: int) -> str:
    here = text.splitlines()[line - 1]
    if "\t" in here[: len(here) - len(here.lstrip())]:
        return "a tab in the indentation; YAML wants spaces"
    context = f" {error.context}" if error.context else ""
    return f"invalid YAML: {error.problem or 'it cannot be read'}{context}"


def _events(text: str) -> Iterator[yaml.Event]:
    yield from yaml.parse(text, Loader=_LOADER)  # pyright: ignore[reportUnknownMemberType]


class _Composer:
    def __init__(self, text: str, source: Source) -> None:
        self._source = source
        self._events = _events(text)
        self._anchors: dict[str, Node] = {}

    def document(self) -> Node | None:
        found: Node | None = None
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                if found is not None:
                    self._spot(event).refuse("a second document begins; a file is one document")
                found = self._node(next(self._events), 0)
        return found

    def _spot(self, event: yaml.Event) -> Position:
        return Position(self._source, event.start_mark.line + 1 if event.start_mark else 1)

    def _node(self, event: yaml.Event, depth: int) -> Node:
        spot = self._spot(event)
        if depth > DEEPEST:
            spot.refuse(f"nested deeper than {DEEPEST} levels")
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                spot.refuse(f"*{event.anchor} is not defined above")
            return structs.replace(self._anchors[event.anchor], spot=spot)
        node = self._new_node(event, spot, depth)
        if isinstance(event, yaml.NodeEvent) and event.anchor:
            self._anchors[event.anchor] = node
        return node

    def _new_node(self, event: yaml.Event, spot: Position, depth: int) -> Node:
        if isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) and event.tag:
            spot.refuse(f"tags are not supported: remove {event.tag!r}")
        if isinstance(event, yaml.ScalarEvent):
            if _UNTEXT.search(event.value):
                spot.refuse("holds a NUL character or half a surrogate pair")
            return Scalar(spot, event.value, is_quoted=bool(event.style))
        is_block = isinstance(event, yaml.MappingStartEvent)
        return self._block(spot, depth) if is_block else self._items(spot, depth)

    def _items(self, spot: Position, depth: int) -> Items:
        nodes: list[Node] = []
        size = 1
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            nodes.append(self._node(event, depth + 1))
            size = _sum(size, nodes[-1])
        return Items(spot, tuple(nodes), size)

    def _block(self, spot: Position, depth: int) -> MappingNode:
        nodes: dict[str, Node] = {}
        size = 1
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._node(event, depth + 1)
            if not isinstance(key, Scalar):
                key.spot.refuse("a key is a word, not a list or a section")
            if key.text in nodes:
                first = nodes[key.text].spot.line
                key.spot.refuse(f"duplicate key {key.text!r}, first in line {first}")
            node = self._node(next(self._events), depth + 1)
            nodes[key.text] = structs.replace(node, spot=key.spot)
            size = _sum(size, nodes[key.text])
        return MappingNode(spot, nodes, size)


def _sum(size: int, node: Node) -> int:
    if size + node.size > MOST_VALUES:
        node.spot.refuse(f"more than {MOST_VALUES} values, aliases counted as what they stand for")
    return size + node.size
