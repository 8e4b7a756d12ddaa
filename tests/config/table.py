"""The keys of a configuration, to walk through: every key, and those that a text has."""

from collections.abc import Iterator
from typing import Any

from avatar_actors.config.keys import Key, Named, RemovedKey, Section
from avatar_actors.config.sections import ROOT


def section_of(kind: object) -> Section | None:
    """The keys below, if the key is a section or a section of names."""
    section = kind.each if isinstance(kind, Named) else kind
    return section if isinstance(section, Section) else None


def every_key(section: Section = ROOT, above: str = "") -> Iterator[tuple[str, Key]]:
    """Every key with its path, sections included; `mine` stands for a name of the user's own."""
    for key in section.keys.values():
        path = f"{above}{key.name}"
        yield path, key
        if below := section_of(key.kind):
            name = ".mine" if isinstance(key.kind, Named) else ""
            yield from every_key(below, f"{path}{name}.")


def values(section: Section = ROOT, above: str = "") -> Iterator[tuple[str, Key]]:
    """The keys that have values: neither sections nor removed."""
    for path, key in every_key(section, above):
        if section_of(key.kind) is None and not key.note(RemovedKey):
            yield path, key


def keys_in_tree(tree: Any, kind: object = ROOT) -> Iterator[tuple[Key, object]]:
    """The keys that have values in a configuration, with these."""
    section = section_of(kind)
    assert section is not None
    for name, value in tree.items():
        if isinstance(kind, Named):
            yield from keys_in_tree(value, section)
            continue
        key = section.keys[name]
        if section_of(key.kind) is None:
            yield key, value
        else:
            yield from keys_in_tree(value, key.kind)
