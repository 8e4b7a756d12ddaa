"""Which agents there are, and how each is run from the folder that holds its package."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.real_agents.install.cache import is_complete, pinned_folder
from tests.real_agents.install.lockfile import this_platform
from tests.real_agents.install.tools import node_program


@dataclass(frozen=True)
class InstalledAgent:
    """An agent that can be run: `command` starts it, with `extra_path` in front of its PATH."""

    name: str
    version: str
    command: tuple[str, ...]
    extra_path: tuple[Path, ...]


@dataclass(frozen=True)
class Script:
    """An agent that node runs; `bin` is its name among the programs of the package."""

    package: str
    bin: str


@dataclass(frozen=True)
class Binary:
    """A native agent, in one package per platform: `family`-linux-x64 and so on."""

    family: str
    file: str

    @property
    def package(self) -> str:
        return f"{self.family}-{this_platform()}"


AGENTS: dict[str, Script | Binary] = {
    "claude": Binary("@anthropic-ai/claude-code", "claude"),
    "gemini": Script("@google/gemini-cli", "gemini"),
    "codex-acp": Script("@agentclientprotocol/codex-acp", "codex-acp"),
    "codex-zed": Script("@zed-industries/codex-acp", "codex-acp"),
    "claude-agent-acp": Script("@agentclientprotocol/claude-agent-acp", "claude-agent-acp"),
    "opencode": Binary("opencode", "bin/opencode"),
    "qwen": Script("@qwen-code/qwen-code", "qwen"),
}
# Zed's codex-acp 0.16.0 finds `bwrap` on PATH only; without it every sandboxed command dies unseen.
NEED_BWRAP = {"codex-zed"}


def installed_agents(cache: Path | None = None) -> dict[str, InstalledAgent]:
    """The agents in the folder of an installation, by default the pinned one; {} without one.

    An agent that its makers do not offer for this platform is not in it, nor one that needs node
    where there is none.
    """
    folder = cache or pinned_folder()
    if not is_complete(folder):
        return {}
    return {agent.name: agent for agent in _found(folder / "node_modules")}


def _found(modules: Path) -> Iterator[InstalledAgent]:
    for name, source in AGENTS.items():
        package = modules / source.package
        if not (package / "package.json").is_file():
            continue
        manifest: dict[str, Any] = json.loads((package / "package.json").read_text("utf-8"))
        command = _command(source, package, manifest)
        if command:
            paths = tuple(_bwrap_folders(modules)) if name in NEED_BWRAP else ()
            yield InstalledAgent(name, manifest["version"], command, paths)


def _command(source: Script | Binary, package: Path, manifest: dict[str, Any]) -> tuple[str, ...]:
    if isinstance(source, Binary):
        return (str(package / source.file),)
    programs: str | dict[str, str] = manifest["bin"]
    script = programs if isinstance(programs, str) else programs[source.bin]
    node = node_program()
    return (str(node), str(package / script)) if node else ()


def _bwrap_folders(modules: Path) -> list[Path]:
    """Where the Codex of the protocol's own people has the one it ships; nowhere on macOS."""
    shipped = modules.glob("@openai/codex-linux-*/vendor/*/codex-resources/bwrap")
    return sorted(path.parent for path in shipped)
