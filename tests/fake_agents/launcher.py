"""The host's side of the fake agents: their executables, and the real providers that start them."""

import os
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from avatar_actors import AvatarSettings, LaunchPlan, Place, Provider
from avatar_actors.providers.claude import claude_provider
from avatar_actors.providers.codex import codex_provider
from avatar_actors.providers.embedded import embedded_provider
from avatar_actors.providers.gemini import gemini_provider
from avatar_actors.providers.stores.embedded import embedded_store, embedded_transcript
from avatar_actors.wire.wire import Wire

ROOT = Path(__file__).resolve().parents[2]
# Not in the temporary directory: a host that is killed could not remove it.
FOLDER = Path(__file__).parent / ".executables"


def command(name: str) -> list[str]:
    """What starts the fake agent: isolated, and without site-packages, as the embedded one."""
    paths = f"import sys; sys.path.insert(0, {str(ROOT)!r}); "
    program = f"from tests.fake_agents.program import main; main({name!r})"
    return [sys.executable, "-I", "-S", "-c", paths + program]


@cache
def executable(name: str) -> str:
    """A file that can be started like the real agent, from any directory."""
    quoted = " ".join('"' + word.replace('"', '\\"') + '"' for word in command(name))
    file, text = FOLDER / name, f'#!/bin/sh\nexec {quoted} "$@"\n'
    if not file.exists() or file.read_text() != text:
        FOLDER.mkdir(exist_ok=True)
        new = FOLDER / f"{name}.{os.getpid()}"
        new.write_text(text)
        new.chmod(0o755)
        # In one step: another process may just be starting it.
        new.replace(file)
    return str(file)


class Fake(NamedTuple):
    """Which agent is impersonated, by whom, and which options of its provider it needs."""

    provider: Callable[[], Provider]
    executable: str
    options: Mapping[str, str]


FAKES = {
    "claude": Fake(claude_provider, "claude", {}),
    "gemini": Fake(gemini_provider, "gemini", {}),
    "gemini-headless": Fake(gemini_provider, "gemini", {"headless": "true"}),
    "codex-zed": Fake(codex_provider, "codex-zed", {"adapter": "zed"}),
    "codex-acp": Fake(codex_provider, "codex-acp", {}),
}


@cache
def agent(name: str) -> Provider:
    """The embedded agent for "acp"; else the real provider of a fake agent.

    Only the stored sessions are the embedded agent's, since that is how the fakes store them.
    """
    if name == "acp":
        return embedded_provider()
    fake = FAKES[name]
    real = fake.provider()

    def completed(settings: AvatarSettings) -> AvatarSettings:
        file = settings.executable or executable(fake.executable)
        options = {**fake.options, **settings.options}
        return msgspec.structs.replace(settings, executable=file, options=options)

    def plan(settings: AvatarSettings, place: Place) -> LaunchPlan:
        return real.plan(completed(settings), place)

    def wire(settings: AvatarSettings) -> Wire:
        return real.wire(completed(settings))

    return msgspec.structs.replace(
        real,
        plan=plan,
        wire=wire,
        passes=(*real.passes, "AVATAR_EMBEDDED_*"),
        store=embedded_store,
        transcript=embedded_transcript,
    )


def configuration(store: Path) -> str:
    """A configuration file whose agent is the fake Claude, which keeps its sessions there."""
    section = {"executable": executable("claude"), "env": {"AVATAR_EMBEDDED_HOME": str(store)}}
    return msgspec.json.encode({"provider": "claude", "claude": section}).decode()
