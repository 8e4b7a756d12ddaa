"""What stands in npm's package.json and package-lock.json, and what of it is for this machine."""

import json
import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = ""
DEPENDENCIES = ("dependencies", "optionalDependencies")
ARCHITECTURES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


@dataclass(frozen=True)
class LockedPackage:
    """One folder of node_modules as the lock will have it."""

    path: str
    version: str
    integrity: str
    os: tuple[str, ...]
    cpu: tuple[str, ...]
    libc: tuple[str, ...]

    @property
    def is_made_for_here(self) -> bool:
        """Whether it is a native package of this platform."""
        return (
            bool(self.os and self.cpu)
            and _allowed(self.os, sys.platform)
            and _allowed(self.cpu, _architecture())
            and (sys.platform != "linux" or _allowed(self.libc, _libc()))
        )


def this_platform() -> str:
    """In node's words, as the names of packages have it: linux-x64."""
    return f"{sys.platform}-{_architecture()}"


def _architecture() -> str:
    machine = platform.machine().lower()
    return ARCHITECTURES.get(machine, machine)


def _libc() -> str:
    return "glibc" if platform.libc_ver()[0] == "glibc" else "musl"


def _allowed(rules: Iterable[str], mine: str) -> bool:
    """By npm's rules: "!x" forbids x; any other names are the only ones allowed."""
    rules = set(rules)
    wanted = {rule for rule in rules if not rule.startswith("!")}
    return f"!{mine}" not in rules and (not wanted or mine in wanted)


def locked_packages(lock: str) -> list[LockedPackage]:
    entries: dict[str, dict[str, Any]] = json.loads(lock)["packages"]
    return [
        LockedPackage(
            path=path,
            version=entry["version"],
            integrity=entry.get("integrity", ""),
            os=tuple(entry.get("os", ())),
            cpu=tuple(entry.get("cpu", ())),
            libc=tuple(entry.get("libc", ())),
        )
        for path, entry in entries.items()
        if path != ROOT
    ]


def versions(lock: str) -> dict[str, str]:
    """The version of each package that is not below another one."""
    top = "node_modules/"
    return {
        each.path.removeprefix(top): each.version
        for each in locked_packages(lock)
        if each.path.rfind(top) == 0
    }


def missing_packages(folder: Path, lock: str) -> list[str]:
    """The native packages of this platform that are not in the folder.

    npm lets an optional package fail in silence, and the agents' programs are such packages. Other
    optional ones may be left out: of qwen 0.24.4 npm drops some that it cannot have complete.
    """
    return [
        each.path.removeprefix("node_modules/")
        for each in locked_packages(lock)
        if each.is_made_for_here and not (folder / each.path / "package.json").is_file()
    ]


def without_addresses(lock: str) -> str:
    """The lock with no address of a download, of a registry or of a sponsor in it."""
    document: dict[str, Any] = json.loads(lock)
    for entry in document["packages"].values():
        entry.pop("resolved", None)
        entry.pop("funding", None)
    return _written(document)


def requested(manifest: str) -> dict[str, str]:
    """What a package.json asks for, by package."""
    document: dict[str, Any] = json.loads(manifest)
    return {name: spec for kind in DEPENDENCIES for name, spec in document.get(kind, {}).items()}


def with_requests(manifest: str, specs: Mapping[str, str]) -> str:
    """The package.json with these requests, without what it has no spec for, and no overrides."""
    document: dict[str, Any] = json.loads(manifest)
    document.pop("overrides", None)
    _set_requests(document, specs)
    return _written(document)


def with_locked_requests(lock: str, specs: Mapping[str, str]) -> str:
    """The lock of such a package.json."""
    document: dict[str, Any] = json.loads(lock)
    _set_requests(document["packages"][ROOT], specs)
    return _written(document)


def _set_requests(document: dict[str, Any], specs: Mapping[str, str]) -> None:
    for kind in DEPENDENCIES:
        asked = document.get(kind, {})
        document[kind] = {name: specs[name] for name in asked if name in specs}


def _written(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
