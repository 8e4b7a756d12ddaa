"""The embedded agent over ACP: no account, no network; for demos, tests and first steps.

`options`: `files` is host (default) or agent; `scripts` true makes it play scripts that stand in
prompts, which run commands without asking.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from avatar_actors.model.command_line import Flag, command_line
from avatar_actors.model.settings import AvatarSettings
from avatar_actors.model.values import PermissionBasis
from avatar_actors.providers import tool_names
from avatar_actors.providers.provider import LaunchPlan, Place, Provider, needs_no_sign_in
from avatar_actors.providers.registry import check_options, choice
from avatar_actors.providers.stores.embedded import (
    delete_embedded,
    embedded_store,
    embedded_transcript,
)
from avatar_actors.wire.acp.profile import AcpProfile, FilesOffered, SystemPromptBy
from avatar_actors.wire.acp.wire import AcpWire

ROOT: Final = Path(__file__).resolve().parents[2]
PROGRAM: Final = (
    f"import sys; sys.path.insert(0, {str(ROOT)!r}); "
    "from avatar_actors.programs.embedded.program import main; main()"
)
OPTIONS: Final = ("files", "scripts")
FILES: Final = {"agent": FilesOffered.NONE, "host": FilesOffered.READ_AND_WRITE}
SCRIPTS: Final = {"true": "1", "false": "0"}


def embedded_provider() -> Provider:
    """The agent that is always there."""
    return Provider(
        name="embedded",
        plan=_plan,
        wire=_wire,
        passes=("AVATAR_EMBEDDED_*",),
        store=embedded_store,
        transcript=embedded_transcript,
        delete=delete_embedded,
        version_args=("-I", "-S", "-c", PROGRAM, "--version"),
        sign_in=needs_no_sign_in,
        tools=tool_names.EMBEDDED,
    )


def _plan(settings: AvatarSettings, _: Place) -> LaunchPlan:
    check_options("embedded", settings, OPTIONS)
    # Isolated and without site-packages: it starts in half the time, and nothing of the working
    # directory can be imported.
    words = (settings.executable or sys.executable, "-I", "-S", "-c", PROGRAM)
    flags: list[Flag] = [("--model", settings.model)] if settings.model else []
    env: dict[str, str] = {}
    if "scripts" in settings.options:
        played = SCRIPTS[choice(settings, "scripts", SCRIPTS, "false")]
        env["AVATAR_EMBEDDED_SCRIPTS"] = played
    return LaunchPlan(argv=command_line(words, flags, settings.args), env=env)


def _wire(settings: AvatarSettings) -> AcpWire:
    profile = AcpProfile(
        system_prompt=SystemPromptBy.META,
        files=FILES[choice(settings, "files", FILES, "host")],
        mode="ask",
        permissions=PermissionBasis.ENFORCED,
        tells_cost=True,
    )
    return AcpWire(profile, settings.max_line)
